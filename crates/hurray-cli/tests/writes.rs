//! Writes that are killed, interrupted, run out of space or are not allowed: afterwards there is
//! the old file or the new one, whole, and nothing beside it.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use common::{EXAMPLE, Folder};
use hurray_format::cast::to_u64;

/// The signals by number, as POSIX has them.
const SIGNALS: [(&str, i32); 4] = [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)];

const TEMPORARY: &str = ".out.hrry.unfinished-0";

/// A folder with `old.hrry` and `new.hrry`, some megabytes each, and a copy of the old one, `out.hrry`.
struct Replacing {
    folder: Folder,
    old: &'static [u8],
    new: &'static [u8],
}

impl Replacing {
    fn new() -> Self {
        static FILES: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let [old, new] = FILES.get_or_init(|| {
            let folder = Folder::new();
            let text: String = (1..=60_000u64)
                .map(|i| format!("{} {} {i} {i}\n", i * 7919 % 300 + 1, i * 104_729 % 500 + 1))
                .collect();
            folder.run_with("convert - old.hrry --name x --quiet", &text).ok();
            folder.run("convert old.hrry new.hrry --mode-order 2,1,0 --quiet").ok();
            folder.run("verify old.hrry new.hrry").ok();
            ["old.hrry", "new.hrry"].map(|name| folder.read(name))
        });
        assert!(old.len() > 1_000_000 && old != new);
        let folder = Folder::new();
        for (name, contents) in [("old.hrry", old), ("new.hrry", new), ("out.hrry", old)] {
            folder.write(name, contents);
        }
        Self { folder, old, new }
    }

