//! `hurray inspect`, `verify`, `get` and `demo`, and what all commands have in common.

mod common;

use std::fs;

use common::{EXAMPLE, Folder};
use hurray_format::layout::{CscLayout, CsrLayout};
use hurray_format::{BufferHandle, ElementType, LayoutDescriptor, Shape, TensorDescriptor, Values};
use hurray_io::{Writer, WriterOptions};
use serde_json::{Value, json};

const ACCEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/conformance/accept");
const REJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/conformance/reject");

#[test]
fn inspect_tells_what_the_descriptor_says() {
    let folder = Folder::with_example();
    insta::assert_snapshot!(folder.run("inspect a.hrry").ok(), @r#"
    a.hrry: 1 tensor, buffers aligned to 4096
    tensor "a"
      shape         [2, 3, 4]
      element type  float32
      layout        csf
      mode order    [0, 1, 2]
      nnz           4
      density       1.667e-1
      nodes         [2, 3, 4]
      buffer 0      values               16 bytes at 4096
      buffer 1      pos_0                16 bytes at 8192
      buffer 2      crd_0                16 bytes at 12288
      buffer 3      pos_1                24 bytes at 16384
      buffer 4      crd_1                24 bytes at 20480
      buffer 5      pos_2                32 bytes at 24576
      buffer 6      crd_2                32 bytes at 28672
    "#);
}

#[test]
fn names_from_files_do_not_drive_the_terminal() {
    let folder = Folder::with_example();
    let name = "x\u{1b}[1m\u{7f}\u{9b}31m\n";
    let file = format!("{name}.hrry");
    let path = folder.path("");
    let metadata = format!("{name}={name}");
    let convert = ["convert", "a.hrry", &file, "--name", name, "--metadata", &metadata];
    let output = common::run_in(&path, &convert, b"").ok();
    let output = output + &common::run_in(&path, &["inspect", &file], b"").ok();
    assert!(output.lines().all(|line| !line.contains(char::is_control)), "{output:?}");
    // As many lines as without such names, and one of metadata.
    assert_eq!(output.lines().count(), 1 + 1 + 1 + 15, "{output}");
}

#[test]
fn inspect_gives_the_same_as_json() {
    let folder = Folder::with_example();
    folder.run("convert a.hrry b.hrry --metadata k=v --quiet").ok();
    let dump: Value = serde_json::from_str(&folder.run("inspect --json b.hrry").ok()).unwrap();
    assert_eq!(dump["metadata"], json!([["k", "v"]]));
    let tensor = &dump["tensors"][0];
    assert_eq!(tensor["shape"], json!([2, 3, 4]));
    assert_eq!(tensor["mode_order"], json!([0, 1, 2]));
    assert_eq!(tensor["nodes"], json!([2, 3, 4]));
    assert_eq!(tensor["nnz"], json!(4));
    assert_eq!(
        tensor["buffers"][6],
        json!({ "role": "crd_2", "bytes": 32, "offset": 28672, "device": "CPU",
                "memory_class": "standard" })
    );
}

#[test]
fn inspect_shows_what_can_be_reached_in_permissive_mode() {
    let folder = Folder::new();
    let file = format!("{REJECT}/layout_tag_41.hrry");
    let refused = folder.run(&format!("inspect {file}"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("0x41"), "{}", refused.stderr);
    let text = folder.run(&format!("inspect --permissive {file}")).ok();
    assert!(text.contains("layout        unknown (0x41)"), "{text}");
    assert!(text.contains("shape         [2, 3, 4]"), "{text}");
}

#[test]
fn permissive_inspection_reports_exactly_what_the_corpus_says() {
    let folder = Folder::new();
    let table = fs::read_to_string(format!("{REJECT}.json")).unwrap();
    let table: Vec<Value> = serde_json::from_str(&table).unwrap();
    for entry in &table {
        let file = entry["file"].as_str().unwrap();
        let run = folder.run(&format!("inspect --permissive {REJECT}/../{file}"));
        if entry["permissive"] == "reported" {
            run.ok();
        } else if entry["latest"] != "verify" {
            // What only a look at the data shows is left to `verify`.
            assert_eq!(run.code, Some(1), "{file}: {run:?}");
        }
    }
}

#[test]
fn verify_reads_to_the_last_index_and_goes_on_after_a_refusal() {
    let folder = Folder::with_example();
    fs::copy(format!("{REJECT}/crd2_bound.hrry"), folder.path("bad.hrry")).unwrap();
    // Nothing is wrong with the descriptor.
    folder.run("inspect bad.hrry").ok();
    let run = folder.run("verify bad.hrry a.hrry no.hrry");
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), "a.hrry: ok, 1 tensor\n"));
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stderr);
    assert!(lines[0].starts_with("error: bad.hrry: tensor `x`: invariant 5 broken at crd_2["));
    assert!(lines[1].starts_with("error: no.hrry: cannot "), "{}", lines[1]);
}

