//! Reading: blocks of lines, each parsed in pieces on all threads while the next one is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use half::{bf16, f16};
use hurray_format::cast::to_u64;
use hurray_format::{AlignedBytes, AlignedWords, ElementType, Shape, Values};
use zerocopy::IntoBytes;

use super::IndexBase;
use super::error::{Place, Problem, TextError};
use super::input::{Input, Lines, MAX_LINE, Stop};
use super::lines::LineNumbers;
use super::number::Number;
use super::piece::{Piece, Rules, first_rank};
use super::pool;

/// What text does not say about itself.
#[derive(Clone)]
pub struct ReadOptions<'a> {
    /// What indices count from; 1 unless set.
    pub index_base: IndexBase,
    /// The shape. Without it a dimension is as long as its largest index needs.
    pub shape: Option<Shape>,
    /// Whether there is no column of values; every value is 1 then.
    pub pattern: bool,
    /// The type of the values: a float from 16 to 64 bits or an integer from 8 to 64, float64
    /// unless set.
    pub element_type: ElementType,
    /// The name of the file, for messages; [`read_path`] sets it.
    pub name: Option<String>,
    /// Called again and again with the number of bytes read so far, compressed ones if the text
    /// is compressed.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// How many bytes of text a thread parses at a time. Nothing depends on it but memory and
    /// speed: about fifty times as much is used for each thread, fifteen times for one alone.
    pub block_size: usize,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self {
            index_base: IndexBase::One,
            shape: None,
            pattern: false,
            element_type: ElementType::Float64,
            name: None,
            progress: None,
            block_size: 1 << 18,
        }
    }
}

/// The entries of a text in the order of its lines.
#[derive(Clone, Debug)]
pub struct Entries {
    /// The given shape, or the smallest one that holds every index.
    pub shape: Shape,
    /// The coordinates counted from 0, `nnz` rows of `rank` coordinates.
    pub coordinates: AlignedWords,
    /// One value per entry.
    pub values: Values<AlignedBytes>,
    /// The line of each entry.
    pub lines: LineNumbers,
}

impl Entries {
    /// The number of entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The line that entry `entry` stands on, counted from 1, or `None` if there is no such entry.
    #[must_use]
    pub fn line_of(&self, entry: usize) -> Option<u64> {
        self.lines.line_of(to_u64(entry))
    }
}

