//! The rules of reading FROSTT text, one test each.

use std::io::{self, Read};

use hurray_format::{ElementType, Shape, Value};
use hurray_io::tns::{self, Entries, IndexBase, Problem, ReadOptions, TextError};

fn read(text: impl AsRef<[u8]>) -> Result<Entries, TextError> {
    tns::read(text.as_ref(), &ReadOptions::default())
}

fn read_with(text: impl AsRef<[u8]>, options: ReadOptions) -> Result<Entries, TextError> {
    tns::read(text.as_ref(), &options)
}

fn error(text: impl AsRef<[u8]>) -> String {
    read(text).unwrap_err().to_string()
}

fn error_with(text: impl AsRef<[u8]>, options: ReadOptions) -> String {
    read_with(text, options).unwrap_err().to_string()
}

fn shape(dimensions: &[u64]) -> Option<Shape> {
    Some(Shape::new(dimensions).unwrap())
}

fn floats(entries: &Entries) -> &[f64] {
    entries.values.as_slice().unwrap()
}

#[test]
fn blanks_comments_line_ends_and_a_byte_order_mark_do_not_matter() {
    let text = b"\xEF\xBB\xBF# comment \xFF\0\r\n\r\n  1\t2 \x0B\x0C3   1.5 \r\n \t \n\
                 # 9 9 9 9\n2 1 1 -1e2# close by\n2 2 2 nan # further off";
    let entries = read(text).unwrap();
    assert_eq!(entries.shape.dimensions(), [2, 2, 3]);
    assert_eq!(entries.coordinates[..], [0, 1, 2, 1, 0, 0, 1, 1, 1]);
    assert_eq!(floats(&entries)[..2], [1.5, -100.0]);
    assert!(floats(&entries)[2].is_nan());
    let lines: Vec<_> = (0..4).map(|entry| entries.line_of(entry)).collect();
    assert_eq!(lines, [Some(3), Some(6), Some(7), None]);
}

#[test]
fn indices_count_from_what_the_options_say() {
    let zero =
        |text| read_with(text, ReadOptions { index_base: IndexBase::Zero, ..Default::default() });
    assert_eq!(zero("0 1 2 4\n").unwrap().coordinates[..], [0, 1, 2]);
    assert_eq!(zero("0 1 2 4\n").unwrap().shape.dimensions(), [1, 2, 3]);
    assert_eq!(
        error("1 1 3 1 2.0\n1 1 1 00 4.0\n"),
        "line 2, column 7: index 0 lies below the index base 1; if the file counts from 0, read \
         it with index base 0"
    );
}

#[test]
fn the_rank_is_that_of_the_first_entry() {
    assert_eq!(read("7 1").unwrap().shape.dimensions(), [7]);
    assert_eq!(read("7 2 1").unwrap().shape.dimensions(), [7, 2]);
    assert_eq!(read("1 ".repeat(65)).unwrap().shape.rank(), 64);
    assert_eq!(
        error("1 ".repeat(66)),
        "line 1, column 1: the entry has 65 indices, but a tensor has at most 64 dimensions"
    );
    assert_eq!(
        error("# rank 3\n1 1 1 4.0\n1 1 4.0\n"),
        "line 3, column 8: the line has 3 columns, but every entry of this file has 3 indices \
         and a value: 4 columns"
    );
    assert_eq!(
        error("1 1 1 4.0\n1 1 1 1 4.0 7\n"),
        "line 2, column 9: the line has 6 columns, but every entry of this file has 3 indices \
         and a value: 4 columns"
    );
    assert_eq!(
        error("1.5\n"),
        "line 1, column 1: `1.5` stands alone, but an entry has at least one index and a value"
    );
}

#[test]
fn a_pattern_has_no_values() {
    let pattern = || ReadOptions { pattern: true, ..Default::default() };
    let entries = read_with("1 2 3\n3 2 1\n", pattern()).unwrap();
    assert_eq!(floats(&entries), [1.0, 1.0]);
    assert_eq!(entries.shape.dimensions(), [3, 2, 3]);
    let bf16 = ReadOptions { element_type: ElementType::BFloat16, ..pattern() };
    assert_eq!(read_with("1 2 3\n", bf16).unwrap().values.get(0), Some(Value::Float32(1.0)));
    assert_eq!(
        error_with("1 2 3\n1 2 3 0.5\n", pattern()),
        "line 2, column 7: the line has 4 columns, but every entry of this file has 3 indices \
         and no value"
    );
}