#[test]
fn get_prints_one_value_per_line_and_0_for_what_is_not_stored() {
    let folder = Folder::with_example();
    assert_eq!(folder.run("get a.hrry 1,1,2 0,0,0 0,0,1").ok(), "4\n0\n1\n");
    folder.run("convert a.hrry b.hrry --mode-order 2,0,1 --quiet").ok();
    assert_eq!(folder.run("get b.hrry 1,1,2 0,2,3").ok(), "4\n2\n");
    let found: Value =
        serde_json::from_str(&folder.run("get a.hrry --json 1,1,2 0,0,0").ok()).unwrap();
    assert_eq!(
        found,
        json!([
            { "index": [1, 1, 2], "value": 4.0, "stored": true },
            { "index": [0, 0, 0], "value": 0, "stored": false },
        ])
    );
}

#[test]
fn an_index_that_the_tensor_does_not_have_is_refused() {
    let folder = Folder::with_example();
    folder.run("get a.hrry 0,0,0 0,3,0").fails(
        1,
        "a.hrry: tensor `a`: coordinate 3 is outside dimension 1 of size 3; indices count from 0",
    );
    folder
        .run("get a.hrry 0,0")
        .fails(1, "a.hrry: tensor `a`: the index has 2 coordinates, but the tensor has rank 3");
    folder.run("get a.hrry 0,0,x").fails(
        2,
        "invalid value '0,0,x' for '<INDEX>...': `x` is not a whole number; give whole numbers \
         with commas between them, such as 4,5,6; see --help",
    );
    assert_eq!(folder.run("get a.hrry -1,0,0").code, Some(2));
}

#[test]
fn get_finds_elements_of_every_sparse_layout_and_type() {
    let folder = Folder::new();
    let get =
        |file: &str, index: &str| folder.run(&format!("get {ACCEPT}/{file}.hrry {index}")).ok();
    assert_eq!(get("coo", "1,1,2 0,0,0"), "4\n0\n");
    assert_eq!(get("coo_unsorted", "1,1,2 0,0,0"), "4\n0\n");
    // Stored as int8 with scale 0.5 and zero point -3; what is not stored is 0 all the same.
    let table = fs::read_to_string(format!("{ACCEPT}.json")).unwrap();
    let table: Vec<Value> = serde_json::from_str(&table).unwrap();
    let quantized = ["quant_per_tensor", "quant_per_block", "quant_mxfp8", "quant_mxint4"];
    for name in quantized {
        let file = format!("accept/{name}.hrry");
        let entry = table.iter().find(|entry| entry["file"] == file).unwrap();
        let tensor = &entry["tensors"][0];
        let elements = tensor["coordinates"].as_array().unwrap().iter();
        for (index, value) in elements.zip(tensor["dequantized"].as_array().unwrap()) {
            let index: Vec<String> =
                index.as_array().unwrap().iter().map(Value::to_string).collect();
            let found: f64 = get(name, &index.join(",")).trim().parse().unwrap();
            assert_eq!(Some(found), value.as_f64(), "{name} at {index:?}");
        }
    }
}

#[test]
fn get_finds_elements_of_matrices_and_dense_tensors() {
    let folder = Folder::new();
    let shape = Shape::new([2, 3]).unwrap();
    // 1 2 0
    // 0 0 3
    let values = Values::from_slice(&[1i16, 2, 3]);
    let by_row = [&[0u64, 1, 2][..], &[0, 2, 3]];
    let by_column = [&[0u64, 0, 1][..], &[0, 1, 2, 3]];
    let dense = |values: &[i16; 6]| values.map(i16::to_le_bytes).concat();
    let files = [
        ("csr", LayoutDescriptor::Csr(CsrLayout::new(3)), &by_row[..]),
        ("csc", LayoutDescriptor::Csc(CscLayout::new(3)), &by_column[..]),
        ("row", LayoutDescriptor::RowMajor, &[]),
        ("column", LayoutDescriptor::ColumnMajor, &[]),
    ];
    for (name, layout, arrays) in files {
        let elements = match name {
            "row" => dense(&[1, 2, 0, 0, 0, 3]),
            "column" => dense(&[1, 0, 2, 0, 0, 3]),
            _ => values.bytes().to_vec(),
        };
        let mut buffers = vec![&elements[..]];
        buffers.extend(arrays.iter().map(|words| Values::from_slice(words).into_inner()));
        let handles = buffers.iter().map(|bytes| BufferHandle::cpu(bytes.len() as u64)).collect();
        let descriptor = TensorDescriptor::new(shape.clone(), ElementType::Int16, layout, handles);
        let path = folder.path(&format!("{name}.hrry"));
        let mut writer = Writer::create(path, WriterOptions::default()).unwrap();
        writer.tensor("m", &descriptor, &buffers).unwrap();
        writer.finish().unwrap();

        folder.run(&format!("verify {name}.hrry")).ok();
        let all = format!("get {name}.hrry 0,0 0,1 0,2 1,0 1,1 1,2");
        assert_eq!(folder.run(&all).ok(), "1\n2\n0\n0\n0\n3\n", "{name}");
        folder.run(&format!("get {name}.hrry 2,0")).fails(
            1,
            &format!("{name}.hrry: tensor `m`: coordinate 2 is outside dimension 0 of size 2; indices count from 0"),
        );
        folder.run(&format!("get {name}.hrry 0")).fails(
            1,
            &format!(
                "{name}.hrry: tensor `m`: the index has 1 coordinates, but the tensor has rank 2"
            ),
        );
    }
}

