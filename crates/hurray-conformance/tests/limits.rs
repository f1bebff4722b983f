//! What an input may cost: memory that is a small multiple of its size, and time that grows as it
//! does.
//!
//! The multiples hold for every fixture, those that have to be refused included, and for damaged
//! ones; the fuzz targets hold them for what they come across.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::read::GzEncoder;
use hurray_csf::{Csf, Level, Tensor};
use hurray_format::cast::{to_u64, to_usize};
use hurray_format::container::{HEADER_LENGTH, Header, Index, IndexEntry, TRAILER_LENGTH, Trailer};
use hurray_format::layout::{CompositeLayout, CompositionRule};
use hurray_format::{LayoutDescriptor, ModeOrder, Shape, TensorDescriptor, Values};
use hurray_io::tns::{self, Entries, ReadOptions, TextError};
use hurray_io::{File, Writer, WriterOptions};
use hurray_testing::memory::{self, Counting, Usage};
use hurray_testing::{Choices, damage, seeds};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Opens and verifies a file, and says what that allocates at most.
fn open_and_verify(path: &Path, is_strict: bool) -> Usage {
    let options = if is_strict { File::options() } else { File::options().permissive() };
    let ((), usage) = memory::measure(|| {
        if let Ok(file) = options.open(path) {
            let _ = file.verify();
        }
    });
    usage
}

/// What opening and verifying a file of this size may allocate at a time: the data of one tensor at
/// a time, keys to sort them where a list is not sorted, and tables and pieces of a fixed size.
fn allowed(size: usize) -> usize {
    4 * size + (256 << 10)
}

/// Asserts it of a file, opened in both modes. Returns the larger peak.
fn assert_allowed(path: &Path, size: usize, what: &str) -> usize {
    let peaks = [true, false].map(|is_strict| {
        let usage = open_and_verify(path, is_strict);
        assert!(usage.peak <= allowed(size), "{what}: {usage:?} for {size} bytes");
        usage.peak
    });
    peaks[0].max(peaks[1])
}

#[test]
fn a_fixture_is_opened_and_verified_in_a_multiple_of_its_size() {
    let _alone = memory::alone();
    // Threads have stacks of their own, once.
    open_and_verify(&seeds::files()[0].path, true);
    let before = memory::virtual_peak();
    let peaks = seeds::files().iter().map(|seed| {
        let (size, name) = (seed.bytes.len(), seed.path.display().to_string());
        (assert_allowed(&seed.path, size, &name), size, name)
    });
    println!("the largest peak, the size of the file: {:?}", peaks.max());
    // Nor is more mapped, which the allocator does not see. An arena for another thread may be.
    if let (Some(before), Some(after)) = (before, memory::virtual_peak()) {
        assert!(after - before <= 256 << 20, "{} bytes were mapped", after - before);
    }
}

#[test]
fn a_damaged_fixture_is_opened_and_verified_in_a_multiple_of_its_size() {
    let _alone = memory::alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.hrry");
    let mut random = Random(1);
    for round in 0..3000 {
        let decisions: Vec<u8> = (0..64).map(|_| random.next().to_le_bytes()[7]).collect();
        let mut choices = Choices::new(&decisions);
        let seed = choices.pick(seeds::files());
        if seed.parts.is_empty() {
            continue;
        }
        let mut bytes = seed.bytes.clone();
        let part = choices.pick(&seed.parts).clone();
        damage::damage_part(&mut bytes[part], &mut choices);
        damage::repair_checksum(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        assert_allowed(&path, bytes.len(), &format!("{}, round {round}", seed.path.display()));
    }
}

/// Pseudo-random numbers, the same every time (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn written(folder: &Path, write: impl FnOnce(&mut Writer)) -> std::path::PathBuf {
    let path = folder.join("written.hrry");
    let options = WriterOptions { sync: false, overwrite: true, ..WriterOptions::default() };
    let mut writer = Writer::create(&path, options).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    path
}

/// A tree with two leaves under each of `n` nodes.
fn tree(n: usize) -> Tensor<Vec<u64>, Vec<u8>> {
    let nodes: Vec<u64> = (0..to_u64(n)).collect();
    let leaf_pos = (0..=to_u64(n)).map(|node| 2 * node).collect();
    let leaves = (0..2 * to_u64(n)).map(|leaf| leaf % 2).collect();
    let levels = vec![
        Level { pos: vec![0, to_u64(n)], crd: nodes.clone() },
        Level { pos: (0..=to_u64(n)).collect(), crd: vec![5; n] },
        Level { pos: leaf_pos, crd: leaves },
    ];
    let shape = Shape::new([to_u64(n), 6, 2]).unwrap();
    let tree = Csf::new(shape, ModeOrder::identity(3).unwrap(), levels).unwrap();
    let values = Values::new(hurray_format::ElementType::Uint8, 2 * n, vec![1; 2 * n]).unwrap();
    Tensor::new(tree, values).unwrap()
}

