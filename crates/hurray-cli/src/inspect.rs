//! `hurray inspect`: what a file says about itself, without a look at its data.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hurray_format::cast::to_u64;
use hurray_format::container::{MetadataArray, MetadataValue};
use hurray_format::descriptor::{Moments, NonFinite, Pattern, Statistics, ValueRange};
use hurray_format::quantization::{Mxfp, Nf4};
use hurray_format::{ElementType, LayoutDescriptor, Quantization, Shape};
use hurray_io::{File, TensorRef};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::{Failure, one_line};
use crate::output;

/// List the tensors of a Hurray file, and its metadata
///
/// Reads the descriptors only, so it takes no longer for a large file than for a small one. What
/// the data hold is not looked at: `verify` does that.
#[derive(Args)]
#[command(after_help = "Example:\n  hurray inspect nips.hrry --json")]
pub(crate) struct Arguments {
    /// A Hurray file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Show what can be reached of tensors of unknown layouts and quantization schemes
    #[arg(long)]
    permissive: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = File::options();
    let options = if arguments.permissive { options.permissive() } else { options };
    let file = options.open(&arguments.file)?;
    let dump = Dump::new(&file);
    match arguments.json {
        true => output::print_json(&dump),
        false => output::print(|out| dump.write(out)),
    }
}

/// All that is known of a file.
#[derive(Serialize)]
struct Dump {
    file: String,
    data_buffer_alignment: u32,
    metadata: Vec<(String, Value)>,
    tensors: Vec<TensorDump>,
}

/// All that is known of a tensor; a field that its layout does not have is left out.
#[derive(Serialize)]
struct TensorDump {
    name: String,
    #[serde(serialize_with = "dimensions")]
    shape: Shape,
    element_type: String,
    layout: &'static str,
    layout_tag: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_order: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nnz: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    density: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantization: Option<Fields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Fields>,
    byte_offset: u64,
    buffers: Vec<BufferDump>,
}

#[derive(Serialize)]
struct BufferDump {
    role: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    device: String,
    memory_class: String,
}

/// What a section of the descriptor holds, by the names of its fields.
struct Fields(Vec<(&'static str, Value)>);

impl Serialize for Fields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, value)) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            match value {
                // Without the quotes of JSON.
                Value::String(value) => write!(f, "{comma}{name} {value}")?,
                value => write!(f, "{comma}{name} {value}")?,
            }
        }
        Ok(())
    }
}

/// A dynamic dimension, whose size is not known, is null.
fn dimensions<S: serde::Serializer>(shape: &Shape, serializer: S) -> Result<S::Ok, S::Error> {
    let known = |&size: &u64| (size != Shape::DYNAMIC).then_some(size);
    serializer.collect_seq(shape.dimensions().iter().map(known))
}