    fn convert(&self, input: &str) -> Child {
        let arguments = ["convert", input, "out.hrry", "--force", "--quiet"];
        Command::new(env!("CARGO_BIN_EXE_hurray"))
            .args(arguments)
            .current_dir(self.folder.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs a script of the shell with the path of the binary as `$0` in the folder, on out.hrry.
    fn shell(&self, script: &str) -> (Option<i32>, String) {
        let output = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_hurray")])
            .current_dir(self.folder.path(""))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// The output is one of the two files, whole, and there is no other file. Gives whether it is
    /// the new one.
    #[track_caller]
    fn is_new(&self) -> bool {
        assert_eq!(self.folder.files(), ["new.hrry", "old.hrry", "out.hrry"]);
        let out = self.folder.read("out.hrry");
        assert!(out == self.old || out == self.new, "a mixture of {} bytes", out.len());
        out == self.new
    }

    #[track_caller]
    fn is_old(&self) {
        assert!(!self.is_new());
    }
}

fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Waits until the temporary file is there; `false` if the process ends before that is seen.
fn is_writing(child: &mut Child, folder: &Folder) -> bool {
    let temporary = folder.path(TEMPORARY);
    while !temporary.exists() {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
    }
    true
}

/// Starts writers until one is seen while it writes, waits for a moment, and sends a signal.
fn interrupt(state: &Replacing, name: &str, wait: Duration, start: impl Fn() -> Child) -> Child {
    for _ in 0..100 {
        let mut child = start();
        if is_writing(&mut child, &state.folder) {
            thread::sleep(wait);
            signal(&child, name);
            return child;
        }
    }
    panic!("no writer was ever seen writing");
}

/// Numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    /// From 0 to 99.
    fn percent(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % 100
    }

    /// From nothing to almost `most`.
    fn moment(&mut self, most: Duration) -> Duration {
        most * u32::try_from(self.percent()).unwrap() / 100
    }
}

/// `HURRAY_KILLS=300 cargo test --test writes killed -- --nocapture` kills as many times.
#[test]
fn a_writer_that_is_killed_leaves_the_old_file_or_the_new_and_the_next_one_sweeps_up() {
    let kills = std::env::var("HURRAY_KILLS").ok().and_then(|count| count.parse().ok());
    let kills: usize = kills.unwrap_or(30);
    let state = Replacing::new();
    let start = Instant::now();
    assert!(state.convert("new.hrry").wait().unwrap().success());
    let duration = start.elapsed();
    let mut random = Random(duration.subsec_nanos().into());
    let (mut finished, mut littered) = (0, 0);
    // More than asked for only if none of those hits a moment of writing.
    for round in 0..10 * kills {
        if round >= kills && littered > 0 {
            break;
        }
        let mut child = state.convert(["old.hrry", "new.hrry"][round % 2]);
        // One half at any time, the other as soon as there is a temporary file, or soon after.
        if round % 4 < 2 || is_writing(&mut child, &state.folder) {
            let most = duration.mul_f64(if round % 4 < 2 { 1.1 } else { 0.3 });
            thread::sleep(random.moment(most));
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(status.success() || status.signal() == Some(9), "{status}");
        finished += usize::from(status.success());
        let out = state.folder.read("out.hrry");
        assert!(out == state.old || out == state.new, "a mixture of {} bytes", out.len());
        // What the one before left is gone, if this one came so far.
        let mut files = state.folder.files();
        files.retain(|name| !["new.hrry", "old.hrry", "out.hrry"].contains(&&name[..]));
        assert!(files.is_empty() || files == [TEMPORARY], "{files:?}");
        littered += files.len();
    }
    assert!(littered > 0, "never killed while writing");
    println!("{kills} kills: {finished} came too late, {littered} times a temporary file was left");
    assert!(state.convert("new.hrry").wait().unwrap().success());
    assert!(state.is_new());
}

/// Whether this process was started to ignore a signal.
fn is_ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    mask >> (number - 1) & 1 == 1
}

#[test]
fn a_writer_that_is_interrupted_removes_its_file_and_ends_by_the_signal() {
    let state = Replacing::new();
    let mut random = Random(1);
    for (name, number) in SIGNALS {
        // What is ignored here, as under `nohup`, stays ignored in the command line.
        if is_ignored(number) {
            continue;
        }
        let mut interrupted = 0;
        for round in 0..50 {
            // The first ones at once, later ones within some milliseconds.
            let wait = random.moment(Duration::from_millis(round % 5));
            let child = interrupt(&state, name, wait, || state.convert("new.hrry"));
            let output = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
            assert!(output.status.success() || output.status.signal() == Some(number));
            state.is_new();
            state.folder.write("out.hrry", state.old);
            interrupted += u32::from(!output.status.success());
            if interrupted == 4 {
                break;
            }
        }
        assert_eq!(interrupted, 4, "SIG{name} nearly always came too late");
    }
}

#[test]
fn text_that_is_interrupted_is_removed_as_well() {
    let state = Replacing::new();
    let child = interrupt(&state, "TERM", Duration::ZERO, || {
        Command::new(env!("CARGO_BIN_EXE_hurray"))
            .args(["convert", "old.hrry", "out.hrry", "--to", "tns.gz", "--force", "--quiet"])
            .current_dir(state.folder.path(""))
            .spawn()
            .unwrap()
    });
    assert_eq!(child.wait_with_output().unwrap().status.signal(), Some(15));
    state.is_old();
}

#[test]
fn the_folder_of_an_interrupted_demo_is_removed() {
    let folder = Folder::new();
    for round in 1..=3 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hurray"))
            .args(["demo", "--nnz", "300000"])
            .env("TMPDIR", folder.path(""))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while folder.files().is_empty() {
            assert!(child.try_wait().unwrap().is_none());
        }
        thread::sleep(Duration::from_millis(100 * round));
        signal(&child, "INT");
        let status = child.wait().unwrap();
        assert!(status.success() || status.signal() == Some(2), "{status}");
        assert_eq!(folder.files(), [""; 0]);
    }
}

#[test]
fn a_demo_that_finds_no_place_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_hurray"))
        .args(["demo", "--nnz", "1"])
        .env("TMPDIR", "/no/such/folder")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: cannot create a folder: "), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_the_process_was_started_to_ignore_stays_ignored() {
    let state = Replacing::new();
    let script = "trap '' HUP; exec \"$0\" convert new.hrry out.hrry --force --quiet";
    let child = interrupt(&state, "HUP", Duration::ZERO, || {
        Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_hurray")])
            .current_dir(state.folder.path(""))
            .spawn()
            .unwrap()
    });
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(state.is_new());
}

#[test]
fn a_file_beyond_the_limit_of_size_is_an_error() {
    let state = Replacing::new();
    for format in ["hrry", "tns", "tns.gz"] {
        let script = format!(
            "ulimit -c 0; ulimit -f 20; exec \"$0\" convert new.hrry out.hrry --to {format} --force"
        );
        let (code, message) = state.shell(&script);
        assert_eq!(code, Some(1), "{message}");
        assert!(message.starts_with("error: out.hrry: "), "{message}");
        assert!(message.contains("File too large"), "{message}");
        state.is_old();
    }
}

#[test]
fn standard_output_without_space_is_an_error() {
    let state = Replacing::new();
    if !Path::new("/dev/full").exists() {
        return eprintln!("skipped: there is no /dev/full");
    }
    for command in [
        "convert new.hrry - --quiet",
        "inspect new.hrry",
        "verify new.hrry",
        "--help",
        "get --help",
    ] {
        let (code, message) = state.shell(&format!("exec \"$0\" {command} > /dev/full"));
        assert_eq!(code, Some(1), "{command}: {message}");
        assert!(message.starts_with("error: standard output: No space left"), "{message}");
    }
}

