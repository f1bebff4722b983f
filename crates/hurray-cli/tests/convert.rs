//! `hurray convert`: every option, and what is refused.

mod common;

use std::fs;
use std::io::{BufRead, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{EXAMPLE, Folder};
use hurray_format::quantization::PerChannel;
use hurray_format::{ElementType, Quantization, Shape, TensorDescriptor, Values};
use hurray_io::{File, Writer, WriterOptions};
use serde_json::Value;

const ACCEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/conformance/accept");

/// The fields of `inspect` that begin with one of these words.
fn inspect(folder: &Folder, file: &str, fields: &[&str]) -> Vec<String> {
    let text = folder.run(&format!("inspect {file}")).ok();
    let wanted = |line: &&str| fields.iter().any(|field| line.trim().starts_with(field));
    let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().filter(wanted).map(squeeze).collect()
}

#[test]
fn text_becomes_a_file_and_the_same_text_again() {
    let folder = Folder::new();
    folder.write("a.tns", EXAMPLE);
    assert_eq!(
        folder.run("convert a.tns a.hrry").ok(),
        "a.hrry: 4 elements of float64, shape [2, 3, 4], mode order [0, 1, 2], 28787 bytes\n"
    );
    assert_eq!(folder.run("convert a.hrry -").ok(), EXAMPLE);
    folder.run("convert a.hrry b.tns --quiet").ok();
    assert_eq!(folder.read("b.tns"), EXAMPLE.as_bytes());
    assert_eq!(folder.files(), ["a.hrry", "a.tns", "b.tns"]);
}

#[test]
fn standard_streams_are_text_and_come_compressed_too() {
    let folder = Folder::new();
    folder.run_with("convert - a.hrry --quiet", EXAMPLE).ok();
    assert_eq!(folder.run_with("convert - -", EXAMPLE).ok(), EXAMPLE);
    folder.run("convert a.hrry a.tns.gz --quiet").ok();
    let gz = folder.read("a.tns.gz");
    assert_eq!(gz[..2], [0x1F, 0x8B]);
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&gz[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, EXAMPLE);
    assert_eq!(folder.run_with("convert - -", &gz).ok(), EXAMPLE);
    assert_eq!(folder.run("convert a.tns.gz -").ok(), EXAMPLE);
}

#[test]
fn a_hurray_file_is_no_stream() {
    let folder = Folder::with_example();
    folder
        .run("convert a.tns - --to hrry")
        .fails(2, "`-` is text; give a path for a Hurray file instead of --to hrry");
}

#[test]
fn the_format_is_told_by_the_ending_or_an_option() {
    let folder = Folder::with_example();
    folder.write("a.txt", EXAMPLE);
    folder
        .run("convert a.txt b.hrry")
        .fails(2, "a.txt: the ending is not .tns, .tns.gz or .hrry; say what it is with --from");
    folder
        .run("convert a.tns b.dat")
        .fails(2, "b.dat: the ending is not .tns, .tns.gz or .hrry; say what it is with --to");
    folder.run("convert a.txt b.dat --from tns --to hrry --quiet").ok();
    assert_eq!(folder.run("convert b.dat - --from hrry").ok(), EXAMPLE);
}

#[test]
fn a_shape_is_kept_and_an_index_outside_refused() {
    let folder = Folder::with_example();
    folder.run("convert a.tns b.hrry --shape 4,5,6 --quiet").ok();
    assert_eq!(inspect(&folder, "b.hrry", &["shape"]), ["shape [4, 5, 6]"]);
    let refused = folder.run("convert a.tns c.hrry --shape 4,5,3");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.starts_with("error: a.tns, line 2, column 5: "), "{}", refused.stderr);
    assert_eq!(folder.files(), ["a.hrry", "a.tns", "b.hrry"]);
    folder.run("convert a.tns b.hrry --shape 4,x").fails(
        2,
        "invalid value '4,x' for '--shape <SIZES>': `x` is not a whole number; give whole numbers \
         with commas between them, such as 4,5,6; see --help",
    );
}