#[test]
fn a_given_shape_bounds_every_index() {
    let given = |dimensions| ReadOptions { shape: shape(dimensions), ..Default::default() };
    assert_eq!(read_with("1 1 1 1", given(&[4, 5, 6])).unwrap().shape.dimensions(), [4, 5, 6]);
    assert_eq!(read_with("1 9 1 1", given(&[4, Shape::DYNAMIC, 6])).unwrap().nnz(), 1);
    assert_eq!(
        error_with("4 5 6 1\n4 6 6 1", given(&[4, 5, 6])),
        "line 2, column 3: index 6 is outside dimension 1 of size 5 (indices count from 1)"
    );
    let zero = ReadOptions { index_base: IndexBase::Zero, ..given(&[4, 5, 6]) };
    assert_eq!(
        error_with("0 0 6 1", zero),
        "line 1, column 5: index 6 is outside dimension 2 of size 6 (indices count from 0)"
    );
    assert_eq!(
        error_with("\n1 1 1 1 1", given(&[4, 5, 6])),
        "line 2, column 1: the entry has 4 indices, but the given shape has rank 3"
    );
}

#[test]
fn a_text_without_entries_needs_a_shape() {
    for text in ["", "# only\n# comments", "\n\n", "\u{FEFF}"] {
        assert_eq!(error(text), "there are no entries to take the shape from; give the shape");
        let options = ReadOptions { shape: shape(&[4, 5, 6]), ..Default::default() };
        let entries = read_with(text, options).unwrap();
        assert_eq!((entries.nnz(), entries.shape.dimensions()), (0, &[4, 5, 6][..]));
    }
}

#[test]
fn other_dialects_are_refused_by_name() {
    let sizes = "give the sizes as the shape";
    for text in ["sptensor\n3\n4 4 3\n1\n1 1 1 1\n", "# x\nSPTENSOR \n"] {
        assert!(error(text).contains(
            "this is a Tensor Toolbox (sptensor) file, not FROSTT text: remove the header (the \
             word, the rank, the sizes and the number of entries), and give the sizes as the shape"
        ));
    }
    assert_eq!(
        error("3\n4 4 3\n1 1 1 1\n"),
        format!(
            "line 1, column 1: this is a ParTI file, not FROSTT text: remove the header (the rank \
             and the sizes), and {sizes}"
        )
    );
    assert_eq!(
        error("%%MatrixMarket tensor coordinate real general\n%\n5 6 7 4\n1 1 1 1\n"),
        format!(
            "line 1, column 1: this is a TensorMarket (%%MatrixMarket) file, not FROSTT text: \
             remove the header (the lines that begin with % and the line of sizes), and {sizes}"
        )
    );
}

#[test]
fn lines_that_end_with_carriage_returns_only_are_not_one_entry() {
    let alone = "a carriage return alone does not end a line; give lines ends of LF or CR LF";
    for text in ["1 1 2 1\r1 3 4 2\r", "1 1 2 1\r1 3 4 2\r\n1 1 1 1 1 1 1 1\r\n"] {
        assert_eq!(error(text), format!("line 1, column 8: {alone}"));
    }
    for text in ["1 1 2 1\r\n1 1 3 1 \r\n", "1 1 2 1 \r \n1 1 3 1#\r#\r\n"] {
        assert_eq!(read_with(text, ReadOptions::default()).unwrap().nnz(), 2);
    }
}

#[test]
fn an_index_is_a_whole_number_without_sign() {
    for index in ["-1", "+1", "1.0", "1e3", "x", "0x1", "1,", "nan", "\u{A0}1"] {
        let found = index.replace('\u{A0}', r"\u{a0}");
        assert_eq!(
            error(format!("1 1 1 1\n1 {index} 1 1")),
            format!(
                "line 2, column 3: `{found}` is not an index; an index is a whole number without \
                 sign"
            )
        );
    }
}