impl Dump {
    fn new(file: &File) -> Self {
        let metadata = file.metadata().iter();
        Self {
            file: file.path().display().to_string(),
            data_buffer_alignment: file.header().data_buffer_alignment,
            metadata: metadata.map(|(key, value)| (key.to_owned(), to_json(value))).collect(),
            tensors: file.tensors().map(TensorDump::new).collect(),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let count = match self.tensors.len() {
            0 => "no tensors".to_owned(),
            1 => "1 tensor".to_owned(),
            count => format!("{count} tensors"),
        };
        let (file, alignment) = (one_line(&self.file), self.data_buffer_alignment);
        writeln!(out, "{file}: {count}, buffers aligned to {alignment}")?;
        for (key, value) in &self.metadata {
            let line = format!("metadata {} = {value}", Value::from(key.as_str()));
            writeln!(out, "{}", one_line(&line))?;
        }
        self.tensors.iter().try_for_each(|tensor| tensor.write(out))
    }
}

impl TensorDump {
    fn new(tensor: TensorRef<'_>) -> Self {
        let descriptor = tensor.descriptor();
        let layout = &descriptor.layout;
        let mode_order = match layout {
            LayoutDescriptor::Csf(csf) => Some(csf.mode_order.clone()),
            _ => None,
        };
        let nnz = layout.nnz();
        let offsets = tensor.buffer_ranges();
        let buffers = descriptor.buffers.iter().enumerate().map(|(number, handle)| BufferDump {
            role: layout.buffer_role(number).to_string(),
            bytes: handle.byte_size,
            offset: offsets.get(number).map(|range| range.start),
            device: handle.device.to_string(),
            memory_class: handle.memory_class.to_string(),
        });
        Self {
            name: tensor.name().to_owned(),
            shape: descriptor.shape.clone(),
            element_type: descriptor.element_type.to_string(),
            layout: layout.name(),
            layout_tag: layout.tag(),
            mode_order,
            nnz,
            density: nnz.and_then(|nnz| density(nnz, &descriptor.shape)),
            nodes: descriptor.node_counts(),
            quantization: descriptor.quantization.as_ref().map(quantization),
            statistics: descriptor.statistics.as_ref().map(statistics),
            byte_offset: descriptor.byte_offset,
            buffers: buffers.collect(),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        // JSON leaves some control characters as they are.
        writeln!(out, "tensor {}", one_line(&Value::from(self.name.as_str()).to_string()))?;
        writeln!(out, "  shape         {}", self.shape)?;
        writeln!(out, "  element type  {}", self.element_type)?;
        match self.layout {
            "unknown" | "private" => {
                writeln!(out, "  layout        {} ({:#04x})", self.layout, self.layout_tag)?;
            }
            name => writeln!(out, "  layout        {name}")?,
        }
        if let Some(mode_order) = &self.mode_order {
            writeln!(out, "  mode order    {mode_order:?}")?;
        }
        if let Some(nnz) = self.nnz {
            writeln!(out, "  nnz           {nnz}")?;
        }
        if let Some(density) = self.density {
            writeln!(out, "  density       {density:.3e}")?;
        }
        if let Some(nodes) = &self.nodes {
            writeln!(out, "  nodes         {nodes:?}")?;
        }
        if let Some(quantization) = &self.quantization {
            writeln!(out, "  quantization  {quantization}")?;
        }
        if let Some(statistics) = &self.statistics {
            writeln!(out, "  statistics    {statistics}")?;
        }
        if self.byte_offset != 0 {
            writeln!(out, "  byte offset   {}", self.byte_offset)?;
        }
        for (number, buffer) in self.buffers.iter().enumerate() {
            write!(out, "  buffer {number:<6} {:<10} {:>12} bytes", buffer.role, buffer.bytes)?;
            if let Some(offset) = buffer.offset {
                write!(out, " at {offset}")?;
            }
            if (buffer.device.as_str(), buffer.memory_class.as_str()) != ("CPU", "standard") {
                write!(out, ", {} {}", buffer.device, buffer.memory_class)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Stored elements among all, `None` if a dimension is not known or there are no elements. The
/// product of the dimensions may be far beyond any integer.
#[expect(clippy::cast_precision_loss, reason = "a ratio to look at")]
fn density(nnz: u64, shape: &Shape) -> Option<f64> {
    let elements: f64 = shape.dimensions().iter().map(|&size| size as f64).product();
    (!shape.is_dynamic() && elements > 0.0).then(|| nnz as f64 / elements)
}

/// A scheme with its parameters, or the buffers that they are in.
fn quantization(quantization: &Quantization) -> Fields {
    let mut fields = vec![("scheme", json!(quantization.name()))];
    let zero_index = |index: &Option<u32>| index.map(|index| ("zero_index", json!(index)));
    match quantization {
        Quantization::PerTensor(scheme) => fields.extend([
            ("scale", number(scheme.scale.into())),
            ("zero_point", json!(scheme.zero_point)),
        ]),
        Quantization::PerChannel(scheme) => {
            fields.push(("axis", json!(scheme.axis)));
            fields.push(("scale_index", json!(scheme.scale_index)));
            fields.extend(zero_index(&scheme.zero_index));
        }
        Quantization::PerBlock(scheme) => {
            let scale_type = ElementType::from_tag(scheme.scale_type.tag());
            fields.push(("axis", json!(scheme.axis)));
            fields.push(("block", json!(scheme.block)));
            fields.push(("scale_index", json!(scheme.scale_index)));
            fields.extend(zero_index(&scheme.zero_index));
            fields.extend(scale_type.map(|name| ("scale_type", json!(name.to_string()))));
        }
        Quantization::Nf4(Nf4 { axis, block, scale_index })
        | Quantization::Mxfp(Mxfp { axis, block, scale_index }) => fields.extend([
            ("axis", json!(axis)),
            ("block", json!(block)),
            ("scale_index", json!(scale_index)),
        ]),
        other => fields.push(("tag", json!(format!("{:#04x}", other.scheme())))),
    }
    Fields(fields)
}

/// The statistics that are known.
fn statistics(statistics: &Statistics) -> Fields {
    let mut fields = Vec::new();
    fields.extend(statistics.nnz.map(|nnz| ("nnz", json!(nnz))));
    fields.extend(statistics.sparsity.map(|sparsity| ("sparsity", number(sparsity))));
    if let Some(ValueRange { min, max, abs_max }) = statistics.range {
        fields.extend([("min", min), ("max", max), ("abs_max", abs_max)].map(named));
    }
    if let Some(Moments { mean, stddev }) = statistics.moments {
        fields.extend([("mean", mean), ("stddev", stddev)].map(named));
    }
    if let Some(Pattern { n, m }) = statistics.pattern {
        fields.extend([("n", json!(n)), ("m", json!(m))]);
    }
    if let Some(NonFinite { has_nan, has_inf }) = statistics.non_finite {
        fields.extend([("has_nan", json!(has_nan)), ("has_inf", json!(has_inf))]);
    }
    Fields(fields)
}

fn named((name, value): (&'static str, f64)) -> (&'static str, Value) {
    (name, number(value))
}

/// A number as JSON, which does not have all of them: the others are told by name.
fn number(value: f64) -> Value {
    match value.is_finite() {
        true => json!(value),
        false => Value::from(value.to_string()),
    }
}

/// Metadata as JSON. Bytes are told by their number.
fn to_json(value: &MetadataValue) -> Value {
    fn all<T>(values: &[T], each: impl Fn(&T) -> Value) -> Value {
        values.iter().map(each).collect()
    }
    let real = |value: &f64| number(*value);
    let bytes = |bytes: &Vec<u8>| json!({ "bytes": to_u64(bytes.len()) });
    match value {
        MetadataValue::String(text) => json!(text),
        MetadataValue::I64(value) => json!(value),
        MetadataValue::U64(value) => json!(value),
        MetadataValue::F64(value) => real(value),
        MetadataValue::Bool(value) => json!(value),
        MetadataValue::Bytes(value) => bytes(value),
        MetadataValue::Array(array) => match array {
            MetadataArray::String(values) => json!(values),
            MetadataArray::I64(values) => json!(values),
            MetadataArray::U64(values) => json!(values),
            MetadataArray::F64(values) => all(values, real),
            MetadataArray::Bool(values) => json!(values),
            MetadataArray::Bytes(values) => all(values, bytes),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_is_not_afraid_of_large_shapes() {
        let shape = |dimensions: &[u64]| Shape::new(dimensions).unwrap();
        assert_eq!(density(4, &shape(&[2, 3, 4])), Some(4.0 / 24.0));
        assert_eq!(density(1, &shape(&[1 << 40, 1 << 40])), Some(2f64.powi(-80)));
        assert_eq!(density(0, &shape(&[0, 3, 4])), None);
        assert_eq!(density(4, &shape(&[2, Shape::DYNAMIC])), None);
    }

    #[test]
    fn numbers_that_json_does_not_have_are_told_by_name() {
        let array = MetadataValue::from(vec![0.5, f64::NAN, f64::INFINITY]);
        assert_eq!(to_json(&array), json!([0.5, "NaN", "inf"]));
        assert_eq!(to_json(&MetadataValue::from(vec![1u8, 2])), json!({ "bytes": 2 }));
    }
}
