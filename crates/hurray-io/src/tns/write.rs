//! Writing: pieces of a tensor formatted on all threads, while the ones before are written.

use std::io::{self, Write};

use half::{bf16, f16};
use hurray_csf::Tensor;
use hurray_csf::iter::Fibers;
use hurray_format::cast::to_u64;
use hurray_format::{ElementType, FormatError, Values};
use thiserror::Error;

use super::IndexBase;
use super::format::{Lines, ToText};
use super::pool;

/// How to write text.
#[derive(Clone)]
pub struct WriteOptions<'a> {
    /// What indices count from; 1 unless set.
    pub index_base: IndexBase,
    /// Whether to leave the values out.
    pub pattern: bool,
    /// Whether to compress with gzip. The file then has several members, one per piece, which
    /// every decompressor concatenates.
    pub gzip: bool,
    /// Called again and again with the number of entries written so far.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// How many entries a thread formats at a time. The text does not depend on it; memory and
    /// speed do, and so do the members of a gzip file.
    pub piece_size: usize,
}

impl Default for WriteOptions<'_> {
    fn default() -> Self {
        Self {
            index_base: IndexBase::One,
            pattern: false,
            gzip: false,
            progress: None,
            piece_size: 1 << 14,
        }
    }
}

/// Why text could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Values of this type have no text form.
    #[error(
        "values of type {element_type} have no text form; only the pattern, without values, can \
         be written"
    )]
    ElementType {
        /// The type.
        element_type: ElementType,
    },
    /// There is not one value for each row of coordinates.
    #[error("{coordinates} coordinates and {values} values are no entries of rank {rank}")]
    EntryCount {
        /// The coordinates found.
        coordinates: usize,
        /// The values found.
        values: usize,
        /// The rank.
        rank: usize,
    },
    /// The values cannot be viewed as a slice.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The output is to be compressed, and this build cannot do that.
    #[error("cannot write gzip: the program was built without the feature `gzip`")]
    GzipUnsupported,
    /// The output failed.
    #[error("writing failed: {0}")]
    Io(#[from] io::Error),
}

/// Writes the entries of a tensor in storage order.
///
/// Takes time linear in the text, on the threads of the rayon pool that the call is made in, and
/// memory for a few pieces. The writer is flushed at the end; it need not be buffered.
///
/// # Errors
/// [`WriteError`] if the values have no text form or the output fails; what was written
/// by then stays.
///
/// ```
/// use hurray_csf::{Csf, Level, Tensor};
/// use hurray_format::{ModeOrder, Shape, Values};
/// use hurray_io::tns::{self, WriteOptions};
///
/// let tree = Csf::new(
///     Shape::new([2, 3, 4])?,
///     ModeOrder::identity(3)?,
///     vec![
///         Level { pos: &[0, 2][..], crd: &[0, 1][..] },
///         Level { pos: &[0, 2, 3], crd: &[0, 2, 1] },
///         Level { pos: &[0, 1, 2, 4], crd: &[1, 3, 0, 2] },
///     ],
/// )?;
/// let tensor = Tensor::new(tree, Values::from_slice(&[1.0f32, 2.0, 3.0, 0.1]))?;
/// let mut text = Vec::new();
/// tns::write_csf(&tensor, &mut text, &WriteOptions::default())?;
/// assert_eq!(text, b"1 1 2 1\n1 3 4 2\n2 2 1 3\n2 2 3 0.1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_csf<S: AsRef<[u64]>, B: AsRef<[u8]>>(
    tensor: &Tensor<S, B>,
    output: impl Write + Send,
    options: &WriteOptions,
) -> Result<(), WriteError> {
    // Storage that changes may have another length now than when the tensor was put together.
    let (tree, values) = (tensor.tree().as_view(), tensor.values().as_view());
    if values.len() != tree.nnz() {
        let (rank, coordinates) = (tree.rank(), tree.nnz().saturating_mul(tree.rank()));
        return Err(WriteError::EntryCount { coordinates, values: values.len(), rank });
    }
    let pieces = tree.split(piece_count(tree.nnz(), options));
    dispatch(&values, output, options, pieces)
}

/// Writes entries in the order in which they are given: `coordinates` in rows of `rank`, counted
/// from 0, and one value per row. Costs are those of [`write_csf`].
///
/// # Errors
/// [`WriteError`] if there is not one value per row, the values have no text form or the output
/// fails; what was written by then stays.
///
/// ```
/// use hurray_format::Values;
/// use hurray_io::tns::{self, WriteOptions};
///
/// let mut text = Vec::new();
/// let values = Values::from_slice(&[7i32, -1]);
/// tns::write_coo(2, &[0, 1, 5, 0], &values, &mut text, &WriteOptions::default())?;
/// assert_eq!(text, b"1 2 7\n6 1 -1\n");
/// # Ok::<(), tns::WriteError>(())
/// ```
pub fn write_coo<B: AsRef<[u8]>>(
    rank: usize,
    coordinates: &[u64],
    values: &Values<B>,
    output: impl Write + Send,
    options: &WriteOptions,
) -> Result<(), WriteError> {
    let values = values.as_view();
    let nnz = values.len();
    if rank == 0 || nnz.checked_mul(rank) != Some(coordinates.len()) {
        let coordinates = coordinates.len();
        return Err(WriteError::EntryCount { coordinates, values: nnz, rank });
    }
    let size = options.piece_size.max(1);
    let coordinates = coordinates.chunks(size.saturating_mul(rank));
    let pieces = (0..).step_by(size).zip(coordinates);
    let pieces = pieces.map(|(first, coordinates)| Rows { rank, first, coordinates }).collect();
    dispatch(&values, output, options, pieces)
}