#[test]
fn an_index_reaches_up_to_the_longest_dimension() {
    let largest = u64::MAX - 1;
    let entries = read(format!("{largest} 0000000000000000000000000001 1 1")).unwrap();
    assert_eq!(entries.coordinates[..], [largest - 1, 0, 0]);
    assert_eq!(entries.shape.dimensions(), [largest, 1, 1]);
    for index in [u64::MAX.to_string(), "1".repeat(21), "18446744073709551617".into()] {
        assert_eq!(
            error(format!("{index} 1 1 1")),
            format!(
                "line 1, column 1: index `{index}` is too large; a dimension has at most \
                 2^64 - 2 elements"
            )
        );
    }
    assert_eq!(
        error("9".repeat(1_000_000) + " 1 1 1"),
        format!(
            "line 1, column 1: index `{}...` (1000000 bytes) is too large; a dimension has at \
             most 2^64 - 2 elements",
            "9".repeat(40)
        )
    );
}

#[test]
fn a_value_that_the_type_does_not_hold_names_one_that_does() {
    let as_type = |element_type| ReadOptions { element_type, ..Default::default() };
    let uint8 = || as_type(ElementType::Uint8);
    assert_eq!(
        error_with("1 1 1 1\n1 1 1 2.5", uint8()),
        "line 2, column 7: value `2.5` has a fraction and cannot be uint8; float64 would hold it"
    );
    assert_eq!(
        error_with("1 1 1 256", uint8()),
        "line 1, column 7: value `256` is outside the range of uint8; int16 would hold it"
    );
    assert_eq!(
        error_with("1 1 1 inf", uint8()),
        "line 1, column 7: value `inf` is not finite and cannot be uint8; float64 would hold it"
    );
    assert_eq!(
        error_with("1 1 1 1e39", as_type(ElementType::Float32)),
        "line 1, column 7: value `1e39` overflows to infinity as float32; float64 would hold it"
    );
    assert_eq!(
        error("1 1 1 1e999"),
        "line 1, column 7: value `1e999` overflows to infinity as float64; no element type holds \
         it exactly"
    );
    assert_eq!(
        error("1 1 1 9007199254740993"),
        "line 1, column 7: value `9007199254740993` is an integer that is not exact as float64; \
         int64 would hold it"
    );
    assert_eq!(error("1 1 1 1,5"), "line 1, column 7: `1,5` is not a number");
    assert_eq!(read_with("1 1 1 4.0", uint8()).unwrap().values.get(0), Some(Value::Uint(4)));
    assert_eq!(read("1 1 1 -0.0").unwrap().values.bytes(), (-0.0f64).to_le_bytes());
}

#[test]
fn only_tier_1_types_but_bool_are_read() {
    for element_type in ElementType::public() {
        let options = ReadOptions { element_type, ..Default::default() };
        let result = read_with("1 1 1 1", options);
        if element_type.tag() < 0x20 {
            let entries = result.unwrap();
            assert_eq!(entries.values.element_type(), element_type);
            assert_eq!(entries.values.get(0).unwrap().to_string(), "1");
        } else {
            assert_eq!(
                result.unwrap_err().to_string(),
                format!(
                    "values of type {element_type} cannot be read from text; the types that can \
                     are float16 to float64, bfloat16, int8 to int64 and uint8 to uint64"
                )
            );
        }
    }
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let not_text = |place, byte| {
        format!(
            "{place}: byte {byte} does not belong into text; the file is not UTF-8 text \
             (UTF-16 has to be converted) or is damaged"
        )
    };
    assert_eq!(error(b"1 1 1 1\n1 1 1\0 1\n"), not_text("line 2, column 6", "0x00"));
    assert_eq!(error(b"1 1 1 1\n1 1 1 1\xFF\n"), not_text("line 2, column 8", "0xff"));
    assert_eq!(error(b"\xFF\xFE1\0 \0"), not_text("line 1, column 1", "0xff"));
    assert_eq!(error(vec![0; 1000]), not_text("line 1, column 1", "0x00"));
}

