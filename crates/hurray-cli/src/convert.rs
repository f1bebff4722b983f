//! `hurray convert`: between coordinate text and Hurray files.
//!
//! The input becomes a tree in memory and is written from there. The output gets its name only when it is whole.

use std::io;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use hurray_csf::build::{BuildError, Builder, Duplicates, Indices};
use hurray_csf::{NumberError, Numbers, Tensor, statistics};
use hurray_format::cast::to_u64;
use hurray_format::container::MetadataValue;
use hurray_format::descriptor::Statistics;
use hurray_format::layout::MIN_CSF_RANK;
use hurray_format::{
    Dequantizer, ElementType, LayoutDescriptor, ModeOrder, Quantization, Shape, TensorDescriptor,
    Values,
};
use hurray_io::tns::{self, Entries, IndexBase, ReadOptions, WriteError, WriteOptions};
use hurray_io::{AtomicFile, Buffer, File, Words, Writer, WriterOptions};

use crate::argument::{self, Order};
use crate::cast::cast;
use crate::failure::{Failure, one_line};
use crate::interrupt;
use crate::open;
use crate::output;
use crate::place::{Format, Place};
use crate::progress::{Progress, Unit};

/// Convert between coordinate text (.tns, .tns.gz) and Hurray files (.hrry)
///
/// Text has one element per line: its indices, from 1 on unless told otherwise, and its value. It
/// knows neither shape nor element type: without --shape a dimension is as long as its largest
/// index, without --type values are float64. Hurray files hold the tensor in the CSF layout, of
/// rank 3 and more. Text is written in the order of storage. From one Hurray file to another,
/// metadata and statistics are handed on, and quantized values stay as they are stored.
///
/// OUT appears when it is whole; until then it is .OUT.unfinished-0 in the same folder. Where OUT is
/// a symbolic link, what it leads to is replaced; where it has other hard links, those keep the old
/// contents. OUT may be IN.
#[derive(Args)]
#[command(after_help = "\
Examples:
  hurray convert nips.tns.gz nips.hrry --mode-order auto
  hurray convert nips.hrry - | head
  hurray convert a.hrry b.hrry --mode-order 2,0,1 --type float32")]
pub(crate) struct Arguments {
    /// What to read: a file, or - for text from standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// What to write: a file, or - for text to standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// What IN is, if its ending does not tell
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// What OUT is, if its ending does not tell
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// The shape, such as 4,5,6; an index outside is an error (text input)
    #[arg(long, value_name = "SIZES", value_parser = argument::shape)]
    shape: Option<Shape>,
    /// What indices in text count from [default: 1]
    #[arg(long, value_name = "BASE")]
    index_base: Option<Base>,
    /// Text has no column of values; those read are 1
    #[arg(long)]
    pattern: bool,
    /// The dimension that each level of the tree stores, outermost first, such as 2,0,1, or auto
    /// for the shortest outermost [default: 0,1,2,.. from text, else unchanged]
    #[arg(long, value_name = "ORDER", value_parser = argument::order)]
    mode_order: Option<Order>,
    /// The element type; a value that it cannot hold is an error [default: float64 from text,
    /// else unchanged] [types: float16, bfloat16, float32, float64, int8, .. int64, uint8, ..
    /// uint64]
    #[arg(long = "type", value_name = "TYPE", value_parser = argument::element_type)]
    element_type: Option<ElementType>,
    /// What to do with entries of the same index [default: error] (text input)
    #[arg(long, value_name = "HOW")]
    duplicates: Option<Merge>,
    /// Leave out elements that are 0
    #[arg(long)]
    drop_zeros: bool,
    /// The name of the tensor in OUT [default: that in IN, or the file name of text] (.hrry
    /// output)
    #[arg(long)]
    name: Option<String>,
    /// Which tensor of IN, if there are several (.hrry input)
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// A text to keep with the file; may be given several times (.hrry output)
    #[arg(long, value_name = "KEY=VALUE", action = ArgAction::Append,
          value_parser = argument::metadata)]
    metadata: Vec<(String, String)>,
    /// What buffers are aligned to in the file, from 4K to 2M [default: 4K] (.hrry output)
    #[arg(long, value_name = "BYTES", value_parser = argument::alignment)]
    alignment: Option<u32>,
    /// Record statistics of the values: sparsity, range, mean and deviation, NaN and infinity
    /// (.hrry output)
    #[arg(long)]
    statistics: bool,
    /// How many threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
    /// Show neither progress nor result
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Base {
    #[value(name = "0")]
    Zero,
    #[value(name = "1")]
    One,
}