#[test]
fn the_index_base_counts_for_text_on_either_side() {
    let folder = Folder::with_example();
    let from_zero = "0 0 1 1\n0 2 3 2\n1 1 0 3\n1 1 2 4\n";
    assert_eq!(folder.run("convert a.hrry - --index-base 0").ok(), from_zero);
    folder.run_with("convert - b.hrry --index-base 0 --quiet", from_zero).ok();
    assert_eq!(folder.run("convert b.hrry -").ok(), EXAMPLE);
    let refused = folder.run_with("convert - c.hrry", from_zero);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.starts_with("error: standard input, line 1, column 1: index 0 "));
}

#[test]
fn a_pattern_has_no_values() {
    let folder = Folder::with_example();
    let pattern = "1 1 2\n1 3 4\n2 2 1\n2 2 3\n";
    assert_eq!(folder.run("convert a.hrry - --pattern").ok(), pattern);
    let ones = "1 1 2 1\n1 3 4 1\n2 2 1 1\n2 2 3 1\n";
    folder.run_with("convert - b.hrry --pattern --quiet --type uint8", pattern).ok();
    assert_eq!(folder.run("convert b.hrry -").ok(), ones);
}

#[test]
fn a_mode_order_is_given_or_automatic_or_stays() {
    let folder = Folder::with_example();
    folder.run("convert a.tns b.hrry --mode-order 2,0,1 --quiet").ok();
    let fields = ["mode order", "nodes"];
    assert_eq!(inspect(&folder, "b.hrry", &fields), ["mode order [2, 0, 1]", "nodes [4, 4, 4]"]);
    assert_eq!(folder.run("convert b.hrry -").ok(), "2 2 1 3\n1 1 2 1\n2 2 3 4\n1 3 4 2\n");

    folder.run("convert b.hrry c.hrry --quiet").ok();
    assert_eq!(folder.read("b.hrry"), folder.read("c.hrry"));
    folder.run("convert b.hrry d.hrry --mode-order auto --type float32 --name a --quiet").ok();
    assert_eq!(folder.read("d.hrry"), folder.read("a.hrry"));

    folder
        .run("convert a.tns e.hrry --mode-order 0,1")
        .fails(2, "--mode-order has 2 dimensions, but the tensor has 3");
    folder.run("convert a.tns e.hrry --mode-order 0,1,1").fails(
        2,
        "invalid value '0,1,1' for '--mode-order <ORDER>': mode order names dimension 1 again \
         at level 2; see --help",
    );
}

#[test]
fn a_type_is_checked_from_text_and_from_a_file() {
    let folder = Folder::with_example();
    folder.run("convert a.tns b.hrry --type int16 --quiet").ok();
    assert_eq!(inspect(&folder, "b.hrry", &["element"]), ["element type int16"]);
    folder.run("convert b.hrry c.hrry --type float16 --quiet").ok();
    assert_eq!(folder.run("convert c.hrry -").ok(), EXAMPLE);

    let refused = folder.run_with("convert - d.hrry --type uint8", "1 1 1 1\n1 1 2 -3\n");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("line 2, column 7: "), "{}", refused.stderr);
    assert!(refused.stderr.contains("uint8"), "{}", refused.stderr);
    folder.run_with("convert - d.hrry --quiet", "1 1 1 0.5\n").ok();
    folder.run("convert d.hrry e.hrry --type int64").fails(
        1,
        "d.hrry: tensor `tensor`: value 0.5 has a fraction and cannot be int64; float32 can hold \
         it",
    );
    let refused = folder.run("convert a.tns f.hrry --type bool");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("the types are float16, bfloat16, float32, float64, int8,"));
}

