//! Files of a foreign encoder: what must be read is read, what must be refused is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hurray_format::{LayoutDescriptor, Value, Values};
use hurray_io::{Error, File, TensorBuffers, TensorRef};
use serde_json::Value as Json;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/conformance"))
}

fn list(name: &str) -> Vec<Json> {
    let text = fs::read_to_string(corpus().join(name)).unwrap();
    serde_json::from_str::<Vec<Json>>(&text).unwrap()
}

fn path(case: &Json) -> PathBuf {
    corpus().join(case["file"].as_str().unwrap())
}

fn map(path: &Path) -> File {
    // SAFETY: nobody changes the corpus.
    #[expect(unsafe_code, reason = "the corpus is never changed")]
    unsafe { File::map(path) }.unwrap()
}

/// The logical indices with leaf positions, walked level by level.
fn csf_entries(buffers: &TensorBuffers) -> Vec<(Vec<u64>, usize)> {
    let tensor = buffers.csf().unwrap();
    let tree = tensor.tree();
    let mut entries = vec![(vec![0; tree.rank()], 0)];
    for level in 0..tree.rank() {
        let (pos, crd) = tree.level(level);
        let dimension = tree.mode_order().dimension(level);
        let children = |(index, parent): (Vec<u64>, usize)| {
            let range =
                usize::try_from(pos[parent]).unwrap()..usize::try_from(pos[parent + 1]).unwrap();
            range.map(move |node| {
                let mut index = index.clone();
                index[dimension] = crd[node];
                (index, node)
            })
        };
        entries = entries.into_iter().flat_map(children).collect();
    }
    entries
}

fn coo_entries(buffers: &TensorBuffers) -> Vec<(Vec<u64>, usize)> {
    let coo = buffers.coo().unwrap();
    (0..coo.nnz()).map(|position| (coo.index(position).unwrap().to_vec(), position)).collect()
}

/// Whether a stored value is what the list says.
fn is_value<B: AsRef<[u8]>>(
    values: &Values<B>,
    position: usize,
    expected: &Json,
    are_bits: bool,
) -> bool {
    if are_bits {
        let packed = values.packed_bits(position);
        return packed.or_else(|| Some(values.bytes()[position])).map(u64::from)
            == expected.as_u64();
    }
    match values.get(position).unwrap() {
        Value::Float32(value) => Some(f64::from(value)) == expected.as_f64(),
        Value::Float64(value) => Some(value) == expected.as_f64(),
        Value::Int(value) => Some(value) == expected.as_i64(),
        Value::Uint(value) => Some(value) == expected.as_u64(),
        Value::Bool(value) => Some(value) == expected.as_bool(),
        Value::Complex64(value) => {
            Some(f64::from(value.re)) == expected[0].as_f64()
                && Some(f64::from(value.im)) == expected[1].as_f64()
        }
        Value::Complex128(value) => {
            Some(value.re) == expected[0].as_f64() && Some(value.im) == expected[1].as_f64()
        }
        _ => false,
    }
}

/// Holds a tensor against what the list says of it.
fn check(tensor: TensorRef<'_>, expected: &Json) {
    let Some(layout) = expected["layout"].as_str() else { return };
    let descriptor = tensor.descriptor();
    assert_eq!(Json::from(descriptor.shape.dimensions()), expected["shape"]);
    assert_eq!(descriptor.layout.name(), layout);
    assert_eq!(descriptor.layout.nnz(), expected["nnz"].as_u64());
    let element_type = expected["element_type"].as_str().unwrap();
    if !element_type.starts_with("extension") {
        assert_eq!(descriptor.element_type.to_string(), element_type);
    }
    if let LayoutDescriptor::Csf(csf) = &descriptor.layout {
        assert_eq!(Json::from(csf.mode_order.as_slice()), expected["mode_order"]);
    }

    let buffers = tensor.read().unwrap();
    let mut entries = if layout == "csf" { csf_entries(&buffers) } else { coo_entries(&buffers) };
    entries.sort();
    let indices: Vec<&Vec<u64>> = entries.iter().map(|(index, _)| index).collect();
    assert_eq!(serde_json::to_value(indices).unwrap(), expected["coordinates"]);
    let Some(expected_values) = expected["values"].as_array() else { return };
    let values = buffers.values().unwrap();
    let are_bits = expected["values_are"] == "bit patterns";
    assert_eq!(entries.len(), expected_values.len());
    for ((index, position), value) in entries.iter().zip(expected_values) {
        assert!(is_value(&values, *position, value, are_bits), "{index:?}: {value}");
    }
    let Some(expected_numbers) = expected["dequantized"].as_array() else { return };
    let dequantizer = buffers.dequantizer().unwrap().unwrap();
    for ((index, position), number) in entries.iter().zip(expected_numbers) {
        let found = dequantizer.dequantize(&values.get(*position).unwrap(), index).unwrap();
        assert_eq!(Some(f64::from(found)), number.as_f64(), "{index:?}");
    }
}