/// The rows of a list in no order, without duplicates.
fn unsorted_rows(n: usize) -> Vec<u64> {
    (0..to_u64(n)).flat_map(|i| [i.wrapping_mul(7919) % 1009, 3, i]).collect()
}

#[test]
fn a_large_tensor_is_verified_in_a_multiple_of_its_size() {
    let _alone = memory::alone();
    let folder = tempfile::tempdir().unwrap();
    let n = 40_000;
    let tree = tree(n);
    let path = written(folder.path(), |writer| writer.csf("x", &tree).unwrap());
    let size = to_usize(path.metadata().unwrap().len());
    println!("a tree of {size} bytes: {}", assert_allowed(&path, size, "a tree"));
    File::open(&path).unwrap().verify().unwrap();

    let shape = Shape::new([1009, 4, to_u64(n)]).unwrap();
    let rows = unsorted_rows(n);
    let values = Values::from_slice(&vec![1u8; n]).bytes().to_vec();
    let values = Values::new(hurray_format::ElementType::Uint8, n, values).unwrap();
    let path =
        written(folder.path(), |writer| writer.coo("x", shape, &rows, false, &values).unwrap());
    let size = to_usize(path.metadata().unwrap().len());
    println!("a list of {size} bytes: {}", assert_allowed(&path, size, "an unsorted list"));
    File::open(&path).unwrap().verify().unwrap();
}

/// Text of an endless line or of endless lines, compressed. Counts what is taken of it.
fn bomb(first: &'static [u8], repeated: u8, length: u64) -> Vec<u8> {
    let text = first.chain(std::io::repeat(repeated).take(length));
    let mut bytes = Vec::new();
    GzEncoder::new(text, Compression::fast()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn read_text(bytes: &[u8], block_size: usize) -> (Result<Entries, TextError>, usize, Usage) {
    let mut rest = bytes;
    let options = ReadOptions { block_size, ..ReadOptions::default() };
    let (result, usage) = memory::measure(|| tns::read(rest.by_ref(), &options));
    (result, bytes.len() - rest.len(), usage)
}

#[test]
fn a_gzip_bomb_is_not_inflated_behind_a_mistake() {
    let _alone = memory::alone();
    let inflated = 64 << 20;
    let bytes = bomb(b"1 1 1 not-a-number\n", b'\n', inflated);
    let (result, taken, usage) = read_text(&bytes, 1 << 16);
    let error = result.unwrap_err().to_string();
    assert!(error.starts_with("line 1, column 7: "), "{error}");
    // A few blocks for each thread.
    println!("a bomb of {inflated} bytes, wrong in its first line: {}", usage.peak);
    assert!(taken < bytes.len() / 4, "{taken} of {} bytes", bytes.len());
    assert!(usage.peak < 8 << 20, "{usage:?}");
}

#[test]
fn a_gzip_bomb_takes_memory_for_what_it_holds_only() {
    let _alone = memory::alone();
    // 64 MiB of blank lines hold nothing.
    let bytes = bomb(b"1 1 1 1\n", b'\n', 64 << 20);
    let (result, taken, usage) = read_text(&bytes, 1 << 16);
    assert_eq!((result.unwrap().nnz(), taken), (1, bytes.len()));
    assert!(usage.peak < 8 << 20, "{usage:?}");
    // A line has to be kept until it ends, as far as it was decompressed.
    let inflated = 8 << 20;
    let bytes = bomb(b"1 1 1 1 ", b'7', inflated);
    let (result, _, usage) = read_text(&bytes, 1 << 16);
    result.unwrap_err();
    println!("a line of {inflated} bytes: {}", usage.peak);
    assert!(usage.peak <= 4 * to_usize(inflated), "{usage:?}");
}

#[test]
fn text_takes_a_multiple_of_its_size() {
    let _alone = memory::alone();
    // The shortest entries that there are: two bytes make a coordinate and a value.
    let text = b"1\n".repeat(1 << 20);
    let options = ReadOptions { pattern: true, block_size: 1 << 16, ..ReadOptions::default() };
    let (entries, usage) = memory::measure(|| tns::read(&text[..], &options));
    assert_eq!(entries.unwrap().nnz(), 1 << 20);
    println!("the shortest entries, {} bytes: {}", text.len(), usage.peak);
    assert!(usage.peak <= 32 * text.len(), "{usage:?} for {} bytes", text.len());
}

/// How many times as long something may take with four times the input. A line is 4, a square 16.
const STEEPEST: f64 = 9.0;

/// How long this thread has run, without the time that others had the core. `None` where the system
/// does not say so.
fn running_time() -> Option<Duration> {
    let status = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    status.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// How long something runs on this thread: the mean of as many runs as it takes for the time to be
/// told well, since the system counts in steps of a few milliseconds.
fn time_of(run: impl Fn()) -> Option<Duration> {
    const ENOUGH: Duration = Duration::from_millis(60);
    let start = running_time()?;
    for count in 1.. {
        run();
        let time = running_time()?.saturating_sub(start);
        if time >= ENOUGH {
            return Some(time / count);
        }
    }
    None
}

/// Asserts that something takes allocations and time in proportion to its input: `make` makes one
/// of a size.
fn assert_linear<T: Send + Sync>(
    what: &str,
    size: usize,
    make: impl Fn(usize) -> T,
    run: impl Fn(&T) + Sync,
) {
    let inputs = [make(size), make(4 * size)];
    // On one thread, whose time can be told.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let work = inputs.each_ref().map(|input| memory::measure(|| run(input)).1);
        let [small, large] = work.map(|usage| usage.count + usage.total / 16);
        assert!(large <= 6 * small + 1000, "{what}: allocations {work:?}");
        // Others disturb the caches, too: the best of several, and again if that was not enough.
        let mut best = [Duration::MAX; 2];
        for _ in 0..10 {
            for (best, input) in best.iter_mut().zip(&inputs) {
                let Some(time) = time_of(|| run(input)) else { return };
                *best = time.min(*best);
            }
            if best[1].as_secs_f64() <= STEEPEST * best[0].as_secs_f64() {
                return;
            }
        }
        panic!("{what}: {:?} for {size}, {:?} for four times as much", best[0], best[1]);
    });
}

/// A file on the disk, in a folder that goes away with it.
struct Written {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
}

impl Written {
    fn new(write: impl FnOnce(&mut Writer)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), write);
        Self { _folder: folder, path }
    }

    /// With another index; everything else stays.
    fn with_index(self, change: impl FnOnce(&mut Vec<IndexEntry>)) -> Self {
        let bytes = fs::read(&self.path).unwrap();
        let end = bytes.len() - to_usize(TRAILER_LENGTH);
        let header = Header::decode(&bytes[..to_usize(HEADER_LENGTH)]).unwrap();
        let mut trailer = Trailer::decode(&bytes[end..], to_u64(end), &header).unwrap();
        let start = to_usize(trailer.index.start);
        let mut index = Index::decode(&bytes[start..end], &header, &trailer).unwrap();
        change(&mut index.entries);
        let index = index.encode().unwrap();
        trailer.index.end = trailer.index.start + to_u64(index.len());
        trailer.index_checksum = Some(Index::checksum(&index));
        let bytes = [&bytes[..start], &index, &trailer.encode().unwrap()].concat();
        fs::write(&self.path, bytes).unwrap();
        self
    }
}

