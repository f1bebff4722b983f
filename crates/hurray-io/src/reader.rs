//! Files that are there: open, list, find a tensor, get its buffers.
//!
//! Opening reads the header, the trailer, the index, the metadata and the descriptors, and checks
//! all of them against one another; the data of the tensors are not touched. So it costs the same
//! for a file of a kilobyte and of a terabyte.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hurray_format::cast::{to_u64, to_usize};
use hurray_format::container::{
    ContainerError, HEADER_LENGTH, Header, Index, IndexEntry, Metadata, Placement, TRAILER_LENGTH,
    Trailer,
};
use hurray_format::{
    AlignedBytes, DecodeError, FormatError, LayoutDescriptor, Mode, TensorDescriptor,
};

use crate::buffer::Buffer;
use crate::composite;
use crate::error::{Error, TensorError};
use crate::source::{Source, read_exact_at};
use crate::tensor::TensorBuffers;

/// How a file is opened: strictly unless told otherwise (docs/format.md, "Modes").
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    mode: Mode,
}

impl OpenOptions {
    /// Tolerates unknown layouts and quantization schemes and bad mode orders: what can be reached
    /// of such tensors is listed, and their data are not touched.
    #[must_use]
    pub fn permissive(self) -> Self {
        Self { mode: Mode::Permissive }
    }

    /// Opens a file; see [`File::open`].
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<File, Error> {
        File::open_with(path.as_ref(), self.mode)
    }

    /// Opens a file and maps it; see [`File::map`].
    ///
    /// # Safety
    /// As [`File::map`].
    ///
    /// # Errors
    /// As [`File::map`].
    #[expect(unsafe_code, reason = "passes the contract of mapping on")]
    pub unsafe fn map(self, path: impl AsRef<Path>) -> Result<File, Error> {
        let mut file = self.open(path)?;
        // SAFETY: the caller promises that the file stays as it is.
        let source = unsafe { Source::map(&file.file) };
        file.mapping = Some(Arc::new(source.map_err(Error::io(&file.path, "map the file"))?));
        Ok(file)
    }
}

/// An open Hurray file.
///
/// Many threads may use one at the same time. A file that is replaced by a
/// [`Writer`](crate::Writer) stays readable for whoever has it open.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    file: fs::File,
    mapping: Option<Arc<Source>>,
    header: Header,
    metadata: Metadata,
    /// By descriptor offset.
    tensors: Vec<Entry>,
    /// Positions in `tensors`, by name.
    by_name: Vec<usize>,
}

/// A tensor of a file.
#[derive(Debug)]
struct Entry {
    index: IndexEntry,
    descriptor: TensorDescriptor,
    buffers: Vec<Range<u64>>,
}