#[test]
fn errors_name_the_file_and_can_be_matched() {
    let options = ReadOptions { name: Some("a.tns".into()), ..Default::default() };
    let error = read_with("1 1 x 1", options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.tns, line 1, column 5: `x` is not an index; an index is a whole number without sign"
    );
    let TextError::Line { place, problem } = error else { panic!("{error}") };
    assert_eq!((place.name.as_deref(), place.line, place.column), (Some("a.tns"), 1, 5));
    assert!(matches!(*problem, Problem::NotAnIndex { .. }));

    let error = tns::read_path("no/such/file.tns", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("no/such/file.tns: cannot read the text: "));
}

/// A text of a few hundred lines with everything that can be skipped, and what it holds. Lines of
/// the usual shape, and such that differ from it in their blanks, value or comment, take turns.
fn long_text() -> (String, Vec<u64>, Vec<f64>, Vec<u64>) {
    let (mut text, mut coordinates, mut values, mut lines) =
        (String::new(), vec![], vec![], vec![]);
    let mut line = 0;
    for i in 0..300u64 {
        if i % 7 == 0 {
            text += "# a comment of some length, to move the borders of pieces\r\n\n";
            line += 2;
        }
        let index = [i * i % 97, i, 1 << (i % 50)];
        let value = 0.1 * i as f64 - 3.0;
        let [first, second, third] = index.map(|coordinate| coordinate + 1);
        text += &match i % 8 {
            0 => format!("{first} {second}\t{third}  {value:?}\n"),
            1 => format!("{first} {second} {third} {value:e} # and a comment\n"),
            2 => format!(" {first} {second} {third} {value:?}\r\n"),
            _ => format!("{first} {second}\t{third} {value:?}\n"),
        };
        line += 1;
        coordinates.extend(index);
        values.push(value);
        lines.push(line);
    }
    (text, coordinates, values, lines)
}

fn in_pools(check: impl Fn() + Sync) {
    for threads in [1, 2, 5] {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&check);
    }
}

#[test]
fn neither_blocks_nor_threads_change_the_result() {
    let (text, coordinates, values, lines) = long_text();
    in_pools(|| {
        // Around every byte of some lines, and of more than one.
        for block_size in (1..=150).chain([1000, 1 << 20]) {
            let options = ReadOptions { block_size, ..Default::default() };
            let entries = read_with(&text, options).unwrap();
            assert_eq!(entries.shape.dimensions(), [97, 300, (1 << 49) + 1]);
            assert_eq!(entries.coordinates[..], coordinates);
            assert_eq!(floats(&entries), values);
            let found: Vec<u64> = (0..300).map(|i| entries.line_of(i).unwrap()).collect();
            assert_eq!(found, lines);
        }
    });
}

#[test]
fn neither_blocks_nor_threads_change_which_mistake_is_reported() {
    let (text, ..) = long_text();
    let good: Vec<&str> = text.lines().collect();
    in_pools(|| {
        for (first, mistake) in [(0, "x"), (1, "3"), (150, "1 1 1"), (385, "0 1 1 1")] {
            let mut lines = good.clone();
            lines[first] = mistake;
            for later in lines[first + 1..].iter_mut().step_by(5) {
                *later = "1 1 nonsense 1";
            }
            let text = lines.join("\n");
            let expected = error(&text);
            assert!(expected.starts_with(&format!("line {}, ", first + 1)), "{expected}");
            for block_size in [1, 64, 1000] {
                let options = ReadOptions { block_size, ..Default::default() };
                assert_eq!(error_with(&text, options), expected);
            }
        }
    });
}

#[test]
fn a_line_may_be_longer_than_a_block() {
    let blanks = " ".repeat(1_000_000);
    let digits = "3".repeat(1_000_000);
    let text = format!("1 1{blanks}1 0.{digits}\n# {digits}{digits}\n2 2 2 1{blanks}\n2 2 2 z");
    let options = ReadOptions { block_size: 100, ..Default::default() };
    assert_eq!(error_with(&text, options.clone()), "line 4, column 7: `z` is not a number");
    let text = text.strip_suffix("\n2 2 2 z").unwrap();
    let entries = read_with(text, options).unwrap();
    assert_eq!(floats(&entries), [1.0 / 3.0, 1.0]);
    assert_eq!(entries.line_of(1), Some(3));
}