/// Runs a script in a mount namespace of its own, in which the folder `m` was mounted with
/// `options`. `None`, with a message, where that is not permitted.
fn mounted(state: &Replacing, options: &str, script: &str) -> Option<String> {
    fs::create_dir(state.folder.path("m")).unwrap();
    let script = format!("mount {options} m || exit 99; {script}");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script, env!("CARGO_BIN_EXE_hurray")])
        .current_dir(state.folder.path(""))
        .output();
    let text = match output {
        Ok(output) if output.stdout.starts_with(b"mounted\n") => {
            Some(String::from_utf8([&output.stdout[8..], &output.stderr].concat()).unwrap())
        }
        _ => {
            eprintln!("skipped: mounting is not permitted here");
            None
        }
    };
    fs::remove_dir_all(state.folder.path("m")).unwrap();
    text
}

#[test]
fn a_full_disk_is_an_error() {
    let state = Replacing::new();
    let script = "
        echo mounted
        echo precious > m/out.hrry
        for to in hrry tns; do
            \"$0\" convert new.hrry m/out.hrry --to $to --force; echo $?
            cat m/out.hrry; ls -A m
        done";
    let Some(text) = mounted(&state, "-t tmpfs -o size=300k none", script) else { return };
    let lines: Vec<&str> = text.lines().collect();
    let expected = ["1", "precious", "out.hrry", "1", "precious", "out.hrry"];
    assert_eq!(lines[..6], expected, "{text}");
    for line in &lines[6..] {
        assert!(line.starts_with("error: m/out.hrry: "), "{text}");
        assert!(line.contains("No space left"), "{text}");
    }
    assert_eq!(lines.len(), 8);
    state.is_old();
}

#[test]
fn a_read_only_mount_is_an_error() {
    let state = Replacing::new();
    let script = "
        echo mounted
        echo precious > m/out.hrry
        mount -o remount,ro m
        \"$0\" convert new.hrry m/out.hrry --force; echo $?
        \"$0\" convert new.hrry m/other.hrry; echo $?
        cat m/out.hrry; ls -A m";
    let Some(text) = mounted(&state, "-t tmpfs none", script) else { return };
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..4], ["1", "1", "precious", "out.hrry"], "{text}");
    assert!(lines[4].starts_with("error: m/out.hrry: cannot create a temporary file beside it: "));
    assert!(
        lines[5].starts_with("error: m/other.hrry: cannot create a temporary file beside it: ")
    );
    assert!(lines[4..].iter().all(|line| line.contains("Read-only file system")), "{text}");
}

/// Runs the binary as somebody without rights. `None`, with a message, where that is not possible.
fn unprivileged(folder: &Folder, arguments: &str) -> Option<(ExitStatus, String)> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
    let mut command = match is_root {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
            command.arg(env!("CARGO_BIN_EXE_hurray"));
            command
        }
        false => Command::new(env!("CARGO_BIN_EXE_hurray")),
    };
    let output = command.args(arguments.split(' ')).current_dir(folder.path("")).output();
    match output {
        Ok(output) if !output.stderr.starts_with(b"setpriv") => {
            Some((output.status, String::from_utf8(output.stderr).unwrap()))
        }
        _ => {
            eprintln!("skipped: privileges cannot be dropped here");
            None
        }
    }
}

#[test]
fn without_the_right_to_write_the_folder_nothing_is_changed() {
    let state = Replacing::new();
    let folder = &state.folder;
    let mode = |mode| fs::set_permissions(folder.path(""), fs::Permissions::from_mode(mode));
    mode(0o555).unwrap();
    let run = unprivileged(folder, "convert new.hrry out.hrry --force");
    // The folder is to be removed.
    mode(0o755).unwrap();
    let Some((status, message)) = run else { return };
    assert_eq!(status.code(), Some(1));
    assert!(
        message.starts_with("error: out.hrry: cannot create a temporary file beside it: Perm"),
        "{message}"
    );
    state.is_old();
}

#[test]
fn a_write_protected_file_is_replaced_by_force_if_the_folder_allows_it() {
    let state = Replacing::new();
    let out = state.folder.path("out.hrry");
    fs::set_permissions(state.folder.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o444)).unwrap();
    let Some((status, message)) =
        unprivileged(&state.folder, "convert new.hrry out.hrry --force --quiet")
    else {
        return;
    };
    assert!(status.success(), "{message}");
    assert!(state.is_new());
    assert_eq!(fs::metadata(&out).unwrap().mode() & 0o777, 0o444);
}

