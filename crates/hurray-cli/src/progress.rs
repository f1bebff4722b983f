//! Progress of long work: a bar on stderr where that is a terminal, nothing otherwise.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What a bar counts.
pub(crate) enum Unit {
    Bytes,
    Entries,
}

/// A bar that goes away when it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar for work of known length, or one that only shows that it goes on.
    pub(crate) fn new(what: &'static str, length: Option<u64>, unit: Unit, quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(length, target);
        let template = match (length, unit) {
            (Some(_), Unit::Bytes) => "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}",
            (Some(_), Unit::Entries) => "{msg} {wide_bar} {human_pos}/{human_len}",
            (None, Unit::Bytes) => "{msg} {spinner} {bytes} {bytes_per_sec}",
            (None, Unit::Entries) => "{msg} {spinner} {elapsed}",
        };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self(bar)
    }

    /// Work of which nothing can be told but that it goes on.
    pub(crate) fn spinner(what: &'static str, quiet: bool) -> Self {
        let progress = Self::new(what, None, Unit::Entries, quiet);
        if !progress.0.is_hidden() {
            progress.0.enable_steady_tick(std::time::Duration::from_millis(100));
        }
        progress
    }

    /// Says how far the work is.
    pub(crate) fn set(&self, position: u64) {
        self.0.set_position(position);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
