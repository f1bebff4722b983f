//! What somebody would try who means harm and has only the binary: text of every kind that hurts,
//! names that drive a terminal, files that are larger inside than outside.

mod common;

use std::io::Write;

use common::{Folder, run_in};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

fn gzip(write: impl FnOnce(&mut GzEncoder<Vec<u8>>)) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    write(&mut encoder);
    encoder.finish().unwrap()
}

#[test]
fn names_neither_drive_the_terminal_nor_look_like_others() {
    let folder = Folder::with_example();
    // A bold and a CSI of one character, right to left, an isolate, nothing to see, line ends, a tag.
    let name = "x\u{1b}[1m\u{9b}1m\u{202e}gnp\u{2066}\u{200b}\u{2028}\r\n\t\u{7f}\u{e0041}日本";
    let metadata = format!("{name}={name}");
    let convert =
        ["convert", "a.hrry", "b.hrry", "--name", name, "--metadata", &metadata, "--quiet"];
    run_in(&folder.path(""), &convert, b"").ok();
    let deceptive = |c: char| {
        c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{200b}\u{2028}\u{e0041}".contains(c))
    };
    for arguments in [
        "inspect b.hrry",
        "inspect b.hrry --json",
        "get b.hrry 9,9,9",
        "get b.hrry 0,0,0 --tensor y",
    ] {
        let run = folder.run(arguments);
        let output = run.stdout + &run.stderr;
        assert!(output.contains("日本"), "{output}");
        assert!(!output.contains(deceptive), "{arguments}: {output:?}");
    }
    let dump: Value = serde_json::from_str(&folder.run("inspect b.hrry --json").ok()).unwrap();
    assert_eq!(dump["tensors"][0]["name"], name);
    assert_eq!(dump["metadata"][0][1], name);
}