#[test]
fn an_output_that_is_the_input_by_whatever_name_is_replaced_when_it_is_whole() {
    for name in ["./out.hrry", "../{}/out.hrry", "link.hrry", "hard.hrry"] {
        let state = Replacing::new();
        let folder = &state.folder;
        fs::hard_link(folder.path("out.hrry"), folder.path("hard.hrry")).unwrap();
        symlink("out.hrry", folder.path("link.hrry")).unwrap();
        let own = folder.path("").canonicalize().unwrap();
        let name = name.replace("{}", own.file_name().unwrap().to_str().unwrap());
        let convert = format!("convert out.hrry {name} --mode-order 2,1,0 --quiet");
        folder.run(&convert).fails(1, &format!("{name}: exists already; --force replaces it"));
        folder.run(&format!("{convert} --force")).ok();
        let is_hard = name == "hard.hrry";
        let [out, hard] = ["out.hrry", "hard.hrry"].map(|name| folder.read(name) == state.new);
        assert_eq!((out, hard), (!is_hard, is_hard), "{name}");
        assert!(fs::symlink_metadata(folder.path("link.hrry")).unwrap().is_symlink());
        fs::remove_file(folder.path("hard.hrry")).unwrap();
        fs::remove_file(folder.path("link.hrry")).unwrap();
        assert_eq!(state.is_new(), out);
    }
}

#[test]
fn an_output_that_is_no_file_is_refused_with_advice() {
    let folder = Folder::with_example();
    fs::create_dir(folder.path("d.hrry")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("p.tns")).status().unwrap().success());
    symlink("d.hrry", folder.path("l.hrry")).unwrap();
    let before = folder.files();
    for force in ["", " --force"] {
        for name in ["d.hrry", "p.tns", "l.hrry", "/dev/null"] {
            folder.run(&format!("convert a.hrry {name} --to tns{force}")).fails(
                1,
                &format!(
                    "{name}: not a regular file; to write text to a pipe or a device, say - > PATH"
                ),
            );
        }
    }
    symlink("nowhere", folder.path("dangling.tns")).unwrap();
    folder
        .run("convert a.hrry dangling.tns")
        .fails(1, "dangling.tns: exists already; --force replaces it");
    let run = folder.run("convert a.hrry dangling.tns --force");
    assert!(run.stderr.starts_with("error: dangling.tns: cannot find the file to replace: "));
    fs::remove_file(folder.path("dangling.tns")).unwrap();
    assert_eq!(folder.files(), before);
    assert_eq!(folder.read("a.tns"), EXAMPLE.as_bytes());
}

#[test]
fn several_writers_of_one_target_leave_the_file_of_one_of_them() {
    let state = Replacing::new();
    for round in 0..5 {
        let inputs = ["old.hrry", "new.hrry", "old.hrry", "new.hrry"];
        let children = inputs.map(|input| state.convert(input));
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "round {round}: {output:?}");
        }
        state.is_new();
        state.folder.run("verify out.hrry").ok();
    }
    // Without --force only the first succeeds.
    fs::remove_file(state.folder.path("out.hrry")).unwrap();
    let children = ["old.hrry", "new.hrry", "new.hrry"].map(|input| {
        Command::new(env!("CARGO_BIN_EXE_hurray"))
            .args(["convert", input, "out.hrry", "--quiet"])
            .current_dir(state.folder.path(""))
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    });
    let codes: Vec<_> =
        children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|&&code| code == 0).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|&&code| code == 1).count(), 2, "{codes:?}");
    state.is_new();
}

#[test]
fn an_input_that_shrinks_meanwhile_is_an_error_and_no_crash() {
    let state = Replacing::new();
    let folder = &state.folder;
    folder.run("convert old.hrry text.tns --quiet").ok();
    let text = folder.read("text.tns");
    let mut random = Random(7);
    let mut refused = 0;
    for command in [
        "verify in.hrry",
        "convert in.hrry to.hrry --force --quiet",
        "convert in.tns to.hrry --force --quiet",
    ] {
        let (name, contents) = match command.contains("tns") {
            true => ("in.tns", &text[..]),
            false => ("in.hrry", state.old),
        };
        for _ in 0..12 {
            folder.write(name, contents);
            let mut child = Command::new(env!("CARGO_BIN_EXE_hurray"))
                .args(command.split(' '))
                .current_dir(folder.path(""))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            thread::sleep(random.moment(Duration::from_millis(30)));
            let file = fs::File::options().write(true).open(folder.path(name)).unwrap();
            file.set_len(to_u64(contents.len()) * random.percent() / 100).unwrap();
            let code = child.wait().unwrap().code();
            assert!(matches!(code, Some(0 | 1)), "{command}: {code:?}");
            let output = child.wait_with_output().unwrap();
            assert_eq!(code == Some(1), output.stderr.starts_with(b"error: in."), "{output:?}");
            refused += u32::from(code == Some(1));
        }
    }
    assert!(refused > 0, "always cut too late");
}