#[test]
fn a_line_has_a_largest_length() {
    // 100 MB are fine, an endless line is not, and is given up while memory is bounded.
    let endless = "1 1 1 1\n".as_bytes().chain(io::repeat(b' '));
    let limit = 1 << 27;
    assert_eq!(
        tns::read(endless, &ReadOptions::default()).unwrap_err().to_string(),
        format!("line 2, column {}: the line is longer than {limit} bytes", limit + 1)
    );
    let long = "1 1 1 1 ".as_bytes().chain(io::repeat(b'#').take(100_000_000));
    let long = long.chain("\n1 1 1 2".as_bytes());
    assert_eq!(tns::read(long, &ReadOptions::default()).unwrap().nnz(), 2);
}

/// Gives one byte at a time, with interruptions.
struct Dripping<'a>(&'a [u8], bool);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = buffer.len().min(1);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn input_may_come_in_any_portions_and_tells_its_progress() {
    let last = std::sync::atomic::AtomicU64::new(0);
    let progress = |bytes| last.store(bytes, std::sync::atomic::Ordering::Relaxed);
    let options = ReadOptions { progress: Some(&progress), block_size: 3, ..Default::default() };
    let text = "\u{FEFF}1 1 1 1\n2 2 2 2";
    let entries = tns::read(Dripping(text.as_bytes(), false), &options).unwrap();
    assert_eq!(floats(&entries), [1.0, 2.0]);
    assert_eq!(last.into_inner(), 18);
}

#[test]
fn an_input_that_fails_says_after_which_line() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }
    let options = ReadOptions { block_size: 8, name: Some("a.tns".into()), ..Default::default() };
    for block_size in [1, 8, 1 << 20] {
        let options = ReadOptions { block_size, ..options.clone() };
        let text = "1 1 1 1\n".repeat(1000) + "1 1";
        let error = tns::read(text.as_bytes().chain(Failing), &options).unwrap_err();
        assert_eq!(error.to_string(), "a.tns: reading failed after line 1000: unplugged");
    }
    // A mistake in front of it comes first.
    let text = "1 1 1 1\n1 1 1 x\n";
    let error = tns::read(text.as_bytes().chain(Failing), &options).unwrap_err().to_string();
    assert_eq!(error, "a.tns, line 2, column 7: `x` is not a number");
}

#[test]
fn a_file_that_is_changed_while_it_is_read_is_refused_whatever_was_read_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tns");
    let lines = "1 1 1 1\n2 2 2 2\n".repeat(50_000);
    let (half, more) = (lines.len() as u64 / 2, lines.len() as u64 * 2);
    for length in [0, 7, half, half + 5, lines.len() as u64 - 1, lines.len() as u64 + 1, more] {
        std::fs::write(&path, &lines).unwrap();
        let once = std::sync::Once::new();
        let change = |_| {
            once.call_once(|| {
                let file = std::fs::File::options().write(true).open(&path).unwrap();
                file.set_len(length).unwrap();
            });
        };
        let options =
            ReadOptions { progress: Some(&change), block_size: 1000, ..Default::default() };
        let error = tns::read_path(&path, &options).unwrap_err();
        assert!(matches!(error, tns::TextError::Changed { .. }), "{length}: {error}");
        assert!(error.to_string().ends_with("a.tns: the text was changed while it was read"));
    }
}

#[test]
fn numbers_have_the_forms_that_are_listed_and_no_other() {
    let accepted = [
        ("-.5", -0.5),
        ("5.", 5.0),
        ("+5", 5.0),
        ("00012", 12.0),
        ("1E-3", 1e-3),
        ("0e99999", 0.0),
        ("1e-99999", 0.0),
        ("-iNf", f64::NEG_INFINITY),
        ("+Infinity", f64::INFINITY),
    ];
    for (text, value) in accepted {
        assert_eq!(floats(&read(format!("1 1 1 {text}")).unwrap()), [value], "{text}");
    }
    assert!(floats(&read("1 1 1 -NaN").unwrap())[0].is_nan());
    let refused = [
        "0x1p3", "0x10", "1_000", "1e", "1e+", ".", "+", "--1", "1.2.3", "1e5.0", "infin",
        "nan(1)", "1d3", "\u{664}", "1f", "1e--5", "e5",
    ];
    for text in refused {
        let found = error(format!("1 1 1 1\n1 1 1 {text}"));
        assert_eq!(found, format!("line 2, column 7: `{text}` is not a number"));
    }
}

