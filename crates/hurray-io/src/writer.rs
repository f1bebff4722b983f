//! Writing a file: one forward pass, never back, and in its place only when it is whole.

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::path::Path;

use hurray_csf::Tensor;
use hurray_format::cast::to_u64;
use hurray_format::container::{
    ContainerError, HEADER_LENGTH, Header, Index, IndexEntry, Metadata, MetadataValue,
    SECTION_ALIGNMENT, Trailer, align_up,
};
use hurray_format::{FormatError, Mode, Shape, TensorDescriptor, Values};

use zerocopy::IntoBytes;

use crate::atomic::{AtomicFile, Unfinished};
use crate::composite;
use crate::error::{Error, TensorError};

/// Pieces at least as long are written without being copied together first.
const BUFFER_SIZE: usize = 1 << 18;

/// What a file is padded with.
static ZEROS: [u8; 4096] = [0; 4096];

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// What every buffer is aligned to in the file, in bytes: a power of two from 4096 (the
    /// default) to 2097152.
    pub data_buffer_alignment: u32,
    /// Whether a file that is there already is replaced; not by default.
    pub overwrite: bool,
    /// Whether [`Writer::finish`] waits until everything is on the disk; it does by default. See
    /// [`AtomicFile::set_sync`].
    pub sync: bool,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self { data_buffer_alignment: Header::MIN_DATA_ALIGNMENT, overwrite: false, sync: true }
    }
}

/// Writes a Hurray file.
///
/// The tensors lie in the file in the order in which they are written; the index is sorted by
/// name. Nothing is at the path until [`Writer::finish`] puts the whole file there: dropping the
/// writer, or any failure, leaves what was there before.
#[derive(Debug)]
pub struct Writer {
    out: BufWriter<AtomicFile>,
    data_buffer_alignment: u32,
    /// The number of bytes written.
    position: u64,
    entries: Vec<IndexEntry>,
    names: HashSet<String>,
    /// What each tensor promises as the head of a composite.
    member_counts: Vec<Option<u32>>,
    metadata: Metadata,
    /// Whether the bytes written so far are not what they should be.
    is_broken: bool,
}

impl Writer {
    /// Starts a file that is to be at `path`.
    ///
    /// # Errors
    /// [`Error::Container`] for an alignment that is not allowed, and what
    /// [`AtomicFile::create`] has.
    pub fn create(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        Header::check_data_alignment(options.data_buffer_alignment)
            .map_err(|error| Error::Container { path: path.to_owned(), error })?;
        let mut file = AtomicFile::create(path, options.overwrite)?;
        file.set_sync(options.sync);
        Ok(Self {
            out: BufWriter::with_capacity(BUFFER_SIZE, file),
            data_buffer_alignment: options.data_buffer_alignment,
            position: 0,
            entries: Vec::new(),
            names: HashSet::new(),
            member_counts: Vec::new(),
            metadata: Metadata::default(),
            is_broken: false,
        })
    }

    /// The temporary file, for whoever has to remove it when a signal ends the program.
    ///
    /// # Errors
    /// As [`AtomicFile::unfinished`].
    pub fn unfinished(&self) -> Result<Unfinished, Error> {
        self.out.get_ref().unfinished()
    }

    /// Adds a key with its value to the metadata of the file, at any time before it is finished.
    /// Only what is known before the first tensor is announced in the header, which readers do
    /// not need.
    ///
    /// # Errors
    /// [`Error::Container`] for a key that is empty, too long or used before.
    pub fn set_metadata(
        &mut self,
        key: impl Into<String>,
        value: impl Into<MetadataValue>,
    ) -> Result<(), Error> {
        self.metadata.insert(key, value).map_err(|error| self.container_error(error))
    }