/// A group of this many members; the head has no buffers.
fn group(members: u32) -> TensorDescriptor {
    let layout = LayoutDescriptor::Composite(CompositeLayout::new(CompositionRule::Group, members));
    let shape = Shape::new([1]).unwrap();
    TensorDescriptor::new(shape, hurray_format::ElementType::Uint8, layout, Vec::new())
}

#[test]
fn opening_takes_time_in_proportion_to_the_file() {
    let _alone = memory::alone();
    let open = |file: &Written| {
        File::open(&file.path).unwrap().verify().unwrap();
    };
    let refuse = |file: &Written| {
        File::open(&file.path).unwrap_err();
    };
    let keys = |n: usize| {
        Written::new(|writer| {
            (0..n).for_each(|key| writer.set_metadata(format!("key {key}"), 1u64).unwrap());
        })
    };
    assert_linear("keys", 3000, keys, open);

    let heads = |n: usize| {
        Written::new(|writer| {
            (0..n).for_each(|number| writer.tensor(&format!("{number}"), &group(0), &[]).unwrap());
        })
    };
    assert_linear("tensors", 1000, heads, open);
    // One head in another, as deep as it goes, again and again.
    let nested = |n: usize| {
        Written::new(|writer| {
            for number in 0..n {
                let members = u32::from(number % 8 != 7);
                writer.tensor(&format!("{number}"), &group(members), &[]).unwrap();
            }
        })
    };
    assert_linear("nested composites", 1000, nested, open);
    // The same tensor under many names, which would make a small file say very much.
    let repeated = |n: usize| {
        Written::new(|writer| writer.tensor("x", &group(0), &[]).unwrap()).with_index(|entries| {
            let entry = entries[0].clone();
            let again =
                |number: usize| IndexEntry { name: format!("{number:06}"), ..entry.clone() };
            *entries = (0..n).map(again).collect();
        })
    };
    assert_linear("repeated entries", 3000, repeated, refuse);
}

#[test]
fn verifying_takes_time_in_proportion_to_the_tensor() {
    let _alone = memory::alone();
    let verify = |file: &Written| {
        let _ = File::open(&file.path).unwrap().verify();
    };
    let trees = |n: usize| Written::new(|writer| writer.csf("x", &tree(n)).unwrap());
    assert_linear("a tree", 20_000, trees, verify);
    let lists = |n: usize| {
        Written::new(|writer| {
            let shape = Shape::new([1009, 4, to_u64(n)]).unwrap();
            let bytes = vec![1u8; n];
            writer.coo("x", shape, &unsorted_rows(n), false, &Values::from_slice(&bytes)).unwrap();
        })
    };
    // From where a sort splits its entries first, which about doubles what each of them takes.
    assert_linear("an unsorted list", 80_000, lists, verify);
}