#[test]
fn inspect_shows_recorded_statistics_and_the_parameters_of_a_scheme() {
    let folder = Folder::new();
    let lines = |file: &str, field: &str| -> Vec<String> {
        let text = folder.run(&format!("inspect {ACCEPT}/{file}.hrry")).ok();
        text.lines().map(str::trim).filter(|l| l.starts_with(field)).map(str::to_owned).collect()
    };
    let json = |file: &str| -> Value {
        let text = folder.run(&format!("inspect --json {ACCEPT}/{file}.hrry")).ok();
        serde_json::from_str::<Value>(&text).unwrap()["tensors"][0].clone()
    };
    assert_eq!(
        lines("quant_per_tensor", "quantization"),
        ["quantization  scheme per_tensor, scale 0.5, zero_point -3"]
    );
    assert_eq!(
        json("quant_per_tensor")["quantization"],
        json!({ "scheme": "per_tensor", "scale": 0.5, "zero_point": -3 })
    );
    let scheme = &json("quant_shared_buffer")["quantization"];
    assert_eq!((&scheme["scheme"], &scheme["scale_index"]), (&json!("per_block"), &json!(7)));
    assert_eq!(scheme["scale_index"], scheme["zero_index"]);
    assert_eq!(lines("seed_example", "statistics"), [] as [String; 0]);
    assert_eq!(lines("statistics", "statistics").len(), 1);
    assert_eq!(json("statistics")["statistics"]["nnz"], json!(4));
    assert!(json("seed_example").get("statistics").is_none());
}

#[test]
fn get_asks_for_the_tensor_if_there_are_several() {
    let folder = Folder::new();
    let file = format!("{ACCEPT}/many_tensors_sorted.hrry");
    let refused = folder.run(&format!("get {file} 0,0,0"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.ends_with("; choose one with --tensor\n"), "{}", refused.stderr);
    let dump: Value =
        serde_json::from_str(&folder.run(&format!("inspect --json {file}")).ok()).unwrap();
    let is_csf = |tensor: &&Value| tensor["layout"] == "csf";
    let tensor = dump["tensors"].as_array().unwrap().iter().find(is_csf).unwrap();
    let index = vec!["0"; tensor["shape"].as_array().unwrap().len()].join(",");
    folder.run(&format!("get {file} {index} --tensor {}", tensor["name"].as_str().unwrap())).ok();
}

#[test]
fn demo_does_the_whole_job() {
    let folder = Folder::new();
    let text = folder.run("demo --nnz 2000").ok();
    let first = "A tensor of shape [";
    assert!(text.starts_with(first), "{text}");
    for step in ["write text", "convert", "open", "verify", "look up", "iterate"] {
        assert!(text.lines().any(|line| line.starts_with(step)), "{step}: {text}");
    }
    assert!(text.contains("2000 of 2000 elements found"), "{text}");
}

#[test]
fn every_command_has_an_example_in_its_help() {
    let folder = Folder::new();
    for command in ["", "convert", "inspect", "verify", "get", "demo"] {
        let help = folder.run(&format!("{command} --help")).ok();
        assert!(help.contains(&format!("\n  hurray {command}")), "{help}");
        assert!(help.contains("Example"), "{help}");
    }
}

#[test]
fn wrong_usage_is_told_in_one_line_with_exit_code_2() {
    let folder = Folder::new();
    folder
        .run("inspect")
        .fails(2, "the following required arguments were not provided: <FILE>; see --help");
    folder.run("frobnicate").fails(2, "unrecognized subcommand 'frobnicate'; see --help");
    assert_eq!(folder.run("").code, Some(2));
    assert_eq!(folder.run("verify").code, Some(2));
    assert_eq!(folder.run("get a.hrry").code, Some(2));
}

#[test]
fn messages_do_not_pass_control_characters_on() {
    let folder = Folder::new();
    folder.write("a\u{1b}[1m.hrry", EXAMPLE);
    let refused = folder.run("inspect a\u{1b}[1m.hrry");
    assert!(refused.stderr.starts_with("error: a\\u{1b}[1m.hrry: "), "{}", refused.stderr);
}