#[test]
fn duplicates_name_both_lines_or_are_merged() {
    let folder = Folder::new();
    folder.write("a.tns", "# i j k\n1 2 3 4\n1 1 1 9\n1 2 3 -1\n");
    folder
        .run("convert a.tns a.hrry")
        .fails(1, "a.tns: lines 2 and 4 both have index 1 2 3; merge them with --duplicates");
    assert_eq!(folder.files(), ["a.tns"]);
    for (how, value) in [("sum", "3"), ("first", "4"), ("last", "-1"), ("min", "-1"), ("max", "4")]
    {
        let text = folder.run(&format!("convert a.tns - --duplicates {how}")).ok();
        assert_eq!(text, format!("1 1 1 9\n1 2 3 {value}\n"));
    }
    let overflow =
        folder.run_with("convert - - --duplicates sum --type int8", "1 1 1 99\n1 1 1 99\n");
    assert_eq!(overflow.code, Some(1));
    assert!(overflow.stderr.contains("int8"), "{}", overflow.stderr);
}

#[test]
fn zeros_are_kept_unless_they_are_to_be_dropped() {
    let folder = Folder::new();
    let text = "1 1 1 0\n1 1 2 5\n1 1 3 -0.0\n";
    folder.run_with("convert - a.hrry --quiet", text).ok();
    assert_eq!(folder.run("convert a.hrry -").ok(), "1 1 1 0\n1 1 2 5\n1 1 3 -0.0\n");
    assert_eq!(folder.run("convert a.hrry - --drop-zeros").ok(), "1 1 2 5\n");
    assert_eq!(folder.run_with("convert - - --drop-zeros", text).ok(), "1 1 2 5\n");
    folder.run("convert a.hrry b.hrry --drop-zeros --mode-order 2,1,0 --quiet").ok();
    assert_eq!(
        inspect(&folder, "b.hrry", &["nnz", "mode", "shape"]),
        ["shape [1, 1, 3]", "mode order [2, 1, 0]", "nnz 1"]
    );
}

#[test]
fn names_metadata_and_alignment_reach_the_file_and_the_next_one() {
    let folder = Folder::with_example();
    let options = "--metadata a=1 --metadata b=x=y --alignment 64K --name t";
    folder.run(&format!("convert a.tns b.hrry --quiet {options}")).ok();
    let fields = ["b.hrry", "c.hrry", "metadata", "tensor"];
    assert_eq!(
        inspect(&folder, "b.hrry", &fields),
        [
            "b.hrry: 1 tensor, buffers aligned to 65536",
            "metadata \"a\" = \"1\"",
            "metadata \"b\" = \"x=y\"",
            "tensor \"t\""
        ]
    );
    folder.run("convert b.hrry c.hrry --quiet --metadata a=2").ok();
    assert_eq!(
        inspect(&folder, "c.hrry", &fields),
        [
            "c.hrry: 1 tensor, buffers aligned to 4096",
            "metadata \"b\" = \"x=y\"",
            "metadata \"a\" = \"2\"",
            "tensor \"t\""
        ]
    );
    assert_eq!(inspect(&folder, "a.hrry", &["tensor"]), ["tensor \"a\""]);

    folder.run("convert a.tns d.hrry --alignment 5000").fails(
        2,
        "invalid value '5000' for '--alignment <BYTES>': it is a power of two from 4K to 2M; see \
         --help",
    );
    folder
        .run("convert a.tns d.hrry --metadata a")
        .fails(2, "invalid value 'a' for '--metadata <KEY=VALUE>': give KEY=VALUE; see --help");
    let twice = folder.run("convert a.tns d.hrry --metadata a=1 --metadata a=2");
    assert_eq!(twice.code, Some(1));
    assert!(twice.stderr.starts_with("error: d.hrry: "), "{}", twice.stderr);
    assert_eq!(folder.files(), ["a.hrry", "a.tns", "b.hrry", "c.hrry"]);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::with_example();
    let text: String = (0..5000u64)
        .map(|i| format!("{} {} {} {i}\n", i * 7919 % 97 + 1, i * 31 % 89 + 1, i * 13 % 83 + 1))
        .collect();
    folder.write("b.tns", text);
    for threads in [1, 2, 7] {
        let options = format!("--duplicates sum --quiet --threads {threads}");
        folder.run(&format!("convert b.tns {threads}.hrry --name t {options}")).ok();
        assert_eq!(folder.read("1.hrry"), folder.read(&format!("{threads}.hrry")));
    }
    assert_eq!(folder.run("convert b.tns c.hrry --threads 0").code, Some(2));
}