#[test]
fn every_accepted_file_holds_what_is_listed() {
    let cases = list("accept.json");
    assert!(cases.len() >= 40);
    for case in cases {
        let path = path(&case);
        for file in [File::open(&path).unwrap(), map(&path)] {
            let tensors = case["tensors"].as_array().unwrap();
            assert_eq!(file.len(), tensors.len(), "{}", path.display());
            for expected in tensors {
                let tensor = file.tensor(expected["name"].as_str().unwrap()).unwrap();
                check(tensor, expected);
                tensor.read().unwrap().values().unwrap();
            }
            file.verify().unwrap();
            if let Some(count) = case["kv_count"].as_u64() {
                assert_eq!(u64::try_from(file.metadata().len()).unwrap(), count);
            }
        }
    }
}

/// How far a reader gets with a refused file.
const STEPS: [&str; 3] = ["open", "tensor", "verify"];

/// The step in which a file is refused, and why, without the path.
fn refusal(path: &Path) -> Option<(&'static str, String)> {
    let (step, error) = match File::open(path) {
        Err(error @ Error::Tensor { .. }) => (STEPS[1], error),
        Err(error) => (STEPS[0], error),
        Ok(file) => (STEPS[2], file.verify().err()?),
    };
    let error = error.to_string();
    let text = error.strip_prefix(&format!("{}: ", path.display()));
    Some((step, text.unwrap_or_else(|| panic!("no path in `{error}`")).to_owned()))
}

#[test]
fn every_refused_file_is_refused_in_time_and_says_why() {
    let cases = list("reject.json");
    assert!(cases.len() >= 181);
    let place = |step: &Json| STEPS.iter().position(|&known| step == known).unwrap();
    let mut table = String::new();
    for case in cases {
        let file = case["file"].as_str().unwrap();
        let Some((step, text)) = refusal(&path(&case)) else { panic!("{file} is accepted") };
        assert!(place(&step.into()) <= place(&case["latest"]), "{file}: {step}: {text}");
        table += &format!("{file} | {} | {step} | {text}\n", case["why"].as_str().unwrap());
    }
    insta::assert_snapshot!("refused", table);
}

#[test]
fn permissive_mode_reports_what_it_can_and_refuses_the_rest() {
    for case in list("reject.json") {
        let (path, why) = (path(&case), case["why"].as_str().unwrap());
        match File::options().permissive().open(&path) {
            Ok(file) => {
                // Even what can be reported is not valid.
                assert!(file.verify().is_err(), "{why}");
                if case["permissive"] == "refused" {
                    assert_eq!(case["latest"], "verify", "{why}");
                    continue;
                }
                let descriptor = file.get(0).unwrap().descriptor();
                assert!(descriptor.shape.rank() >= 2, "{why}");
                // Whatever it gives, it gives it without looking at data it does not understand.
                if let Ok(buffers) = file.get(0).unwrap().read() {
                    let _ = (buffers.csf(), buffers.coo(), buffers.values());
                }
            }
            Err(error) => assert_eq!(case["permissive"], "refused", "{why}: {error}"),
        }
    }
}

/// Whether the reference reads all of a file. In a process of its own, since some files make it
/// panic or ask for more memory than there is.
fn is_read_by_reference(path: &Path) -> bool {
    let output = Command::new(env!("CARGO_BIN_EXE_read-with-reference")).arg(path).output();
    output.unwrap().status.success()
}

#[test]
fn the_reference_reads_these_refused_files_without_complaint() {
    let cases = list("reject.json");
    let mut lines = String::new();
    let mut read = 0;
    let text = include_str!("../../../docs/differences.md");
    for case in cases.iter().filter(|case| is_read_by_reference(&path(case))) {
        let file = case["file"].as_str().unwrap();
        lines += &format!("{file} | {}\n", case["why"].as_str().unwrap());
        read += 1;
        let name = path(case).file_stem().unwrap().to_str().unwrap().to_owned();
        // The many files about quantization are named together.
        let named = name.starts_with("quant_") || text.contains(&format!("`{name}`"));
        assert!(named, "{name} is not in docs/differences.md");
    }
    insta::assert_snapshot!("read_by_the_reference", lines);
    let count = format!("reads {read} of the {}", cases.len());
    assert!(text.contains(&count), "docs/differences.md does not say that it {count}");
}

#[test]
fn the_reference_reads_every_accepted_file() {
    for case in list("accept.json") {
        assert!(is_read_by_reference(&path(&case)), "{}", case["file"]);
    }
}
