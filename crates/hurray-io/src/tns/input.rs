//! Where text comes from: bytes counted, decompressed, and cut at line ends.

use std::io::{self, Read};

use hurray_format::cast::to_u64;

/// The longest line that is read.
pub(super) const MAX_LINE: usize = 1 << 27;

/// An input that keeps its failure until the lines before it were handed out.
pub(super) struct Input<'a> {
    reader: Box<dyn Read + Send + 'a>,
    failure: Option<io::Error>,
}

impl<'a> Input<'a> {
    /// Text without its byte order mark, decompressed if the first bytes say that it is
    /// compressed. All members of a gzip file are read. `None` is gzip that this build cannot
    /// read.
    pub(super) fn new(
        input: impl Read + Send + 'a,
        progress: Option<&'a (dyn Fn(u64) + Sync)>,
    ) -> io::Result<Option<Self>> {
        /// No text begins with these bytes.
        const GZIP: &[u8] = &[0x1F, 0x8B];
        const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

        let (head, input) = split_head(Counted { input, count: 0, progress }, GZIP.len())?;
        let compressed = head == GZIP;
        let input = io::Cursor::new(head).chain(input);
        let input: Box<dyn Read + Send + 'a> = if !compressed {
            Box::new(input)
        } else {
            #[cfg(feature = "gzip")]
            {
                Box::new(flate2::read::MultiGzDecoder::new(input))
            }
            #[cfg(not(feature = "gzip"))]
            return Ok(None);
        };
        let (mut head, input) = split_head(input, BYTE_ORDER_MARK.len())?;
        if head == BYTE_ORDER_MARK {
            head.clear();
        }
        Ok(Some(Self { reader: Box::new(io::Cursor::new(head).chain(input)), failure: None }))
    }

    /// Reads until `buffer` is full, less only if there is no more; returns how many bytes.
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        let mut length = 0;
        while self.failure.is_none() && length < buffer.len() {
            match self.reader.read(&mut buffer[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What was read before a failure counts.
                Err(error) => self.failure = Some(error),
            }
        }
        length
    }
}

/// Takes the first `length` bytes off, or fewer if there are no more.
fn split_head<R: Read>(mut input: R, length: usize) -> io::Result<(Vec<u8>, R)> {
    let mut head = Vec::new();
    input.by_ref().take(to_u64(length)).read_to_end(&mut head)?;
    Ok((head, input))
}

/// Passes bytes on and tells how many there were so far.
struct Counted<'a, R> {
    input: R,
    count: u64,
    progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.count += to_u64(count);
        if let Some(progress) = self.progress {
            progress(self.count);
        }
        Ok(count)
    }
}

/// Whole lines of the input, as many as fit a buffer.
#[derive(Default)]
pub(super) struct Lines {
    /// Never cut, so that what was made once need not be made zero again for every read.
    buffer: Vec<u8>,
    /// How many bytes of the buffer are text.
    length: usize,
    /// The whole lines are the first bytes of the buffer, this many.
    whole: usize,
}

/// Why there are no more lines.
pub(super) enum Stop {
    /// The next line is longer than [`MAX_LINE`].
    LineTooLong,
    Io(io::Error),
}

impl Lines {
    /// Takes what is left behind the whole lines of `before`, and reads about `target` bytes of
    /// whole lines; more if there is a longer line, none at the end of the input.
    pub(super) fn fill(
        &mut self,
        input: &mut Input,
        before: &Lines,
        target: usize,
    ) -> Result<(), Stop> {
        let rest = &before.buffer[before.whole..before.length];
        // Never room for more than the longest line and its line feed, so that what is refused
        // does not depend on the target.
        let mut size = target.max(2 * rest.len()).clamp(1, MAX_LINE + 1);
        self.whole = 0;
        self.make_room(size);
        self.buffer[..rest.len()].copy_from_slice(rest);
        self.length = rest.len();
        loop {
            let from = self.length;
            self.length += input.read(&mut self.buffer[from..size]);
            let line_feed = self.buffer[from..self.length].iter().rposition(|&byte| byte == b'\n');
            self.whole = line_feed.map_or(0, |at| from + at + 1);
            if self.length < size {
                match input.failure.take_if(|_| self.whole == 0) {
                    Some(failure) => return Err(Stop::Io(failure)),
                    // The last line may lack its line feed.
                    None if input.failure.is_none() => self.whole = self.length,
                    None => {}
                }
                return Ok(());
            }
            if self.whole > 0 {
                return Ok(());
            }
            if size > MAX_LINE {
                return Err(Stop::LineTooLong);
            }
            size = (2 * size).min(MAX_LINE + 1);
            self.make_room(size);
        }
    }

    fn make_room(&mut self, size: usize) {
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
    }

    /// The whole lines.
    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[..self.whole]
    }

    /// The whole lines in pieces of about `size` bytes each.
    pub(super) fn pieces(&self, size: usize) -> Vec<&[u8]> {
        let mut pieces = Vec::new();
        let mut rest = self.text();
        while !rest.is_empty() {
            let from = size.clamp(1, rest.len()) - 1;
            let line_feed = rest[from..].iter().position(|&byte| byte == b'\n');
            let (piece, behind) = rest.split_at(line_feed.map_or(rest.len(), |at| from + at + 1));
            pieces.push(piece);
            rest = behind;
        }
        pieces
    }
}