#[derive(Clone, Copy, ValueEnum)]
enum Merge {
    /// Refuse them
    Error,
    /// Add them up, in the order of the input
    Sum,
    /// Keep the first
    First,
    /// Keep the last
    Last,
    /// Keep the smallest
    Min,
    /// Keep the largest
    Max,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = Place::new(&arguments.input, arguments.from, "--from")?;
    let output = Place::new(&arguments.output, arguments.to, "--to")?;
    arguments.check(&input, &output)?;
    // Found out now rather than after all the work; the writers look again.
    if let Some(path) = &output.path {
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            let hint = "not a regular file; to write text to a pipe or a device, say - > PATH";
            return Err(Failure::at(&output, hint));
        }
        if !arguments.force && path.symlink_metadata().is_ok() {
            return Err(Failure::at(&output, "exists already; --force replaces it"));
        }
    }
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads.into());
    }
    let pool = pool.build().map_err(|error| Failure::Refused(format!("no threads: {error}")))?;
    pool.install(|| Conversion { arguments, input, output }.run())
}

impl Arguments {
    /// Options that would do nothing are mistakes.
    fn check(&self, input: &Place, output: &Place) -> Result<(), Failure> {
        let (from_text, to_text) = (input.is_text(), output.is_text());
        let options = [
            ("--shape", self.shape.is_some(), from_text, "text input"),
            ("--duplicates", self.duplicates.is_some(), from_text, "text input"),
            ("--index-base", self.index_base.is_some(), from_text || to_text, "text"),
            ("--pattern", self.pattern, from_text || to_text, "text"),
            ("--tensor", self.tensor.is_some(), !from_text, ".hrry input"),
            ("--name", self.name.is_some(), !to_text, ".hrry output"),
            ("--metadata", !self.metadata.is_empty(), !to_text, ".hrry output"),
            ("--statistics", self.statistics, !to_text, ".hrry output"),
            ("--alignment", self.alignment.is_some(), !to_text, ".hrry output"),
        ];
        match options.into_iter().find(|&(_, given, useful, _)| given && !useful) {
            Some((option, _, _, what)) => Err(Failure::Usage(format!("{option} is for {what}"))),
            None => Ok(()),
        }
    }

    fn index_base(&self) -> IndexBase {
        match self.index_base {
            Some(Base::Zero) => IndexBase::Zero,
            Some(Base::One) | None => IndexBase::One,
        }
    }

    fn duplicates(&self) -> Duplicates {
        match self.duplicates {
            Some(Merge::Error) | None => Duplicates::Error,
            Some(Merge::Sum) => Duplicates::Sum,
            Some(Merge::First) => Duplicates::First,
            Some(Merge::Last) => Duplicates::Last,
            Some(Merge::Min) => Duplicates::Min,
            Some(Merge::Max) => Duplicates::Max,
        }
    }
}

/// A conversion whose arguments are found to be good.
struct Conversion<'a> {
    arguments: &'a Arguments,
    input: Place,
    output: Place,
}

/// What was read, as it is going to be written.
enum Content {
    /// A tree that was built.
    Built(Tensor),
    /// A tree as it lies in a file.
    Stored(Tensor<Words, Buffer>),
}

/// What a Hurray file says beside the tensor, to be handed on to another.
#[derive(Default)]
struct Context {
    name: Option<String>,
    metadata: Vec<(String, MetadataValue)>,
    /// The scheme of quantized values, and its parameter buffers.
    quantization: Option<(Quantization, Vec<Buffer>)>,
    /// Those recorded, unless the values change.
    statistics: Option<Statistics>,
}