#[test]
fn a_column_of_millions_of_bytes_is_read_or_quoted_by_its_beginning() {
    let digits = "7".repeat(1_000_000);
    assert_eq!(floats(&read(format!("1 1 1 0.{digits}")).unwrap()), [7.0 / 9.0]);
    assert_eq!(floats(&read(format!("1 1 1 {digits}e-1000000")).unwrap()), [7.0 / 9.0]);
    let zeros = "0".repeat(1_000_000);
    assert_eq!(read(format!("{zeros}2 1 1 1")).unwrap().shape.dimensions(), [2, 1, 1]);
    assert_eq!(floats(&read(format!("1 1 1 {zeros}1.5")).unwrap()), [1.5]);
    for text in [&digits[..], &"x".repeat(1_000_000), &"-".repeat(1_000_000)] {
        for line in [format!("{text} 1 1 1"), format!("1 1 1 {text}")] {
            let error = error(line);
            assert!(error.len() < 250, "{error}");
            assert!(
                error.contains("... (1000000 bytes)") || error.contains("...` (1000000 bytes)"),
                "{error}"
            );
        }
    }
}

#[cfg(feature = "gzip")]
mod gzip {
    use std::io::Write;

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn all_members_are_read_even_if_they_end_within_a_line() {
        let text = [member(b"1 1 1 1.5\n2 2"), member(b""), member(b" 2 2.5\n")].concat();
        let entries = read(&text).unwrap();
        assert_eq!(floats(&entries), [1.5, 2.5]);
        assert_eq!(entries.line_of(1), Some(2));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        let entries = tns::read_path(file.path(), &ReadOptions::default()).unwrap();
        assert_eq!(entries.coordinates[..], [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn compressed_text_holds_the_same_entries_whatever_the_blocks() {
        let (text, coordinates, values, _) = long_text();
        let compressed = member(text.as_bytes());
        in_pools(|| {
            for block_size in [1, 33, 500, 1 << 20] {
                let options = ReadOptions { block_size, ..Default::default() };
                let entries = read_with(&compressed, options).unwrap();
                assert_eq!(entries.coordinates[..], coordinates);
                assert_eq!(floats(&entries), values);
            }
        });
    }

    #[test]
    fn gzip_that_is_cut_short_or_damaged_is_refused() {
        let (text, ..) = long_text();
        let good = member(text.as_bytes());
        for end in [2, 9, 10, 11, good.len() / 2, good.len() - 8, good.len() - 1] {
            let error = error(&good[..end]);
            // The few bytes before an early cut do not make a line.
            let whole_lines = error.starts_with("reading failed after line ");
            assert!(whole_lines || error.starts_with("cannot read the text: "), "{error}");
        }
        let mut damaged = good.clone();
        let crc = damaged.len() - 8;
        damaged[crc] ^= 1;
        assert!(error(damaged).starts_with("reading failed after line "));
    }

    #[test]
    fn very_many_members_are_no_deep_recursion() {
        let empty = member(b"");
        let text = [empty.repeat(100_000), member(b"1 1 1 1.5\n"), empty.repeat(1000)].concat();
        assert_eq!(floats(&read(&text).unwrap()), [1.5]);
        let error = error([&text[..], b"garbage"].concat());
        assert!(error.starts_with("reading failed after line 1: "), "{error}");
    }

    #[test]
    fn a_gzip_bomb_is_given_up_at_the_longest_line() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        io::copy(&mut io::repeat(b' ').take(150_000_000), &mut encoder).unwrap();
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() < 400_000);
        assert!(error(bomb).ends_with("the line is longer than 134217728 bytes"));
    }
}