#[test]
fn text_that_is_no_text_is_refused_with_its_place() {
    let folder = Folder::new();
    let digits = "9".repeat(1_000_000);
    let good = gzip(|out| out.write_all(&b"1 1 1 1\n".repeat(1000)).unwrap());
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let mut cases: Vec<(Vec<u8>, &str)> = vec![
        (b"1 1 1 1\n1 1 1\0 1\n".into(), "line 2, column 6: byte 0x00"),
        (b"1 1 1 1\n1 1 1 \xC3\x28\n".into(), "line 2, column 7: byte 0xc3"),
        (b"\xFF\xFE1\0 \x001\0\n\0".into(), "line 1, column 1: byte 0xff"),
        (b"\0 \0\x31".into(), "line 1, column 1: byte 0x00"),
        (b"1 1 1 1\n18446744073709551616 1 1 1\n".into(), "line 2, column 1: index `1844"),
        (format!("1 {digits} 1 1\n").into(), "line 1, column 3: index `9999"),
        (format!("1 1 1 {digits}\n").into(), "line 1, column 7: value `9999"),
        (b"1 1 1 1\n1 1 1 1 1\n".into(), "line 2, column 9: the line has 5 columns"),
        (b"1 1 1 1\n# x\n1 1 1\n".into(), "line 3, column 6: the line has 3 columns"),
        (b"# only\n\n   # comments\n".into(), "there are no entries"),
        (b"".into(), "there are no entries"),
        (b"1 1 1 0x1p3\n".into(), "line 1, column 7: `0x1p3` is not a number"),
        (b"1 1 1 \x1B[31m1\n".into(), "line 1, column 7: `\\u{1b}[31m1` is not a number"),
        ("1 1 1 \u{202E}1\n".into(), "line 1, column 7: `\\u{202e}1` is not a number"),
        (good[..good.len() / 2].into(), "reading failed after line "),
        (good[..good.len() - 3].into(), "reading failed after line 1000"),
        (damaged, "reading failed after line 1000"),
        ([&good[..], b"tail"].concat(), "reading failed after line 1000"),
        (b"\x1F\x8B".into(), "cannot read the text"),
        (gzip(|out| out.write_all(b"1 1 1 1\n1 x 1 1\n").unwrap()), "line 2, column 3: `x`"),
    ];
    // As many columns as fit a megabyte.
    cases.push(("1 ".repeat(500_000).into(), "line 1, column 1: the entry has 499999 indices"));
    for (text, message) in cases {
        folder.write("a.tns", text);
        let run = folder.run("convert a.tns b.hrry");
        assert_eq!((run.code, &run.stdout[..]), (Some(1), ""), "{message}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        let found = run.stderr.strip_prefix("error: a.tns").unwrap_or(&run.stderr);
        let found = found.trim_start_matches([',', ':', ' ']);
        assert!(found.starts_with(message), "{message}: {}", &run.stderr);
        assert!(run.stderr.len() < 300, "{}", run.stderr.len());
        assert_eq!(folder.files(), ["a.tns"]);
    }
}

#[test]
fn unusual_text_is_read_as_what_it_says() {
    let folder = Folder::new();
    let zeros = "0".repeat(1_000_000);
    let cases = [
        ("\u{FEFF}1 1 1 1\r\n2 2 2 2".to_owned(), "", "1 1 1 1\n2 2 2 2\n"),
        ("1\t1\x0B1\x0C1\n\r\n".to_owned(), "", "1 1 1 1\n"),
        (
            "1 1 1 inf\n1 1 2 -NaN\n1 1 3 -Infinity\n".to_owned(),
            "",
            "1 1 1 inf\n1 1 2 nan\n1 1 3 -inf\n",
        ),
        ("1 1 18446744073709551614 1".to_owned(), "", "1 1 18446744073709551614 1\n"),
        (format!("{zeros}1 1 1 1.{zeros}"), "", "1 1 1 1\n"),
        (format!("1 1 1 0.{zeros}1e1000001"), "", "1 1 1 1\n"),
        ("# only\n".to_owned(), " --shape 4,5,6", ""),
        (String::new(), " --shape 4,5,6", ""),
    ];
    for (text, options, expected) in cases {
        folder.write("a.tns", &text);
        folder.run(&format!("convert a.tns a.hrry --quiet --force{options}")).ok();
        folder.run("verify a.hrry").ok();
        assert_eq!(folder.run("convert a.hrry -").ok(), expected);
    }
}

#[test]
fn a_line_of_100_megabytes_is_a_line() {
    let folder = Folder::new();
    let blanks = vec![b' '; 1_000_000];
    folder.write(
        "a.tns.gz",
        gzip(|out| {
            out.write_all(b"1 1").unwrap();
            (0..100).for_each(|_| out.write_all(&blanks).unwrap());
            out.write_all(b"1 1\n2 2 2 x\n").unwrap();
        }),
    );
    folder
        .run("convert a.tns.gz a.hrry")
        .fails(1, "a.tns.gz, line 2, column 7: `x` is not a number");
}

/// More comments than there is memory, and a line that is longer than any.
#[cfg(target_os = "linux")]
#[test]
fn a_gzip_bomb_costs_time_and_no_memory() {
    let folder = Folder::new();
    // Members of their own, so that the test has less to compress.
    let bomb = |text: &[u8], members| gzip(|out| out.write_all(text).unwrap()).repeat(members);
    let comments = ("#".repeat(9999) + "\n").repeat(1000);
    folder.write("lines.tns.gz", bomb(comments.as_bytes(), 22));
    folder.write("line.tns.gz", bomb(&vec![b' '; 10_000_000], 14));
    for (name, kilobytes, message) in [
        ("lines", 150_000, ": there are no entries to take the shape from; give the shape"),
        ("line", 400_000, ", line 1, column 134217729: the line is longer than 134217728 bytes"),
    ] {
        // What is limited is address space, of which threads would take some that they never use.
        let script =
            format!("ulimit -v {kilobytes}; exec \"$0\" convert {name}.tns.gz a.hrry --threads 1");
        let output = std::process::Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_hurray")])
            .env("MALLOC_ARENA_MAX", "1")
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        let found = String::from_utf8(output.stderr).unwrap();
        assert_eq!(found, format!("error: {name}.tns.gz{message}\n"));
    }
}