impl Conversion<'_> {
    fn run(&self) -> Result<(), Failure> {
        let (content, context) = match self.input.is_text() {
            true => (self.read_text()?, Context::default()),
            false => self.read_file()?,
        };
        let tensor = match &content {
            Content::Built(tensor) => view(tensor)?,
            Content::Stored(tensor) => view(tensor)?,
        };
        self.write(&tensor, context)?;
        match &self.output.path {
            Some(path) if !self.arguments.quiet => {
                let size = path.metadata().map_or(0, |metadata| metadata.len());
                let summary = summary(&tensor);
                let name = one_line(&self.output.to_string());
                output::print(|out| writeln!(out, "{name}: {summary}, {size} bytes"))
            }
            _ => Ok(()),
        }
    }

    fn read_text(&self) -> Result<Content, Failure> {
        let arguments = self.arguments;
        let length = self.input.path.as_ref().and_then(|path| Some(path.metadata().ok()?.len()));
        let progress = Progress::new("reading", length, Unit::Bytes, arguments.quiet);
        let set = |bytes| progress.set(bytes);
        let options = ReadOptions {
            index_base: arguments.index_base(),
            shape: arguments.shape.clone(),
            pattern: arguments.pattern,
            element_type: arguments.element_type.unwrap_or(ElementType::Float64),
            name: Some("standard input".to_owned()),
            progress: Some(&set),
            ..ReadOptions::default()
        };
        let entries = match &self.input.path {
            Some(path) => tns::read_path(path, &options)?,
            None => tns::read(io::stdin(), &options)?,
        };
        drop(progress);
        let rank = entries.shape.rank();
        if rank < MIN_CSF_RANK {
            let indices = if rank == 1 { "index" } else { "indices" };
            let hint = if arguments.pattern {
                ""
            } else {
                "; if the last column is an index too, and there are no values, say --pattern"
            };
            return Err(Failure::at(
                &self.input,
                format_args!(
                    "its lines have {rank} {indices}, but tensors of rank 3 and more are \
                     converted{hint}"
                ),
            ));
        }
        let _spinner = Progress::spinner("building", arguments.quiet);
        let mode_order = self.mode_order(&entries.shape, None)?;
        Builder::new(entries.shape.clone())
            .mode_order(mode_order)
            .duplicates(arguments.duplicates())
            .drop_zeros(arguments.drop_zeros)
            .build(Indices::Rows(&entries.coordinates), entries.values.as_view())
            .map(Content::Built)
            .map_err(|error| self.text_error(&error, &entries))
    }

    /// Says where in the text an error of building comes from.
    fn text_error(&self, error: &BuildError, entries: &Entries) -> Failure {
        let line = |entry| entries.line_of(entry).map_or("?".into(), |line| line.to_string());
        let base = u128::from(self.arguments.index_base().first());
        let as_in_text = |index: &[u64]| {
            let counted: Vec<_> =
                index.iter().map(|&i| (u128::from(i) + base).to_string()).collect();
            counted.join(" ")
        };
        match error {
            BuildError::Duplicate { index, first, second } => Failure::at(
                &self.input,
                format_args!(
                    "lines {} and {} both have index {}; merge them with --duplicates",
                    line(*first),
                    line(*second),
                    as_in_text(index)
                ),
            ),
            BuildError::SumOverflow { index, element_type } => Failure::at(
                &self.input,
                format_args!(
                    "the sum of the values at index {} does not fit into {element_type}; choose a \
                     wider --type",
                    as_in_text(index)
                ),
            ),
            error => Failure::at(&self.input, error),
        }
    }

    /// The order asked for, checked against the shape; else `unchanged`, else the identity.
    fn mode_order(
        &self,
        shape: &Shape,
        unchanged: Option<&ModeOrder>,
    ) -> Result<ModeOrder, Failure> {
        Ok(match (&self.arguments.mode_order, unchanged) {
            (Some(order), _) => {
                let order = order.of(shape);
                if order.rank() != shape.rank() {
                    return Err(Failure::Usage(format!(
                        "--mode-order has {} dimensions, but the tensor has {}",
                        order.rank(),
                        shape.rank()
                    )));
                }
                order
            }
            (None, Some(order)) => order.clone(),
            (None, None) => ModeOrder::identity(shape.rank())?,
        })
    }

    fn read_file(&self) -> Result<(Content, Context), Failure> {
        let arguments = self.arguments;
        let _spinner = Progress::spinner("reading", arguments.quiet);
        let path = self.input.path.as_deref().unwrap_or_else(|| "-".as_ref());
        let file = File::open(path)?;
        let tensor = open::choose(&file, arguments.tensor.as_deref())?;
        let at = |error: &dyn std::fmt::Display| {
            Failure::at(&self.input, format_args!("tensor `{}`: {error}", tensor.name()))
        };
        let descriptor = tensor.descriptor();
        if let Some(quantization) = &descriptor.quantization
            && let Some(obstacle) = self.quantized_obstacle()
        {
            let scheme = quantization.name();
            return Err(at(&format_args!("its values are quantized ({scheme}); {obstacle}")));
        }
        let buffers = tensor.read()?;
        let content = match &descriptor.layout {
            LayoutDescriptor::Csf(_) => {
                let stored = buffers.csf()?;
                stored.tree().validate().map_err(|error| at(&error))?;
                self.convert_tree(stored)
            }
            LayoutDescriptor::Coo(_) => {
                let list = buffers.coo()?;
                list.validate().map_err(|error| at(&error))?;
                let values = list.values().clone();
                self.cast(values).and_then(|values| {
                    self.build(list.shape(), list.coordinates(), values.as_view(), None)
                })
            }
            layout => {
                let name = layout.name();
                return Err(at(&format_args!(
                    "its layout is {name}; only csf and coo can be converted"
                )));
            }
        };
        let content = content.map_err(|error| match error {
            Failure::Usage(_) => error,
            error => at(&error),
        })?;
        let metadata = file.metadata().iter().map(|(key, value)| (key.to_owned(), value.clone()));
        let own = descriptor.layout.buffer_count().map_or(0, usize::from);
        let parameters = buffers.buffers().get(own..).unwrap_or_default();
        let changes = arguments.element_type.is_some() || arguments.drop_zeros;
        let context = Context {
            name: Some(tensor.name().to_owned()),
            metadata: metadata.collect(),
            quantization: descriptor.quantization.clone().map(|q| (q, parameters.to_vec())),
            statistics: descriptor.statistics.filter(|_| !changes),
        };
        Ok((content, context))
    }

    /// What was asked for that needs numbers, where quantized values are only moved.
    fn quantized_obstacle(&self) -> Option<&'static str> {
        let arguments = self.arguments;
        [
            (self.output.is_text(), "text has no form for them"),
            (arguments.element_type.is_some(), "--type does not change them"),
            (arguments.drop_zeros, "--drop-zeros does not look at what they stand for"),
        ]
        .into_iter()
        .find_map(|(asked, obstacle)| asked.then_some(obstacle))
    }

    fn convert_tree(&self, stored: Tensor<Words, Buffer>) -> Result<Content, Failure> {
        let (tree, values) = stored.into_parts();
        let stored = Tensor::new(tree, self.cast(values)?)?;
        let unchanged = stored.tree().mode_order();
        let order = self.mode_order(stored.tree().shape(), Some(unchanged))?;
        if self.arguments.drop_zeros {
            let list = stored.to_coo();
            let values = list.values().as_view();
            return self.build(list.shape(), list.coordinates(), values, Some(unchanged));
        }
        Ok(match order == *unchanged {
            true => Content::Stored(stored),
            false => Content::Built(stored.to_mode_order(order)?),
        })
    }

    /// The values as the type asked for.
    fn cast(&self, values: Values<Buffer>) -> Result<Values<Buffer>, Failure> {
        match self.arguments.element_type {
            Some(to) if to != values.element_type() => Ok(cast(&values, to)?),
            _ => Ok(values),
        }
    }

    /// Builds a tree from the list of a Hurray file.
    fn build(
        &self,
        shape: &Shape,
        coordinates: &[u64],
        values: Values<&[u8]>,
        unchanged: Option<&ModeOrder>,
    ) -> Result<Content, Failure> {
        let tensor = Builder::new(shape.clone())
            .mode_order(self.mode_order(shape, unchanged)?)
            .drop_zeros(self.arguments.drop_zeros)
            .build(Indices::Rows(coordinates), values)?;
        Ok(Content::Built(tensor))
    }

    fn write(&self, tensor: &Tensor<&[u64], &[u8]>, context: Context) -> Result<(), Failure> {
        if !self.output.is_text() {
            let path = self.output.path.as_deref().unwrap_or_else(|| "-".as_ref());
            return self.write_file(path, tensor, context);
        }
        let quiet = self.arguments.quiet;
        let nnz = to_u64(tensor.tree().nnz());
        let progress = Progress::new("writing", Some(nnz), Unit::Entries, quiet);
        let set = |entries| progress.set(entries);
        let options = WriteOptions {
            index_base: self.arguments.index_base(),
            pattern: self.arguments.pattern,
            gzip: self.output.format == Format::CompressedText,
            progress: Some(&set),
            ..WriteOptions::default()
        };
        let Some(path) = &self.output.path else {
            return tns::write_csf(tensor, io::stdout(), &options).map_err(|error| match error {
                WriteError::Io(error) => Failure::Output(error),
                error => Failure::at(&self.input, error),
            });
        };
        let mut file = interrupt::removes(|| {
            let file = AtomicFile::create(path, self.arguments.force)?;
            let unfinished = file.unfinished()?;
            Ok((file, move || unfinished.remove()))
        })?;
        tns::write_csf(tensor, &mut file, &options).map_err(|error| match error {
            WriteError::Io(_) => Failure::at(&self.output, error),
            error => Failure::at(&self.input, error),
        })?;
        Ok(file.commit()?)
    }

    fn write_file(
        &self,
        path: &Path,
        tensor: &Tensor<&[u64], &[u8]>,
        context: Context,
    ) -> Result<(), Failure> {
        let arguments = self.arguments;
        let _spinner = Progress::spinner("writing", arguments.quiet);
        let mut options = WriterOptions { overwrite: arguments.force, ..WriterOptions::default() };
        if let Some(alignment) = arguments.alignment {
            options.data_buffer_alignment = alignment;
        }
        let mut writer = interrupt::removes(|| {
            let writer = Writer::create(path, options)?;
            let unfinished = writer.unfinished()?;
            Ok((writer, move || unfinished.remove()))
        })?;
        let given = |key: &str| arguments.metadata.iter().any(|(other, _)| other == key);
        for (key, value) in context.metadata.into_iter().filter(|(key, _)| !given(key)) {
            writer.set_metadata(key, value)?;
        }
        for (key, value) in &arguments.metadata {
            writer.set_metadata(key.as_str(), value.as_str())?;
        }
        let name = arguments.name.clone().or(context.name).unwrap_or_else(|| self.input.stem());
        let mut buffers = tensor.buffers();
        let mut descriptor = tensor.descriptor()?;
        if let Some((scheme, parameters)) = &context.quantization {
            descriptor = descriptor.with_quantization(scheme.clone())?;
            buffers.extend(parameters.iter().map(AsRef::as_ref));
        }
        let recorded = match arguments.statistics {
            true => Some(
                compute_statistics(tensor, &descriptor, &buffers)
                    .map_err(|error| Failure::at(&self.input, error))?,
            ),
            false => context.statistics,
        };
        if let Some(statistics) = recorded {
            descriptor = descriptor.with_statistics(statistics)?;
        }
        writer.tensor(&name, &descriptor, &buffers)?;
        Ok(writer.finish()?)
    }
}

