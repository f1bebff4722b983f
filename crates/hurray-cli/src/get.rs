//! `hurray get`: single values by their logical index.

use std::path::PathBuf;

use clap::Args;
use hurray_csf::{Compressed, Coo, IndexError, Tensor};
use hurray_format::cast::to_usize;
use hurray_format::element::Complex;
use hurray_format::{LayoutDescriptor, Shape, Value};
use hurray_io::{Buffer, TensorBuffers, Words};
use serde::Serialize;
use serde_json::{Number, json};

use crate::argument::{self, Index};
use crate::failure::Failure;
use crate::open;
use crate::output;

/// Print the values at logical indices, one per line
///
/// Indices count from 0, whatever a text did that the file was made from. An element that is not
/// stored is 0; quantized ones are printed as the numbers that they stand for. The file is mapped,
/// and only what the way to the elements needs is read from it.
#[derive(Args)]
#[command(after_help = "Example:\n  hurray get nips.hrry 0,5,12,3 0,5,12,4")]
pub(crate) struct Arguments {
    /// A Hurray file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Indices such as 1,1,2
    #[arg(value_name = "INDEX", required = true, value_parser = argument::index)]
    indices: Vec<Index>,
    /// Which tensor, if there are several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Print a JSON list that also says whether the elements are stored
    #[arg(long)]
    json: bool,
}

/// What is at an index.
#[derive(Serialize)]
struct Element<'a> {
    index: &'a [u64],
    value: serde_json::Value,
    stored: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = open::map(&arguments.file)?;
    let tensor = open::choose(&file, arguments.tensor.as_deref())?;
    let at = |error: &dyn std::fmt::Display| {
        let (path, name) = (arguments.file.display(), tensor.name());
        Failure::at(path, format_args!("tensor `{name}`: {error}"))
    };
    let buffers = tensor.read()?;
    let elements = Elements::new(&buffers)?;
    let values = buffers.values()?;
    let is_quantized = tensor.descriptor().quantization.is_some();
    let numbers = is_quantized.then(|| buffers.numbers()).transpose()?;
    let mut found = Vec::new();
    for Index(index) in &arguments.indices {
        let position = elements.find(index).map_err(|error| match error {
            IndexError::OutOfRange { .. } => at(&format_args!("{error}; indices count from 0")),
            error => at(&error),
        })?;
        let value = match (position, &numbers) {
            (None, _) => None,
            (Some(position), None) => values.get(position),
            (Some(position), Some(numbers)) => {
                Some(numbers.value(index, position).map_err(|error| at(&error))?)
            }
        };
        found.push((&index[..], value));
    }
    if arguments.json {
        let elements = found.into_iter().map(|(index, value)| {
            let stored = value.is_some();
            Element { index, value: value.map_or(json!(0), to_json), stored }
        });
        return output::print_json(&elements.collect::<Vec<_>>());
    }
    output::print(|out| {
        found.iter().try_for_each(|(_, value)| match value {
            Some(value) => writeln!(out, "{value}"),
            None => writeln!(out, "0"),
        })
    })
}

/// Where the elements of a tensor are, by index.
enum Elements {
    Tree(Tensor<Words, Buffer>),
    List(Coo<Words, Buffer>),
    Matrix(Compressed<Words>),
    /// In row-major order, or with dimensions reversed.
    Dense {
        shape: Shape,
        is_reversed: bool,
    },
}

impl Elements {
    fn new(buffers: &TensorBuffers) -> Result<Self, Failure> {
        Ok(match &buffers.descriptor().layout {
            LayoutDescriptor::Csf(_) => Elements::Tree(buffers.csf()?),
            LayoutDescriptor::Coo(_) => Elements::List(buffers.coo()?),
            LayoutDescriptor::Csr(_) | LayoutDescriptor::Csc(_) => {
                Elements::Matrix(buffers.compressed()?)
            }
            layout => Elements::Dense {
                shape: buffers.descriptor().shape.clone(),
                is_reversed: *layout == LayoutDescriptor::ColumnMajor,
            },
        })
    }

    /// The position of the value at an index, `None` where nothing is stored.
    fn find(&self, index: &[u64]) -> Result<Option<usize>, IndexError> {
        match self {
            Elements::Tree(tensor) => tensor.tree().lookup(index),
            Elements::List(list) => list.lookup(index),
            Elements::Matrix(matrix) => matrix.lookup(index),
            Elements::Dense { shape, is_reversed } => {
                check(shape, index)?;
                let mut dimensions: Vec<usize> = (0..index.len()).collect();
                if *is_reversed {
                    dimensions.reverse();
                }
                // Fits: the shape has as many elements as there are values.
                let position = dimensions.into_iter().fold(0, |position, dimension| {
                    position * shape.dimensions()[dimension] + index[dimension]
                });
                Ok(Some(to_usize(position)))
            }
        }
    }
}

/// Checks that a dense tensor has an element at an index.
fn check(shape: &Shape, index: &[u64]) -> Result<(), IndexError> {
    if index.len() != shape.rank() {
        return Err(IndexError::Rank { found: index.len(), rank: shape.rank() });
    }
    for (dimension, (&coordinate, &size)) in index.iter().zip(shape.dimensions()).enumerate() {
        if coordinate >= size {
            return Err(IndexError::OutOfRange { dimension, coordinate, size });
        }
    }
    Ok(())
}

/// Numbers that JSON does not have are told by name, complex ones as a list of two.
fn to_json(value: Value) -> serde_json::Value {
    let real = |number: f64| match Number::from_f64(number) {
        Some(number) => number.into(),
        None => json!(value.to_string()),
    };
    match &value {
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Uint(value) => json!(value),
        // By way of its shortest decimal form: 0.1, not 0.10000000149011612.
        Value::Float32(number) => real(value.to_string().parse().unwrap_or(f64::from(*number))),
        Value::Float64(number) => real(*number),
        Value::Complex64(Complex { re, im }) => json!([re, im]),
        Value::Complex128(Complex { re, im }) => json!([re, im]),
        other => json!(other.to_string()),
    }
}
