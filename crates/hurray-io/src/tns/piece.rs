//! From a piece of text, a number of whole lines, to entries.

use hurray_format::Shape;

use super::IndexBase;
use super::error::{Dialect, Found, Problem};
use super::line::Line;
use super::lines::LineNumbers;
use super::number::{Number, NumberError, Plain, digits};

/// The largest coordinate, counted from 0, that a dimension of 2^64 - 2 elements has.
const MAX_COORDINATE: u64 = u64::MAX - 2;

/// What every line of a file has to keep.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) rank: usize,
    pub(super) index_base: IndexBase,
    pub(super) pattern: bool,
    pub(super) shape: Option<Shape>,
    /// What the coordinates of each dimension lie below.
    limits: Vec<u64>,
}

impl Rules {
    /// A shape has to be of this rank.
    pub(super) fn new(
        rank: usize,
        index_base: IndexBase,
        pattern: bool,
        shape: Option<Shape>,
    ) -> Self {
        let limits = match &shape {
            Some(shape) => shape.dimensions().to_vec(),
            None => vec![MAX_COORDINATE + 1; rank],
        };
        Self { rank, index_base, pattern, shape, limits }
    }
}

/// The entries of a piece of text. Lines count from 1 at its beginning.
#[derive(Debug)]
pub(super) struct Piece<T> {
    pub(super) coordinates: Vec<u64>,
    pub(super) values: Vec<T>,
    pub(super) entry_lines: LineNumbers,
    /// The number of lines.
    pub(super) lines: u64,
    /// The largest coordinate of each dimension.
    pub(super) largest: Vec<u64>,
    /// Where and why parsing ended early: line, column, problem.
    pub(super) mistake: Option<(u64, usize, Problem)>,
}

/// A problem, and the offset in the text where it is.
type Mistake = (usize, Problem);

impl<T: Number> Piece<T> {
    pub(super) fn new() -> Self {
        Self {
            coordinates: Vec::new(),
            values: Vec::new(),
            entry_lines: LineNumbers::default(),
            lines: 0,
            largest: Vec::new(),
            mistake: None,
        }
    }

    /// Parses `text` in place of what was there before. Stops at the first mistake.
    pub(super) fn parse(&mut self, text: &[u8], rules: &Rules) {
        self.coordinates.clear();
        self.values.clear();
        self.entry_lines.clear();
        self.lines = 0;
        self.largest.clear();
        self.largest.resize(rules.rank, 0);
        self.mistake = None;

        let mut at = 0;
        while at < text.len() {
            let start = at;
            let before = self.coordinates.len();
            if let Some(next) = self.usual_line(text, at, rules) {
                at = next;
                self.lines += 1;
                self.entry_lines.push(self.lines);
                continue;
            }
            self.coordinates.truncate(before);
            at = skip_blanks(text, at);
            if !is_end(text, at) {
                match self.entry(text, at, rules) {
                    Ok(end) => at = end,
                    Err((offset, problem)) => {
                        let line = &text[start..end_of_line(text, start)];
                        let (column, problem) = explain(line, offset - start, problem, rules);
                        self.mistake = Some((self.lines + 1, column + 1, problem));
                        return;
                    }
                }
                self.entry_lines.push(self.lines + 1);
            }
            at = end_of_line(text, at) + 1;
            self.lines += 1;
        }
    }

    /// Reads the line at `at` if it has the usual shape; returns the offset of the next one.
    /// Otherwise some of its coordinates may be left behind.
    #[inline(always)]
    fn usual_line(&mut self, text: &[u8], at: usize, rules: &Rules) -> Option<usize> {
        let mut line = Line::new(text, at)?;
        let limits = rules.limits.iter();
        for (largest, &limit) in self.largest.iter_mut().zip(limits) {
            // Below the index base it wraps round, and lies beyond every limit.
            let coordinate = line.index()?.wrapping_sub(rules.index_base.first());
            if coordinate >= limit {
                return None;
            }
            *largest = coordinate.max(*largest);
            self.coordinates.push(coordinate);
        }
        if rules.pattern {
            return None;
        }
        self.values.push(T::from_plain(line.value()?)?);
        Some(line.at())
    }