/// The statistics of a tensor that is about to be written; of values that are no real numbers only
/// those that need no look at them.
fn compute_statistics(
    tensor: &Tensor<&[u64], &[u8]>,
    descriptor: &TensorDescriptor,
    buffers: &[&[u8]],
) -> Result<Statistics, NumberError> {
    let (tree, values) = (tensor.tree(), *tensor.values());
    let buffer = |index: usize| buffers.get(index).copied();
    let dequantizer = descriptor
        .quantization
        .as_ref()
        .map(|scheme| Dequantizer::new(scheme, tree.shape(), values.element_type(), buffer));
    match Numbers::new(values, dequantizer.transpose()?) {
        Ok(numbers) => tree.statistics(&numbers),
        Err(NumberError::NotReal { .. }) => Ok(statistics::of_structure(tree.shape(), tree.nnz())),
        Err(error) => Err(error),
    }
}

/// One line about a tensor that was written.
fn summary(tensor: &Tensor<&[u64], &[u8]>) -> String {
    let tree = tensor.tree();
    format!(
        "{} elements of {}, shape {}, mode order {}",
        tree.nnz(),
        tensor.values().element_type(),
        tree.shape(),
        tree.mode_order()
    )
}

/// The tensor over borrowed bytes, so that one writer serves all.
fn view<S: AsRef<[u64]>, B: AsRef<[u8]>>(
    tensor: &Tensor<S, B>,
) -> Result<Tensor<&[u64], &[u8]>, Failure> {
    Ok(Tensor::new(tensor.tree().as_view(), tensor.values().as_view())?)
}