impl File {
    /// Opens a file for reading. Data are read into memory when they are asked for.
    ///
    /// Costs a few small reads and one for each tensor, whatever the size of the data.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::NotAFile`] if it cannot be read, [`Error::Decode`] if it is not a
    /// Hurray file or breaks a rule of the container, [`Error::Tensor`] if a descriptor breaks a
    /// rule or the buffers do not lie where they have to.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::options().open(path)
    }

    /// Opens a file and maps it into the address space, so that the buffers of its tensors are
    /// the bytes of the file itself: no copy, and data that nobody looks at are not read.
    ///
    /// # Safety
    /// Nobody may change or truncate the file, in this process or another, while it or any buffer
    /// of it is alive. A change is a data race, with undefined behaviour; an access behind the new
    /// end of a truncated file ends the process with a signal (`SIGBUS`). Replacing the file by
    /// renaming another over it, as [`Writer`](crate::Writer) does, is no change. If you cannot
    /// promise that, use [`File::open`].
    ///
    /// # Errors
    /// As [`File::open`], and [`Error::Io`] if the file cannot be mapped.
    #[expect(unsafe_code, reason = "passes the contract of mapping on")]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, Error> {
        // SAFETY: the caller promises that the file stays as it is.
        unsafe { Self::options().map(path) }
    }

    /// Other ways to open a file.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions { mode: Mode::Strict }
    }

    /// Where the file was found.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is mapped.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        self.mapping.is_some()
    }

    /// What the header says.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What the file says about itself.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The tensors, in the order in which they lie in the file.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = TensorRef<'_>> {
        self.tensors.iter().map(|entry| TensorRef { file: self, entry })
    }

    /// The number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether the file has no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The tensor at `position` in the file, `None` behind the last.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<TensorRef<'_>> {
        self.tensors.get(position).map(|entry| TensorRef { file: self, entry })
    }

    /// The tensor called `name`. Costs a binary search.
    ///
    /// # Errors
    /// [`Error::NoSuchTensor`], which names those that the file has.
    pub fn tensor(&self, name: &str) -> Result<TensorRef<'_>, Error> {
        let found =
            self.by_name.binary_search_by(|&i| self.tensors[i].index.name.as_str().cmp(name));
        match found.ok().and_then(|found| self.get(self.by_name[found])) {
            Some(tensor) => Ok(tensor),
            None => Err(Error::NoSuchTensor {
                path: self.path.clone(),
                name: name.to_owned(),
                tensors: self.tensors().take(10).map(|tensor| tensor.name().to_owned()).collect(),
            }),
        }
    }

    /// Reads everything but the data, in the order that the parts point to one another.
    fn open_with(path: &Path, mode: Mode) -> Result<Self, Error> {
        // Looked at before it is opened, since opening a pipe waits for its other end.
        let metadata = fs::metadata(path).map_err(Error::io(path, "open the file"))?;
        if !metadata.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        let file = fs::File::open(path).map_err(Error::io(path, "open the file"))?;
        let length = file.metadata().map_err(Error::io(path, "look at the file"))?.len();
        let decode = |error| Error::Decode { path: path.to_owned(), error };
        let read = |range: Range<u64>| read_range(&file, path, range);

        // A file of another kind should be told so before its length is complained of.
        let header = Header::decode(&read(0..HEADER_LENGTH.min(length))?).map_err(decode)?;
        let Some(trailer_offset) =
            length.checked_sub(TRAILER_LENGTH).filter(|&offset| offset >= HEADER_LENGTH)
        else {
            let error = ContainerError::TooShort { length }.into();
            return Err(decode(DecodeError { field: "file", offset: length, error }));
        };
        let trailer = read(trailer_offset..length)?;
        let trailer = Trailer::decode(&trailer, trailer_offset, &header).map_err(decode)?;
        let index = read(trailer.index.clone())?;
        let mut index = Index::decode(&index, &header, &trailer).map_err(decode)?.entries;
        let metadata = match &trailer.metadata {
            None => Metadata::default(),
            Some(range) => {
                let bytes = read(range.clone())?;
                Metadata::decode(&bytes, range.start, &header).map_err(decode)?
            }
        };

        index.sort_by_key(|entry| entry.descriptor_offset);
        check_first(&header, &index).map_err(decode)?;
        check_overlap(&index).map_err(|(name, error)| tensor_error(path, name, error))?;
        let mut tensors = Vec::with_capacity(index.len());
        for entry in index {
            let bytes = read(entry.descriptor())?;
            let (descriptor, buffers) = describe(&entry, &bytes, &header, mode)
                .map_err(|error| tensor_error(path, &entry.name, error))?;
            tensors.push(Entry { index: entry, descriptor, buffers });
        }
        let members = tensors.iter().map(|entry| composite::member_count(&entry.descriptor.layout));
        composite::find(members)
            .map_err(|(head, error)| tensor_error(path, &tensors[head].index.name, error))?;

        let mut by_name: Vec<usize> = (0..tensors.len()).collect();
        by_name.sort_unstable_by_key(|&position| tensors[position].index.name.as_str());
        Ok(Self { path: path.to_owned(), file, mapping: None, header, metadata, tensors, by_name })
    }
}

fn tensor_error(path: &Path, name: &str, error: impl Into<TensorError>) -> Error {
    Error::Tensor { path: path.to_owned(), name: name.to_owned(), error: Box::new(error.into()) }
}

/// Reads a range that was found to lie inside the file.
fn read_range(file: &fs::File, path: &Path, range: Range<u64>) -> Result<AlignedBytes, Error> {
    let length = range.end - range.start;
    let mut bytes = AlignedBytes::try_zeroed(to_usize(length))
        .ok_or_else(|| Error::io(path, "read the file")(std::io::ErrorKind::OutOfMemory.into()))?;
    read_exact_at(file, &mut bytes, range.start).map_err(Error::io(path, "read the file"))?;
    Ok(bytes)
}

/// The header says where the first descriptor is.
fn check_first(header: &Header, index: &[IndexEntry]) -> Result<(), DecodeError> {
    let found = header.first_descriptor_offset;
    match index.first().map(|entry| entry.descriptor_offset) {
        Some(expected) if expected != found => {
            let error = ContainerError::FirstDescriptor { found, expected }.into();
            Err(DecodeError { field: "first_descriptor_offset", offset: 20, error })
        }
        _ => Ok(()),
    }
}