fn piece_count(nnz: usize, options: &WriteOptions) -> usize {
    nnz.div_ceil(options.piece_size.max(1))
}

/// Entries that are formatted by one thread.
trait Piece: Send {
    /// Writes the lines; returns how many there are. The values are found by position.
    fn write<T: ToText>(self, values: Option<&[T]>, base: IndexBase, lines: &mut Lines) -> usize;
}

impl Piece for Fibers<'_> {
    fn write<T: ToText>(
        mut self,
        values: Option<&[T]>,
        base: IndexBase,
        lines: &mut Lines,
    ) -> usize {
        let mut index = Vec::new();
        let mut entries = 0;
        while let Some(fiber) = self.next() {
            index.resize(fiber.outer().len() + 1, 0);
            fiber.place(&mut index);
            lines.run(&index, fiber.dimension(), fiber.crd(), values, fiber.leaves().start, base);
            entries += fiber.crd().len();
        }
        entries
    }
}

/// Rows of coordinates, the first of which belongs to value `first`.
struct Rows<'a> {
    rank: usize,
    first: usize,
    coordinates: &'a [u64],
}

impl Piece for Rows<'_> {
    fn write<T: ToText>(self, values: Option<&[T]>, base: IndexBase, lines: &mut Lines) -> usize {
        let last = self.rank - 1;
        for (position, index) in (self.first..).zip(self.coordinates.chunks_exact(self.rank)) {
            lines.run(index, last, &index[last..], values, position, base);
        }
        self.coordinates.len() / self.rank
    }
}

/// Finds the Rust type of the values.
fn dispatch(
    values: &Values<&[u8]>,
    mut output: impl Write + Send,
    options: &WriteOptions,
    pieces: Vec<impl Piece>,
) -> Result<(), WriteError> {
    if options.gzip && !cfg!(feature = "gzip") {
        return Err(WriteError::GzipUnsupported);
    }
    let output = &mut output;
    macro_rules! write_as {
        ($($element_type:ident => $rust:ty),*) => {
            match values.element_type() {
                _ if options.pattern => write_pieces::<u8, _>(None, output, options, pieces)?,
                $(ElementType::$element_type => {
                    let values = values.as_slice::<$rust>()?;
                    write_pieces(Some(values), output, options, pieces)?;
                })*
                element_type => return Err(WriteError::ElementType { element_type }),
            }
        };
    }
    write_as!(
        Float16 => f16, BFloat16 => bf16, Float32 => f32, Float64 => f64,
        Int8 => i8, Uint8 => u8, Int16 => i16, Uint16 => u16,
        Int32 => i32, Uint32 => u32, Int64 => i64, Uint64 => u64
    );
    Ok(())
}

/// A piece, and its text once it is formatted.
struct Task<P> {
    piece: Option<P>,
    entries: usize,
    lines: Lines,
    compressed: Vec<u8>,
}

impl<P: Piece> Task<P> {
    fn format<T: ToText>(&mut self, values: Option<&[T]>, options: &WriteOptions) {
        self.lines.clear();
        self.compressed.clear();
        self.entries = 0;
        if let Some(piece) = self.piece.take() {
            self.entries = piece.write(values, options.index_base, &mut self.lines);
            if options.gzip {
                self.compressed = compress(self.lines.text());
                self.lines.clear();
            }
        }
    }

    /// What is to be written, if anything.
    fn output(&self) -> Option<&[u8]> {
        [self.lines.text(), &self.compressed].into_iter().find(|text| !text.is_empty())
    }
}

fn write_pieces<T: ToText, P: Piece>(
    values: Option<&[T]>,
    output: &mut (impl Write + Send),
    options: &WriteOptions,
    pieces: Vec<P>,
) -> io::Result<()> {
    if options.gzip && pieces.is_empty() {
        // An empty file would not be a gzip file.
        output.write_all(&compress(&[]))?;
    }
    let mut queue = pieces.into_iter();
    let tasks = || -> Vec<Task<P>> {
        let empty =
            || Task { piece: None, entries: 0, lines: Lines::default(), compressed: Vec::new() };
        std::iter::repeat_with(empty).take(2 * pool::threads()).collect()
    };
    // While the pieces of `now` are formatted, the text of `other` is written.
    let (mut now, mut other) = (tasks(), tasks());
    let mut written = 0;
    loop {
        let more = queue.len() > 0;
        for task in &mut now {
            task.piece = queue.next();
        }
        let mut result: io::Result<()> = Ok(());
        pool::join(
            || pool::for_each(&mut now, |task| task.format(values, options)),
            || {
                result = other.iter_mut().try_for_each(|task| {
                    let Some(text) = task.output() else { return Ok(()) };
                    output.write_all(text)?;
                    written += to_u64(task.entries);
                    if let Some(progress) = options.progress {
                        progress(written);
                    }
                    Ok(())
                });
            },
        );
        result?;
        if !more {
            return output.flush();
        }
        std::mem::swap(&mut now, &mut other);
    }
}

#[cfg(feature = "gzip")]
fn compress(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default()
}

#[cfg(not(feature = "gzip"))]
fn compress(_: &[u8]) -> Vec<u8> {
    Vec::new()
}
