//! `hurray convert`: every option, and what is refused.

mod common;

use std::fs;
use std::io::{BufRead, Read};
use std::process::{Command, Stdio};

use common::{EXAMPLE, Folder};

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
        "invalid value '4,x' for '--shape <SIZES>': `x` in `4,x`: invalid digit found in string; \
         see --help",
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
    assert_eq!(folder.run("convert a.hrry -").ok(), "1 1 1 0\n1 1 2 5\n1 1 3 -0\n");
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
    let refused = folder.run_with("convert - a.hrry", "1 2 3.5\n");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("rank 2"), "{}", refused.stderr);
    assert!(refused.stderr.contains("CSR, CSC"), "{}", refused.stderr);
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
