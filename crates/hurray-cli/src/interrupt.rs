//! What has to go when a signal ends the process: temporary files and folders.
//!
//! They go in a thread of its own, and then the signal does what it would have done. A process that
//! has nothing to remove handles no signals.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;

/// Removes something, if it is still there.
type Remove = Box<dyn Fn() -> io::Result<()> + Send>;

/// What there may be to remove. Held while something is made, so that no signal comes between
/// that and its being noted; held for good once a signal is there.
static UNFINISHED: Mutex<Vec<Remove>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<Remove>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes something temporary. What is made with it is how to remove that when a signal comes.
pub(crate) fn removes<T, R>(make: impl FnOnce() -> Result<(T, R), Failure>) -> Result<T, Failure>
where
    R: Fn() -> io::Result<()> + Send + 'static,
{
    let mut unfinished = unfinished();
    #[cfg(unix)]
    if unfinished.is_empty() {
        unix::watch()
            .map_err(|error| Failure::Refused(format!("cannot handle signals: {error}")))?;
    }
    let (made, remove) = make()?;
    unfinished.push(Box::new(remove));
    Ok(made)
}

/// Returns unless a signal is about to end the process: nothing that fails because its temporary
/// file is gone is to be reported, nor to give another exit code.
pub(crate) fn settle() {
    drop(unfinished());
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Starts the thread that waits for signals.
    pub(super) fn watch() -> io::Result<()> {
        // Beyond the limit of the size of files a write then fails with an error.
        signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default())?;
        let ignored = ignored();
        let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
        let signals = signals.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let mut signals = Signals::new(signals)?;
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let unfinished = super::unfinished();
                for remove in unfinished.iter() {
                    // The main thread may be putting one more file into a folder; it has few.
                    let _ = (0..10).find(|_| remove().is_ok());
                }
                // Ends the process, as if the signal had not been handled.
                let _ = emulate_default_handler(signal);
            }
        })?;
        Ok(())
    }

    /// The signals that this process was started to ignore, as `nohup` does: bit 0 is signal 1.
    /// Only Linux tells without unsafe code.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