/// Reads a text file, compressed with gzip or not; its bytes tell. See [`read()`].
///
/// # Errors
/// [`TextError`] if the file cannot be read, is not text of this form, or is changed meanwhile; it
/// names the file by its path.
pub fn read_path(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Entries, TextError> {
    let path = path.as_ref();
    let options = ReadOptions { name: Some(path.display().to_string()), ..options.clone() };
    let io_error = |source| TextError::Io { name: options.name.clone(), after_line: 0, source };
    let file = File::open(path).map_err(io_error)?;
    let state = || file.metadata().map(|file| (file.is_file(), file.len(), file.modified().ok()));
    let before = state().map_err(io_error)?;
    // Of a pipe nothing is known; of compressed text, too little, which does no harm.
    let length = before.0.then_some(before.1);
    let entries = read_any(&file, length, &options);
    // Whatever was made of a part of the lines is no result, nor is the mistake found there.
    match before.0 && state().map_err(io_error)? != before {
        true => Err(TextError::Changed { name: options.name }),
        false => entries,
    }
}

/// Reads text, compressed with gzip or not, from anything such as `std::io::stdin()`.
///
/// Time is linear in the length of the text, and runs on the threads of the rayon pool that the
/// call is made in. Beside the result a few blocks of text are in memory; a line longer than a
/// block is kept whole, up to 128 MiB. The result does not depend on threads or blocks.
///
/// # Errors
/// [`TextError`] if the input fails or is not text of this form: the first mistake in it.
///
/// ```
/// use hurray_io::tns::{self, ReadOptions};
///
/// let text = "# i j k value\n1 1 2 1.0\n2 3 4 -2.5e-1\n";
/// let entries = tns::read(text.as_bytes(), &ReadOptions::default())?;
/// assert_eq!(entries.shape.dimensions(), [2, 3, 4]);
/// assert_eq!(entries.coordinates[..], [0, 0, 1, 1, 2, 3]);
/// assert_eq!(entries.values.as_slice::<f64>()?, [1.0, -0.25]);
/// assert_eq!(entries.line_of(1), Some(3));
///
/// let error = tns::read("1 1 2 1.0\n1 0 2 1.0\n".as_bytes(), &ReadOptions::default());
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "line 2, column 3: index 0 lies below the index base 1; if the file counts from 0, read \
///      it with index base 0"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(input: impl Read + Send, options: &ReadOptions) -> Result<Entries, TextError> {
    read_any(input, None, options)
}

/// Reads an input that has `length` bytes, if that is known.
fn read_any(
    input: impl Read + Send,
    length: Option<u64>,
    options: &ReadOptions,
) -> Result<Entries, TextError> {
    match options.element_type {
        ElementType::Float16 => read_as::<f16>(input, length, options),
        ElementType::BFloat16 => read_as::<bf16>(input, length, options),
        ElementType::Float32 => read_as::<f32>(input, length, options),
        ElementType::Float64 => read_as::<f64>(input, length, options),
        ElementType::Int8 => read_as::<i8>(input, length, options),
        ElementType::Uint8 => read_as::<u8>(input, length, options),
        ElementType::Int16 => read_as::<i16>(input, length, options),
        ElementType::Uint16 => read_as::<u16>(input, length, options),
        ElementType::Int32 => read_as::<i32>(input, length, options),
        ElementType::Uint32 => read_as::<u32>(input, length, options),
        ElementType::Int64 => read_as::<i64>(input, length, options),
        ElementType::Uint64 => read_as::<u64>(input, length, options),
        element_type => Err(TextError::ElementType { element_type }),
    }
}

/// A block of lines and the entries of each of its pieces.
struct Block<T> {
    lines: Lines,
    pieces: Vec<Piece<T>>,
    /// How many of the pieces are in use; the others keep their memory for later.
    used: usize,
}

impl<T: Number> Block<T> {
    fn new() -> Self {
        Self { lines: Lines::default(), pieces: Vec::new(), used: 0 }
    }
}

/// What was read so far.
struct Sum {
    coordinates: AlignedWords,
    values: AlignedBytes,
    entry_lines: LineNumbers,
    lines: u64,
    largest: Vec<u64>,
}

impl Sum {
    /// Makes room for as many entries as a text of `length` bytes has, if it goes on as the
    /// `block` did, with a little to spare: growing little by little would copy everything.
    fn make_room<T: Number>(&mut self, block: &Block<T>, length: u64) {
        let pieces = &block.pieces[..block.used];
        let (parsed, total) = (block.lines.text().len(), usize::try_from(length).unwrap_or(0));
        let expected = |count: usize| (count / 16).saturating_mul(total / parsed.max(1)) * 17;
        // No entry is shorter than four bytes with its line feed, nor an index than two.
        let coordinates = expected(pieces.iter().map(|piece| piece.coordinates.len()).sum());
        self.coordinates.reserve(coordinates.min(total / 2));
        let values = expected(pieces.iter().map(|piece| piece.values.len()).sum());
        self.values.reserve(values.min(total / 2) * size_of::<T>());
    }

    fn append<T: Number>(&mut self, pieces: &[Piece<T>]) {
        for piece in pieces {
            self.coordinates.extend_from_slice(&piece.coordinates);
            self.values.extend_from_slice(piece.values.as_bytes());
            self.entry_lines.append(&piece.entry_lines, self.lines);
            self.lines += piece.lines;
            for (largest, &other) in self.largest.iter_mut().zip(&piece.largest) {
                *largest = other.max(*largest);
            }
        }
    }
}

fn read_as<T: Number>(
    input: impl Read + Send,
    length: Option<u64>,
    options: &ReadOptions,
) -> Result<Entries, TextError> {
    let name = &options.name;
    let io_error = |after_line, source| TextError::Io { name: name.clone(), after_line, source };
    let mistake = |line, column: usize, problem| TextError::Line {
        place: Place { name: name.clone(), line, column: to_u64(column) },
        problem: Box::new(problem),
    };
    let stopped = |stop, after_line| match stop {
        Stop::Io(source) => io_error(after_line, source),
        Stop::LineTooLong => {
            mistake(after_line + 1, MAX_LINE + 1, Problem::LineTooLong { limit: MAX_LINE })
        }
    };

    let input = Input::new(input, options.progress).map_err(|source| io_error(0, source))?;
    let Some(mut input) = input else {
        return Err(TextError::GzipUnsupported { name: name.clone() });
    };

    let block_size = options.block_size.max(1);
    // One thread appends right after parsing, while the entries are in its cache. Several need
    // many pieces each, so that none of them waits long for the last one.
    let pieces_at_once = if pool::threads() == 1 { 2 } else { 8 * pool::threads() };
    let target = block_size.saturating_mul(pieces_at_once);
    let mut sum = Sum {
        coordinates: AlignedWords::default(),
        values: AlignedBytes::default(),
        entry_lines: LineNumbers::default(),
        lines: 0,
        largest: Vec::new(),
    };
    let mut rules: Option<Rules> = None;
    // While the lines of `now` are parsed, the entries of `other` are appended, and it is filled
    // again with the lines that follow those of `now`.
    let (mut now, mut other) = (Block::<T>::new(), Block::<T>::new());
    now.lines.fill(&mut input, &other.lines, target).map_err(|stop| stopped(stop, 0))?;
    let mut lines_before = 0;
    while !now.lines.text().is_empty() {
        if rules.is_none() {
            let rank = first_rank(now.lines.text(), options.pattern, options.shape.as_ref());
            let rank = rank
                .map_err(|(line, column, problem)| mistake(lines_before + line, column, problem))?;
            let (index_base, pattern) = (options.index_base, options.pattern);
            rules = rank.map(|rank| Rules::new(rank, index_base, pattern, options.shape.clone()));
            sum.largest.resize(rank.unwrap_or(0), 0);
        }
        // Without an entry up to here, there are only lines to count.
        let only_lines = Rules::new(0, IndexBase::One, true, None);
        let rules = rules.as_ref().unwrap_or(&only_lines);

        let Block { lines, pieces, used } = &mut now;
        let texts = lines.pieces(block_size);
        *used = texts.len();
        if pieces.len() < *used {
            pieces.resize_with(*used, Piece::new);
        }
        let mut tasks: Vec<_> = pieces.iter_mut().zip(texts).collect();
        let mut next = Ok(());
        pool::join(
            || pool::for_each(&mut tasks, |(piece, text)| piece.parse(text, rules)),
            || {
                sum.append(&other.pieces[..other.used]);
                other.used = 0;
                next = other.lines.fill(&mut input, lines, target);
            },
        );
        for piece in &mut pieces[..*used] {
            if let Some((line, column, problem)) = piece.mistake.take() {
                return Err(mistake(lines_before + line, column, problem));
            }
            lines_before += piece.lines;
        }
        next.map_err(|stop| stopped(stop, lines_before))?;
        // Nothing was appended before the second block.
        if sum.values.is_empty()
            && let Some(length) = length
        {
            sum.make_room(&now, length);
        }
        std::mem::swap(&mut now, &mut other);
    }
    sum.append(&other.pieces[..other.used]);

    let shape = match (&options.shape, rules) {
        (Some(shape), _) => shape.clone(),
        (None, None) => return Err(TextError::NoEntries { name: name.clone() }),
        (None, Some(_)) => {
            let dimensions: Vec<u64> = sum.largest.iter().map(|&largest| largest + 1).collect();
            Shape::new(dimensions).expect("the rank of the first entry was checked")
        }
    };
    let nnz = sum.values.len() / size_of::<T>();
    let values = Values::new(T::ELEMENT_TYPE, nnz, sum.values).expect("whole values were appended");
    Ok(Entries { shape, coordinates: sum.coordinates, values, lines: sum.entry_lines })
}
