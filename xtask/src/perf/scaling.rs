//! How costs grow with the number of non-zeros: everything measured at each of several.

use super::lab::Lab;
use super::report::{Row, Style, pretty};
use super::{Arguments, Own, Result};

const SIZES: [(&str, usize); 6] = [
    ("100 k", 100_000),
    ("300 k", 300_000),
    ("1 M", 1_000_000),
    ("3 M", 3_000_000),
    ("10 M", 10_000_000),
    ("30 M", 30_000_000),
];

/// Prints a line per operation: its seconds at each size, and how many times as much the largest
/// takes as the smallest, which has 300 times fewer non-zeros.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut reports: Vec<Vec<Row>> = Vec::new();
    for (name, nnz) in SIZES {
        eprintln!("> {name} non-zeros");
        let own = Own { nnz, ..arguments.own.clone() };
        let mut lab = Lab::new(arguments, own, Style::Silent)?;
        arguments.measure(&mut lab)?;
        // Memory has no seconds.
        reports.push(lab.report.rows.into_iter().filter(|row| row.seconds.is_some()).collect());
    }
    print!("{:<32} {:<9} {:>7}", "operation", "tensor", "threads");
    SIZES.iter().for_each(|(name, _)| print!(" {name:>10}"));
    println!(" {:>8}", "growth");
    let [smallest, .., largest] = &*reports else { return Ok(()) };
    for (number, (first, last)) in smallest.iter().zip(largest).enumerate() {
        print!("{:<32} {:<9} {:>7}", first.operation, first.tensor, first.threads);
        for rows in &reports {
            print!(
                " {:>10}",
                rows.get(number).and_then(|row| row.seconds).map_or_else(String::new, pretty)
            );
        }
        let growth = last.seconds.unwrap_or(f64::NAN) / first.seconds.unwrap_or(f64::NAN);
        println!(" {growth:>8.1}");
    }
    Ok(())
}
