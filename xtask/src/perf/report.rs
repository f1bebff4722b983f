//! Rows, as a table or as JSON.

use serde::{Serialize, Serializer};

use super::Result;

/// What a ratio has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bar {
    /// The operation is at least so many times as fast as the yardstick.
    AtLeast(f64),
    /// The operation costs at most so many times as much as the yardstick.
    AtMost(f64),
}

impl Bar {
    /// The ratio that is held against the bar: of speeds or of costs.
    pub(super) fn ratio(self, cost: f64, yardstick: f64) -> f64 {
        match self {
            Self::AtLeast(_) => yardstick / cost,
            Self::AtMost(_) => cost / yardstick,
        }
    }

    /// Whether a ratio is good enough. One that is not a number never is.
    fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(bar) => ratio >= bar,
            Self::AtMost(bar) => ratio <= bar,
        }
    }
}

impl std::fmt::Display for Bar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(bar) => write!(f, ">= {bar}"),
            Self::AtMost(bar) => write!(f, "<= {bar}"),
        }
    }
}

impl Serialize for Bar {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The yardstick whose demand is the smaller one: of pairs of a name, its seconds and how many
/// times as fast as it the operation has to be at least.
pub(super) fn easier<'a>(
    first: (&'a str, f64, f64),
    second: (&'a str, f64, f64),
) -> ((&'a str, f64), Bar) {
    let allowed = |(_, seconds, times): (&str, f64, f64)| seconds / times;
    let chosen = if allowed(first) >= allowed(second) { first } else { second };
    ((chosen.0, chosen.1), Bar::AtLeast(chosen.2))
}

/// One line of the report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) operation: String,
    pub(super) tensor: String,
    pub(super) threads: usize,
    /// `None` where memory was measured.
    pub(super) seconds: Option<f64>,
    pub(super) bytes_per_second: Option<f64>,
    pub(super) yardstick: String,
    /// What the yardstick takes for the same work.
    pub(super) yardstick_seconds: Option<f64>,
    pub(super) ratio: f64,
    pub(super) bar: Bar,
}

impl Row {
    fn is_met(&self) -> bool {
        self.bar.is_met(self.ratio)
    }
}

/// How rows are shown.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Style {
    /// A line each as soon as it is known.
    Table,
    /// All of them at the end.
    Json,
    /// Not at all: somebody else does.
    Silent,
}

impl Style {
    pub(super) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Table }
    }
}

/// The rows so far.
pub(super) struct Report {
    style: Style,
    pub(super) rows: Vec<Row>,
}

impl Report {
    pub(super) fn new(style: Style) -> Self {
        if style == Style::Table {
            println!(
                "{:<32} {:<9} {:>7} {:>10} {:>9}  {:<22} {:>10} {:>8}  bar",
                "operation",
                "tensor",
                "threads",
                "seconds",
                "GB/s",
                "yardstick",
                "seconds",
                "ratio"
            );
        }
        Self { style, rows: Vec::new() }
    }

    pub(super) fn add(&mut self, row: Row) {
        match self.style {
            Style::Table => print(&row),
            Style::Json | Style::Silent => eprintln!("{} {}", row.operation, row.tensor),
        }
        self.rows.push(row);
    }

    /// Shows what has not been shown, and gives the number of bars that are missed.
    pub(super) fn finish(self) -> Result<usize> {
        if self.style == Style::Json {
            println!("{}", serde_json::to_string_pretty(&self.rows)?);
        }
        Ok(self.rows.iter().filter(|row| !row.is_met()).count())
    }
}

fn print(row: &Row) {
    let seconds = |seconds: Option<f64>| seconds.map_or("-".into(), pretty);
    println!(
        "{:<32} {:<9} {:>7} {:>10} {:>9}  {:<22} {:>10} {:>8.2}  {}{}",
        row.operation,
        row.tensor,
        row.threads,
        seconds(row.seconds),
        row.bytes_per_second.map_or("-".into(), |rate| format!("{:.2}", rate / 1e9)),
        row.yardstick,
        seconds(row.yardstick_seconds),
        row.ratio,
        row.bar,
        if row.is_met() { "" } else { "  missed" },
    );
}

/// Seconds with four digits that count.
pub(super) fn pretty(seconds: f64) -> String {
    match seconds {
        1e-3.. => format!("{seconds:.4}"),
        _ => format!("{seconds:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_of_speed_and_of_cost_look_opposite_ways() {
        // Twice as long as the yardstick.
        assert_eq!(Bar::AtLeast(0.7).ratio(2.0, 1.0), 0.5);
        assert_eq!(Bar::AtMost(1.5).ratio(2.0, 1.0), 2.0);
        assert!(!Bar::AtLeast(0.7).is_met(0.5) && Bar::AtLeast(0.7).is_met(0.7));
        assert!(!Bar::AtMost(1.5).is_met(2.0) && Bar::AtMost(1.5).is_met(1.5));
        assert!(!Bar::AtMost(1.5).is_met(f64::NAN) && !Bar::AtLeast(1.5).is_met(f64::NAN));
    }

    #[test]
    fn the_easier_yardstick_allows_more_time() {
        // 2 times as fast as 3 s is 1.5 s; 0.5 of a speed that takes 1 s is 2 s.
        let chosen = easier(("reference", 3.0, 2.0), ("read", 1.0, 0.5));
        assert_eq!(chosen, (("read", 1.0), Bar::AtLeast(0.5)));
    }

    #[test]
    fn json_has_the_columns_of_the_table() {
        let row = Row {
            operation: "validate".into(),
            tensor: "skew3".into(),
            threads: 2,
            seconds: Some(0.5),
            bytes_per_second: Some(1e9),
            yardstick: "read".into(),
            yardstick_seconds: Some(0.25),
            ratio: 0.5,
            bar: Bar::AtLeast(0.7),
        };
        assert_eq!(
            serde_json::to_string(&row).unwrap(),
            r#"{"operation":"validate","tensor":"skew3","threads":2,"seconds":0.5,"bytes_per_second":1000000000.0,"yardstick":"read","yardstick_seconds":0.25,"ratio":0.5,"bar":">= 0.7"}"#
        );
    }
}