    /// Reads the entry that begins at `at`; returns the offset of what follows it on its line: a
    /// comment, or the end.
    #[inline]
    fn entry(&mut self, text: &[u8], mut at: usize, rules: &Rules) -> Result<usize, Mistake> {
        for dimension in 0..rules.rank {
            let Some((coordinate, end)) = index(text, at, dimension, rules) else {
                return Err((at, index_problem(text, at, dimension, rules)));
            };
            self.coordinates.push(coordinate);
            let largest = &mut self.largest[dimension];
            *largest = coordinate.max(*largest);
            at = skip_blanks(text, end);
        }
        if rules.pattern {
            self.values.push(T::ONE);
        } else {
            let (value, end) = match plain_value(text, at) {
                Some(found) => found,
                None => any_value(text, at).map_err(|problem| (at, problem))?,
            };
            self.values.push(value);
            at = skip_blanks(text, end);
        }
        if is_end(text, at) { Ok(at) } else { Err((at, surplus(rules))) }
    }
}

/// Says that there are too many columns; [`explain`] counts them.
fn surplus(rules: &Rules) -> Problem {
    Problem::Columns { found: 0, expected: rules.rank, pattern: rules.pattern }
}

/// The coordinate at `at`, and the offset behind it. `None` if there is something wrong with it,
/// which [`index_problem`] finds out: an error that is built here would slow down every index.
#[inline(always)]
fn index(text: &[u8], at: usize, dimension: usize, rules: &Rules) -> Option<(u64, usize)> {
    let (mut index, count) = digits(text, at, 0);
    let end = at + count;
    if count == 0 || !is_delimiter(text, end) {
        return None;
    }
    // 19 digits cannot overflow.
    if count > 19 {
        index = lexical_core::parse(&text[at..end]).ok()?;
    }
    let coordinate = index.checked_sub(rules.index_base.first())?;
    (coordinate < rules.limits[dimension]).then_some((coordinate, end))
}

/// Why [`index`] finds no coordinate at `at`.
#[cold]
fn index_problem(text: &[u8], at: usize, dimension: usize, rules: &Rules) -> Problem {
    let token = token(text, at);
    let found = Found::new(token);
    if token.is_empty() || !token.iter().all(u8::is_ascii_digit) {
        return Problem::NotAnIndex { found };
    }
    let Ok(index) = lexical_core::parse::<u64>(token) else {
        return Problem::IndexTooLarge { found };
    };
    let index_base = rules.index_base;
    match (index.checked_sub(index_base.first()), &rules.shape) {
        (None, _) => Problem::BelowIndexBase,
        (Some(coordinate), Some(shape)) if coordinate <= MAX_COORDINATE => {
            let size = shape.dimensions()[dimension];
            Problem::OutsideShape { index, index_base, dimension, size }
        }
        _ => Problem::IndexTooLarge { found },
    }
}

/// The value at `at` if it is a plain number, and the offset behind it.
#[inline(always)]
fn plain_value<T: Number>(text: &[u8], at: usize) -> Option<(T, usize)> {
    let (plain, length) = Plain::scan(text.get(at..)?)?;
    let end = at + length;
    let value = T::from_plain(plain)?;
    is_delimiter(text, end).then_some((value, end))
}

/// The value at `at` in whatever form, and the offset behind it.
#[inline(never)]
fn any_value<T: Number>(text: &[u8], at: usize) -> Result<(T, usize), Problem> {
    let token = token(text, at);
    T::parse(token).map(|value| (value, at + token.len())).map_err(|error| {
        let (found, element_type) = (Found::new(token), T::ELEMENT_TYPE);
        match error {
            NumberError::NotANumber => Problem::NotANumber { found },
            NumberError::Misfit { reason, fits } => {
                Problem::Value { found, reason, element_type, fits }
            }
        }
    })
}

/// Looks for a deeper reason of a problem: bytes that are not text, or a missing or surplus
/// column, which makes an index look like a bad value and the other way round.
fn explain(line: &[u8], offset: usize, problem: Problem, rules: &Rules) -> Mistake {
    if let Some(stray) = not_text(line) {
        return stray;
    }
    let expected = rules.rank + usize::from(!rules.pattern);
    let columns: Vec<usize> = columns(line).map(|column| column.0).collect();
    let found = columns.len();
    if found == expected {
        return (offset, problem);
    }
    let end = columns.last().map_or(0, |&last| last + token(line, last).len());
    let place = columns.get(expected).copied().unwrap_or(end);
    (place, Problem::Columns { found, expected: rules.rank, pattern: rules.pattern })
}