    /// Writes a tree with its values. [`Writer::tensor`] writes one that is quantized or has
    /// statistics, which [`Tensor::descriptor`] and [`Tensor::buffers`] can be extended by.
    ///
    /// # Errors
    /// [`Error::Tensor`] for a name that is empty, too long or used before, [`Error::Io`] if it
    /// cannot be written.
    pub fn csf<S: AsRef<[u64]>, B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        tensor: &Tensor<S, B>,
    ) -> Result<(), Error> {
        let descriptor = tensor.descriptor().map_err(|error| self.tensor_error(name, error))?;
        self.tensor(name, &descriptor, &tensor.buffers())
    }

    /// Writes a COO tensor: `coordinates` are `u64[nnz][rank]`, one row per value. They are taken
    /// as they are; `is_sorted` has to be true only if they increase strictly.
    ///
    /// # Errors
    /// As [`Writer::csf`], and [`Error::Tensor`] unless there is one row per value.
    pub fn coo<B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        shape: Shape,
        coordinates: &[u64],
        is_sorted: bool,
        values: &Values<B>,
    ) -> Result<(), Error> {
        let nnz = to_u64(values.len());
        let descriptor = TensorDescriptor::coo(shape, values.element_type(), nnz, is_sorted)
            .map_err(|error| self.tensor_error(name, error))?;
        self.tensor(name, &descriptor, &[values.bytes(), coordinates.as_bytes()])
    }

    /// Writes a dense tensor, the last dimension fastest.
    ///
    /// # Errors
    /// As [`Writer::csf`], and [`Error::Tensor`] unless there is one value per element.
    pub fn row_major<B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        shape: Shape,
        values: &Values<B>,
    ) -> Result<(), Error> {
        let descriptor = TensorDescriptor::row_major(shape, values.element_type())
            .map_err(|error| self.tensor_error(name, error))?;
        self.tensor(name, &descriptor, &[values.bytes()])
    }

    /// Writes a tensor of any layout: its descriptor, and its buffers as they are.
    ///
    /// # Errors
    /// [`Error::Tensor`] for a name that is empty, too long or used before, a descriptor that is
    /// not valid, or buffers that do not have the lengths that it promises; [`Error::Io`] if it
    /// cannot be written.
    pub fn tensor(
        &mut self,
        name: &str,
        descriptor: &TensorDescriptor,
        buffers: &[&[u8]],
    ) -> Result<(), Error> {
        let (expected, found) = (descriptor.buffers.len(), buffers.len());
        if expected != found {
            return Err(self.tensor_error(name, TensorError::BufferCount { expected, found }));
        }
        for (buffer, (handle, bytes)) in descriptor.buffers.iter().zip(buffers).enumerate() {
            let (expected, found) = (handle.byte_size, to_u64(bytes.len()));
            if expected != found {
                let error = TensorError::BufferBytes { buffer, expected, found };
                return Err(self.tensor_error(name, error));
            }
        }
        let mut tensor = self.begin(name, descriptor)?;
        for bytes in buffers {
            tensor.write(bytes)?;
        }
        tensor.finish()
    }

    /// Starts a tensor whose buffers come in pieces, so that they never need to be in memory as a
    /// whole.
    ///
    /// # Errors
    /// [`Error::Tensor`] for a name that is empty, too long or used before, or a descriptor that is
    /// not valid; [`Error::Io`] if it cannot be written.
    pub fn begin(
        &mut self,
        name: &str,
        descriptor: &TensorDescriptor,
    ) -> Result<TensorWriter<'_>, Error> {
        self.check_whole()?;
        let encoded = self.check_new(name, descriptor);
        let bytes = encoded.map_err(|error| self.tensor_error(name, error))?;
        let length = u32::try_from(bytes.len());
        let descriptor_length = length.map_err(|_| {
            let error = ContainerError::TooLong { length: bytes.len() };
            self.tensor_error(name, error)
        })?;

        // Set back when the tensor is finished.
        self.is_broken = true;
        self.write_header_once()?;
        self.pad(SECTION_ALIGNMENT)?;
        let descriptor_offset = self.position;
        self.put(&bytes)?;
        let sizes: Vec<u64> = descriptor.buffers.iter().map(|handle| handle.byte_size).collect();
        if !sizes.is_empty() {
            self.pad(self.data_buffer_alignment.into())?;
        }
        let entry = IndexEntry {
            name: name.to_owned(),
            descriptor_offset,
            descriptor_length,
            data_offset: self.position,
            data_length: 0,
        };
        let member_count = composite::member_count(&descriptor.layout);
        let mut tensor =
            TensorWriter { writer: self, entry, member_count, sizes, buffer: 0, written: 0 };
        tensor.skip_full()?;
        Ok(tensor)
    }

    /// Finishes the file and puts it in its place.
    ///
    /// # Errors
    /// [`Error::Unfinished`] if writing a tensor has failed, [`Error::Tensor`] if a composite has
    /// too few members, [`Error::Container`] if the metadata are too large, and what
    /// [`AtomicFile::commit`] has.
    pub fn finish(mut self) -> Result<(), Error> {
        self.check_whole()?;
        composite::find(self.member_counts.iter().copied())
            .map_err(|(head, error)| self.tensor_error(&self.entries[head].name, error))?;
        self.write_header_once()?;
        self.pad(SECTION_ALIGNMENT)?;

        let mut metadata = None;
        if !self.metadata.is_empty() {
            let bytes = self.metadata.encode().map_err(|error| self.container_error(error))?;
            let start = self.position;
            self.put(&bytes)?;
            metadata = Some(start..self.position);
            self.pad(SECTION_ALIGNMENT)?;
        }
        let mut index = Index { entries: std::mem::take(&mut self.entries) };
        index.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let bytes = index.encode().map_err(|error| self.container_error(error))?;
        let start = self.position;
        self.put(&bytes)?;
        let trailer = Trailer {
            index: start..self.position,
            metadata,
            index_checksum: Some(Index::checksum(&bytes)),
        };
        let bytes = trailer.encode().map_err(|error| self.container_error(error))?;
        self.put(&bytes)?;

        let path = self.path().to_owned();
        let file = self
            .out
            .into_inner()
            .map_err(|error| Error::io(&path, "write the file")(error.into_error()))?;
        file.commit()
    }

    /// A name and a descriptor that can be written, the latter as bytes.
    fn check_new(&self, name: &str, descriptor: &TensorDescriptor) -> Result<Vec<u8>, TensorError> {
        Index::check_name(name)?;
        if self.names.contains(name) {
            return Err(ContainerError::DuplicateName { name: name.to_owned() }.into());
        }
        descriptor.validate(Mode::Strict)?;
        // A place beyond 64 bits is found before anything is written.
        let sizes = descriptor.buffers.iter().map(|handle| handle.byte_size);
        let total = sizes.map(|size| size.checked_add(self.data_buffer_alignment.into()));
        total
            .chain([Some(self.position), Some(1 << 40)])
            .try_fold(0u64, |sum, size| sum.checked_add(size?))
            .ok_or(FormatError::SizeOverflow { what: "the file" })?;
        Ok(descriptor.encode()?)
    }

    fn check_whole(&self) -> Result<(), Error> {
        if self.is_broken {
            return Err(Error::Unfinished { path: self.path().to_owned() });
        }
        Ok(())
    }

    /// Writes the header when the first thing behind it is about to be written, because only then
    /// is it known whether there are metadata.
    fn write_header_once(&mut self) -> Result<(), Error> {
        if self.position > 0 {
            return Ok(());
        }
        let header = Header {
            version_minor: 0,
            has_metadata: !self.metadata.is_empty(),
            is_sorted: true,
            has_checksum: true,
            data_buffer_alignment: self.data_buffer_alignment,
            first_descriptor_offset: HEADER_LENGTH,
            tensor_count_hint: None,
        };
        self.put(&header.encode())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Err(error) = self.out.write_all(bytes) {
            return Err(Error::io(self.path(), "write the file")(error));
        }
        self.position += to_u64(bytes.len());
        Ok(())
    }

    /// Writes zeros up to the next multiple of `alignment`.
    fn pad(&mut self, alignment: u64) -> Result<(), Error> {
        let end = align_up(self.position, alignment).unwrap_or(self.position);
        while self.position < end {
            let left = hurray_format::cast::to_usize(end - self.position);
            self.put(&ZEROS[..left.min(ZEROS.len())])?;
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        self.out.get_ref().path()
    }

    fn container_error(&self, error: ContainerError) -> Error {
        Error::Container { path: self.path().to_owned(), error }
    }

    fn tensor_error(&self, name: &str, error: impl Into<TensorError>) -> Error {
        let (path, name) = (self.path().to_owned(), name.to_owned());
        Error::Tensor { path, name, error: Box::new(error.into()) }
    }
}