#[test]
fn an_existing_output_is_replaced_by_force_only() {
    let folder = Folder::with_example();
    folder.write("b.hrry", "precious");
    folder.write("b.tns", "precious");
    folder.run("convert a.tns b.hrry").fails(1, "b.hrry: exists already; --force replaces it");
    folder.run("convert a.hrry b.tns").fails(1, "b.tns: exists already; --force replaces it");
    assert_eq!(
        (folder.read("b.hrry"), folder.read("b.tns")),
        (b"precious".into(), b"precious".into())
    );
    folder.run("convert a.tns b.hrry --force --quiet").ok();
    folder.run("convert a.hrry b.tns --force --quiet").ok();
    assert_eq!(folder.read("b.tns"), EXAMPLE.as_bytes());
    assert_eq!(folder.run("verify b.hrry").ok(), "b.hrry: ok, 1 tensor\n");
}

#[test]
fn an_output_that_is_the_input_is_replaced_when_it_is_whole() {
    let folder = Folder::with_example();
    folder.run("convert a.hrry a.hrry").fails(1, "a.hrry: exists already; --force replaces it");
    folder.run("convert a.hrry a.hrry --mode-order 2,1,0 --force --quiet").ok();
    assert_eq!(inspect(&folder, "a.hrry", &["mode"]), ["mode order [2, 1, 0]"]);
    folder.run("convert a.tns a.tns --index-base 1 --force --quiet --drop-zeros").ok();
    assert_eq!(folder.read("a.tns"), EXAMPLE.as_bytes());
    assert_eq!(folder.files(), ["a.hrry", "a.tns"]);
}

#[test]
fn a_failed_conversion_leaves_the_old_output_and_no_litter() {
    let folder = Folder::with_example();
    let before = folder.read("a.hrry");
    folder.write("bad.tns", "1 1 1 1\n1 1 oops 1\n");
    let refused = folder.run("convert bad.tns a.hrry --force");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.starts_with("error: bad.tns, line 2, column 5: "), "{}", refused.stderr);
    assert_eq!(folder.read("a.hrry"), before);
    assert_eq!(folder.files(), ["a.hrry", "a.tns", "bad.tns"]);
    let missing = folder.run("convert a.tns no/b.hrry");
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.starts_with("error: no/b.hrry: "), "{}", missing.stderr);
    let missing = folder.run("convert no.tns b.hrry");
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.starts_with("error: no.tns: "), "{}", missing.stderr);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = Folder::with_example();
    for (arguments, message) in [
        ("a.hrry b.hrry --shape 1,2,3", "--shape is for text input"),
        ("a.hrry - --duplicates sum", "--duplicates is for text input"),
        ("a.hrry b.hrry --index-base 0", "--index-base is for text"),
        ("a.hrry b.hrry --pattern", "--pattern is for text"),
        ("a.tns b.hrry --tensor x", "--tensor is for .hrry input"),
        ("a.hrry b.tns --name x", "--name is for .hrry output"),
        ("a.hrry - --metadata a=b", "--metadata is for .hrry output"),
        ("a.hrry - --alignment 4096", "--alignment is for .hrry output"),
    ] {
        folder.run(&format!("convert {arguments}")).fails(2, message);
    }
}

#[test]
fn matrices_are_refused_with_advice() {
    let folder = Folder::new();
    folder.run_with("convert - a.hrry", "1 2 3.5\n").fails(
        1,
        "standard input: its lines have 2 indices, but tensors of rank 3 and more are converted; \
         if the last column is an index too, and there are no values, say --pattern",
    );
    folder.run_with("convert - a.hrry --pattern", "1 2\n").fails(
        1,
        "standard input: its lines have 2 indices, but tensors of rank 3 and more are converted",
    );
}