/// The first byte of the columns of a line that is NUL or not UTF-8.
fn not_text(line: &[u8]) -> Option<Mistake> {
    columns(line).find_map(|(start, column)| {
        let valid = column.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        let nul = column.iter().position(|&byte| byte == 0).unwrap_or(column.len());
        let offset = valid.min(nul);
        column.get(offset).map(|&byte| (start + offset, Problem::NotText { byte }))
    })
}

/// The rank that the first entry has, if `text`, which is the beginning of what has not been
/// parsed yet, has an entry. Otherwise what is wrong with it: line, column and problem.
pub(super) fn first_rank(
    text: &[u8],
    pattern: bool,
    shape: Option<&Shape>,
) -> Result<Option<usize>, (u64, usize, Problem)> {
    let mut lines = 1;
    let mut at = 0;
    while at < text.len() {
        let line = &text[at..end_of_line(text, at)];
        if !is_end(line, skip_blanks(line, 0)) {
            return first_entry(line, pattern, shape)
                .map(Some)
                .map_err(|(offset, problem)| (lines, offset + 1, problem));
        }
        at += line.len() + 1;
        lines += 1;
    }
    Ok(None)
}

fn first_entry(line: &[u8], pattern: bool, shape: Option<&Shape>) -> Result<usize, Mistake> {
    let mut columns = columns(line);
    let Some((start, first)) = columns.next() else { return Ok(0) };
    let count = 1 + columns.count();
    let dialect = match first {
        _ if first.eq_ignore_ascii_case(b"sptensor") => Some(Dialect::TensorToolbox),
        _ if first.len() >= 14 && first[..14].eq_ignore_ascii_case(b"%%MatrixMarket") => {
            Some(Dialect::TensorMarket)
        }
        _ if count == 1 && !pattern && first.iter().all(u8::is_ascii_digit) => Some(Dialect::ParTI),
        _ => None,
    };
    if let Some(dialect) = dialect {
        return Err((start, Problem::Dialect { dialect }));
    }
    if let Some(stray) = not_text(line) {
        return Err(stray);
    }
    let columns_end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
    let text = line[..columns_end].trim_ascii_end();
    if let Some(offset) = text.iter().position(|&byte| byte == b'\r') {
        return Err((offset, Problem::CarriageReturn));
    }
    let rank = count - usize::from(!pattern);
    match shape {
        _ if rank == 0 => Err((start, Problem::NoValue { found: Found::new(first) })),
        Some(shape) if shape.rank() != rank => {
            Err((start, Problem::ShapeRank { found: rank, expected: shape.rank() }))
        }
        _ if rank > hurray_format::shape::MAX_RANK => {
            Err((start, Problem::RankTooLarge { found: rank }))
        }
        _ => Ok(rank),
    }
}

/// Space, tab, vertical tab, form feed and carriage return.
#[inline]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0B | 0x0C | b'\r')
}

#[inline]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|&byte| is_blank(byte)) {
        at += 1;
    }
    at
}

/// Whether no column begins at `at`, but a comment, another line, or nothing.
#[inline]
fn is_end(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), None | Some(b'\n' | b'#'))
}

#[inline]
fn is_delimiter(text: &[u8], at: usize) -> bool {
    is_end(text, at) || is_blank(text[at])
}

/// The column that begins at `at`.
fn token(text: &[u8], at: usize) -> &[u8] {
    let rest = &text[at..];
    let length = (0..rest.len()).find(|&end| is_delimiter(rest, end)).unwrap_or(rest.len());
    &rest[..length]
}

/// The columns of a line, each with its offset.
fn columns(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at = skip_blanks(line, at);
        let column = token(line, at);
        let start = at;
        at += column.len();
        (!column.is_empty()).then_some((start, column))
    })
}

/// The offset of the line feed that ends the line which `at` lies in, or of the end of the text.
#[inline]
fn end_of_line(text: &[u8], at: usize) -> usize {
    // Nearly always it is right here.
    if text.get(at) == Some(&b'\n') {
        return at;
    }
    text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |length| at + length)
}