/// Takes the buffers of a tensor one behind another, in pieces of any length.
///
/// If it is dropped before [`TensorWriter::finish`], the file cannot be finished.
#[derive(Debug)]
#[must_use = "the tensor is written when it is finished"]
pub struct TensorWriter<'a> {
    writer: &'a mut Writer,
    entry: IndexEntry,
    member_count: Option<u32>,
    sizes: Vec<u64>,
    /// The buffer being written, which is not full; their number behind the last.
    buffer: usize,
    /// The bytes of it that are written.
    written: u64,
}

impl TensorWriter<'_> {
    /// Writes the next piece of the buffer that is not full yet. A piece ends at the latest where
    /// the buffer does; the next one belongs to the next buffer. Long pieces are written as they
    /// are, short ones are collected.
    ///
    /// # Errors
    /// [`Error::Tensor`] if it is longer than what is left of the buffer, [`Error::Io`] if it cannot
    /// be written.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Error> {
        if piece.is_empty() {
            return Ok(());
        }
        let expected = self.sizes.get(self.buffer).copied().unwrap_or(0);
        let found = self.written.saturating_add(to_u64(piece.len()));
        if found > expected {
            return Err(self.wrong_length(expected, found));
        }
        self.writer.put(piece)?;
        self.written = found;
        self.skip_full()
    }

    /// Ends the tensor.
    ///
    /// # Errors
    /// [`Error::Tensor`] if a buffer is not full.
    pub fn finish(mut self) -> Result<(), Error> {
        if let Some(&expected) = self.sizes.get(self.buffer) {
            return Err(self.wrong_length(expected, self.written));
        }
        self.entry.data_length = self.writer.position - self.entry.data_offset;
        self.writer.names.insert(self.entry.name.clone());
        self.writer.entries.push(self.entry);
        self.writer.member_counts.push(self.member_count);
        self.writer.is_broken = false;
        Ok(())
    }

    /// Goes on to the next buffer that is not full, past empty ones.
    fn skip_full(&mut self) -> Result<(), Error> {
        while self.sizes.get(self.buffer).is_some_and(|&size| size == self.written) {
            self.buffer += 1;
            self.written = 0;
            if self.buffer < self.sizes.len() {
                self.writer.pad(self.writer.data_buffer_alignment.into())?;
            }
        }
        Ok(())
    }

    fn wrong_length(&self, expected: u64, found: u64) -> Error {
        let buffer = self.buffer;
        let error = TensorError::BufferBytes { buffer, expected, found };
        self.writer.tensor_error(&self.entry.name, error)
    }
}