/// Every byte belongs to one tensor at most. Without this, a small file could describe the same
/// bytes very many times, and checking it would take as much longer.
fn check_overlap(index: &[IndexEntry]) -> Result<(), (&str, ContainerError)> {
    let mut ranges: Vec<(Range<u64>, &str)> = index
        .iter()
        .flat_map(|entry| [(entry.descriptor(), &*entry.name), (entry.data(), &*entry.name)])
        .filter(|(range, _)| !range.is_empty())
        .collect();
    ranges.sort_unstable_by_key(|(range, _)| range.start);
    for pair in ranges.windows(2) {
        let [(before, other), (range, name)] = pair else { continue };
        if before.end > range.start {
            let (start, other) = (range.start, (*other).to_owned());
            return Err((*name, ContainerError::Overlap { start, other }));
        }
    }
    Ok(())
}

/// Decodes the descriptor of a tensor and finds its buffers.
fn describe(
    entry: &IndexEntry,
    bytes: &[u8],
    header: &Header,
    mode: Mode,
) -> Result<(TensorDescriptor, Vec<Range<u64>>), TensorError> {
    let descriptor = TensorDescriptor::decode(bytes, entry.descriptor_offset, mode)?;
    if let LayoutDescriptor::Unknown { .. } = descriptor.layout {
        return Ok((descriptor, Vec::new()));
    }
    let sizes = descriptor.buffers.iter().map(|handle| handle.byte_size);
    let alignment = header.data_buffer_alignment;
    // Where the data of a tensor without buffers are does not matter.
    if sizes.len() > 0 && !entry.data_offset.is_multiple_of(alignment.into()) {
        let found = entry.data_offset;
        return Err(ContainerError::DataUnaligned { found, alignment }.into());
    }
    let buffers: Vec<_> = Placement::new(entry.data_offset, alignment, sizes)
        .collect::<Option<_>>()
        .ok_or(FormatError::SizeOverflow { what: "the buffers" })?;
    let end = buffers.last().map_or(entry.data_offset, |last| last.end);
    let (expected, found) = (end - entry.data_offset, entry.data_length);
    if found != expected {
        return Err(ContainerError::DataLength { start: entry.data_offset, found, expected }.into());
    }
    Ok((descriptor, buffers))
}

/// A tensor of an open file: what is known of it without its data.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    file: &'a File,
    entry: &'a Entry,
}

impl<'a> TensorRef<'a> {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'a str {
        &self.entry.index.name
    }

    /// What its descriptor says.
    #[must_use]
    pub fn descriptor(self) -> &'a TensorDescriptor {
        &self.entry.descriptor
    }

    /// What the index says of it.
    #[must_use]
    pub fn index_entry(self) -> &'a IndexEntry {
        &self.entry.index
    }

    /// The bytes of the file that each of its buffers takes; none if they cannot be found behind a
    /// layout that is not understood.
    #[must_use]
    pub fn buffer_ranges(self) -> &'a [Range<u64>] {
        &self.entry.buffers
    }

    /// Gets its buffers: handles into the mapping if the file is mapped, in constant time;
    /// otherwise they are read into memory that is aligned to 64 bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if they cannot be read, [`Error::Tensor`] if there is not enough memory for
    /// them or if it is not known where they are.
    pub fn read(self) -> Result<TensorBuffers, Error> {
        if let LayoutDescriptor::Unknown { tag } = self.descriptor().layout {
            return Err(self.error(TensorError::Unreachable { tag }));
        }
        let buffers = (0..self.entry.buffers.len()).map(|i| self.read_buffer(i));
        let buffers = buffers.collect::<Result<_, _>>()?;
        let (path, name) = (self.file.path.clone(), self.name().to_owned());
        Ok(TensorBuffers::new(path, name, self.descriptor().clone(), buffers))
    }

    /// Gets one buffer.
    ///
    /// # Errors
    /// As [`TensorRef::read`].
    ///
    /// # Panics
    /// If there is no buffer of this number.
    pub fn read_buffer(self, number: usize) -> Result<Buffer, Error> {
        let range = self.entry.buffers[number].clone();
        let size = range.end - range.start;
        if let Some(mapping) = &self.file.mapping {
            let part = Buffer::part(mapping, to_usize(range.start)..to_usize(range.end));
            // It lay inside the file when that was opened, a moment before it was mapped.
            return part.ok_or_else(|| {
                let available = to_u64(mapping.len()).saturating_sub(range.start);
                self.error(FormatError::Truncated { needed: size, available })
            });
        }
        let mut bytes = AlignedBytes::try_zeroed(to_usize(size))
            .ok_or_else(|| self.error(TensorError::OutOfMemory { size }))?;
        read_exact_at(&self.file.file, &mut bytes, range.start)
            .map_err(Error::io(&self.file.path, "read the data of a tensor"))?;
        Ok(bytes.into())
    }

    pub(crate) fn error(self, error: impl Into<TensorError>) -> Error {
        tensor_error(&self.file.path, self.name(), error)
    }
}