#[test]
fn types_without_a_text_form_are_refused_by_name() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/conformance/accept");
    let folder = Folder::new();
    for (file, name) in [
        ("type_complex128", "complex128"),
        ("type_bool", "bool"),
        ("type_float6_e2m3", "float6_e2m3"),
        ("type_private", "0xf3"),
        ("quant_per_block", "quantized (per_block)"),
    ] {
        let refused = folder.run(&format!("convert {fixtures}/{file}.hrry {file}.tns"));
        assert_eq!(refused.code, Some(1), "{file}");
        assert!(refused.stderr.contains(name), "{}", refused.stderr);
    }
    // The order can still be changed, and the bits stay.
    folder
        .run(&format!("convert {fixtures}/type_float6_e2m3.hrry a.hrry --mode-order 2,1,0 -q"))
        .ok();
    folder.run("convert a.hrry b.hrry --mode-order 0,1,2 -q").ok();
    assert_eq!(
        folder.run("get b.hrry 0,0,1").ok(),
        folder.run(&format!("get {fixtures}/type_float6_e2m3.hrry 0,0,1")).ok()
    );
    assert_eq!(folder.files(), ["a.hrry", "b.hrry"]);
}

#[test]
fn one_of_several_tensors_is_chosen_by_name() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/conformance/accept/many_tensors_sorted.hrry"
    );
    let folder = Folder::new();
    fs::copy(file, folder.path("many.hrry")).unwrap();
    let refused = folder.run("convert many.hrry -");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.starts_with("error: many.hrry: there are 4 tensors: `"));
    assert!(refused.stderr.ends_with("; choose one with --tensor\n"), "{}", refused.stderr);
    let refused = folder.run("convert many.hrry - --tensor nothing");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("no tensor `nothing`"), "{}", refused.stderr);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new();
    let text: String = (1..=200_000).map(|i| format!("{i} 1 1 1\n")).collect();
    folder.write("a.tns", text);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hurray"))
        .args(["convert", "a.tns", "-"])
        .current_dir(folder.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufReader::with_capacity(16, child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "1 1 1 1\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn statistics_are_recorded_when_asked_for_and_handed_on_while_they_hold() {
    let folder = Folder::with_example();
    folder.run("convert a.tns b.hrry --type float32 --statistics --quiet").ok();
    assert_eq!(folder.run("verify b.hrry").ok(), "b.hrry: ok, 1 tensor\n");
    let recorded = inspect(&folder, "b.hrry", &["statistics"]);
    let start = "statistics nnz 4, sparsity 0.8333333333333334, min 0.0, max 4.0, abs_max 4.0, \
                 mean 0.41666666666666";
    assert!(recorded[0].starts_with(start), "{recorded:?}");
    assert!(recorded[0].ends_with(", has_nan false, has_inf false"), "{recorded:?}");

    folder.run("convert b.hrry c.hrry --mode-order 2,1,0 --quiet").ok();
    assert_eq!(inspect(&folder, "c.hrry", &["statistics"]), recorded);
    folder.run("convert b.hrry d.hrry --type float64 --quiet").ok();
    folder.run("convert b.hrry e.hrry --drop-zeros --quiet").ok();
    for file in ["a.hrry", "d.hrry", "e.hrry"] {
        assert_eq!(inspect(&folder, file, &["statistics"]), [] as [String; 0], "{file}");
    }
    folder.run("convert a.hrry - --statistics").fails(2, "--statistics is for .hrry output");
}

#[test]
fn statistics_of_quantized_values_are_those_of_the_numbers() {
    let folder = Folder::new();
    folder.run(&format!("convert {ACCEPT}/quant_per_tensor.hrry a.hrry --statistics -q")).ok();
    assert_eq!(folder.run("verify a.hrry").ok(), "a.hrry: ok, 1 tensor\n");
    let recorded = inspect(&folder, "a.hrry", &["statistics"]);
    assert!(recorded[0].contains("min -62.5, max 65.0, abs_max 65.0"), "{recorded:?}");
    // Of those that are no numbers, only what needs no numbers.
    folder.run(&format!("convert {ACCEPT}/type_complex128.hrry b.hrry --statistics -q")).ok();
    let recorded = inspect(&folder, "b.hrry", &["statistics"]);
    assert_eq!(recorded, ["statistics nnz 4, sparsity 0.8333333333333334"]);
}

/// Indices of stored elements and what `get` prints for them.
fn elements(folder: &Folder, file: &str, entry: &Value) -> Vec<String> {
    let coordinates = entry["tensors"][0]["coordinates"].as_array().unwrap();
    let index = |index: &Value| index.to_string().trim_matches(['[', ']']).to_owned();
    let indices: Vec<String> = coordinates.iter().map(index).collect();
    let printed = folder.run(&format!("get {file} {}", indices.join(" "))).ok();
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn a_quantized_tree_stays_quantized_in_any_mode_order() {
    let folder = Folder::new();
    let table = fs::read_to_string(format!("{ACCEPT}.json")).unwrap();
    let table: Vec<Value> = serde_json::from_str(&table).unwrap();
    let is_quantized = |entry: &&Value| entry["file"].as_str().unwrap().contains("quant");
    let mut count = 0;
    for entry in table.iter().filter(is_quantized) {
        let file = format!("{ACCEPT}/../{}", entry["file"].as_str().unwrap());
        let turned = format!("{count}.hrry");
        let options = "--mode-order 2,0,1 --name y --metadata k=v --alignment 64K -q";
        folder.run(&format!("convert {file} {turned} {options}")).ok();
        let field = ["quantization"];
        assert_eq!(inspect(&folder, &turned, &field), inspect(&folder, &file, &field));
        assert_eq!(
            inspect(&folder, &turned, &["mode", "tensor"]),
            ["tensor \"y\"", "mode order [2, 0, 1]"]
        );
        assert_eq!(folder.run(&format!("verify {turned}")).code, Some(0));
        assert_eq!(elements(&folder, &turned, entry), elements(&folder, &file, entry), "{file}");

        // And back: the same data as before.
        let order = inspect(&folder, &file, &["mode order"])[0].clone();
        let order = order.trim_start_matches("mode order ").replace(['[', ']', ' '], "");
        folder
            .run(&format!("convert {turned} back.hrry --mode-order {order} --name x -q --force"))
            .ok();
        let (back, original) = (File::open(folder.path("back.hrry")), File::open(&file));
        let buffers = |file: &File| file.get(0).unwrap().read().unwrap().buffers().to_vec();
        let (back, original) = (buffers(&back.unwrap()), buffers(&original.unwrap()));
        assert_eq!(back.len(), original.len());
        assert!(back.iter().zip(&original).all(|(back, original)| back[..] == original[..]));
        count += 1;
    }
    assert!(count >= 6, "{count} fixtures");
}

#[test]
fn a_quantized_list_becomes_a_quantized_tree() {
    let folder = Folder::new();
    let shape = Shape::new([2, 3, 4]).unwrap();
    // Not sorted; scales of dimension 2 behind the zero points, so the indices descend.
    let coordinates: [u64; 12] = [1, 1, 2, 0, 0, 1, 0, 2, 3, 1, 1, 0];
    let (values, scales, zeros) = ([4i8, 1, 2, 3], [0.5f32, 1.0, 2.0, 4.0], [0i32, 1, -1, 2]);
    let scheme = PerChannel { axis: 2, scale_index: 3, zero_index: Some(2) };
    let descriptor = TensorDescriptor::coo(shape, ElementType::Int8, 4, false)
        .unwrap()
        .with_quantization(Quantization::PerChannel(scheme))
        .unwrap();
    let mut writer = Writer::create(folder.path("a.hrry"), WriterOptions::default()).unwrap();
    let buffers = [
        Values::from_slice(&values).into_inner(),
        Values::from_slice(&coordinates).into_inner(),
        Values::from_slice(&zeros).into_inner(),
        Values::from_slice(&scales).into_inner(),
    ];
    writer.tensor("x", &descriptor, &buffers).unwrap();
    writer.finish().unwrap();

    folder.run("convert a.hrry b.hrry --mode-order 1,2,0 -q").ok();
    assert_eq!(folder.run("verify b.hrry").ok(), "b.hrry: ok, 1 tensor\n");
    // 2 * (4 + 1), 1 * (1 - 1), 4 * (2 - 2), 0.5 * 3, and what is not stored.
    let indices = "1,1,2 0,0,1 0,2,3 1,1,0 0,0,0";
    for file in ["a.hrry", "b.hrry"] {
        assert_eq!(folder.run(&format!("get {file} {indices}")).ok(), "10\n0\n0\n1.5\n0\n");
    }
    assert_eq!(
        inspect(&folder, "b.hrry", &["quantization", "buffer 7", "buffer 8"]),
        [
            "quantization scheme per_channel, axis 2, scale_index 8, zero_index 7",
            "buffer 7 parameters 16 bytes at 32768",
            "buffer 8 parameters 16 bytes at 36864"
        ]
    );
}

#[test]
fn what_would_need_the_numbers_of_quantized_values_is_refused() {
    let folder = Folder::new();
    let file = format!("{ACCEPT}/quant_per_block.hrry");
    for (arguments, obstacle) in [
        ("a.tns", "text has no form for them"),
        ("a.hrry --type float32", "--type does not change them"),
        ("a.hrry --drop-zeros", "--drop-zeros does not look at what they stand for"),
    ] {
        let message =
            format!("{file}: tensor `x`: its values are quantized (per_block); {obstacle}");
        folder.run(&format!("convert {file} {arguments}")).fails(1, &message);
    }
    assert_eq!(folder.files(), [] as [String; 0]);
}

#[test]
fn values_of_a_private_type_pass_unchanged() {
    let folder = Folder::new();
    let file = format!("{ACCEPT}/type_private.hrry");
    folder.run(&format!("convert {file} a.hrry --mode-order 2,1,0 -q")).ok();
    folder.run("convert a.hrry b.hrry --mode-order 0,1,2 -q").ok();
    let values = |path: &Path| {
        let buffers = File::open(path).unwrap().get(0).unwrap().read().unwrap();
        (buffers.descriptor().element_type, buffers.buffers()[0].to_vec())
    };
    let (original, turned) = (values(file.as_ref()), values(&folder.path("a.hrry")));
    assert_eq!(values(&folder.path("b.hrry")), original);
    assert_eq!(turned.0, original.0);
    assert_ne!(turned.1, original.1);
    let refused = folder.run(&format!("convert {file} c.hrry --type float32"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("cannot become float32"), "{}", refused.stderr);
}

#[test]
fn one_of_several_is_converted_by_itself() {
    let folder = Folder::with_example();
    let mut writer = Writer::create(folder.path("many.hrry"), WriterOptions::default()).unwrap();
    let shape = || Shape::new([2, 3, 4]).unwrap();
    for (name, value) in [("one", 1.5f32), ("two", 2.5)] {
        let values = Values::from_slice(std::slice::from_ref(&value));
        writer.coo(name, shape(), &[1, 2, 3], true, &values).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(folder.run("convert many.hrry - --tensor two").ok(), "2 3 4 2.5\n");
    folder.run("convert many.hrry b.hrry --tensor one -q").ok();
    assert_eq!(inspect(&folder, "b.hrry", &["tensor", "layout"]), ["tensor \"one\"", "layout csf"]);
    assert_eq!(folder.run("get b.hrry 1,2,3").ok(), "1.5\n");
}
