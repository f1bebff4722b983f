//! Which line each entry stands on.

/// The line of each entry of a file, kept as the places where entries do not follow each other
/// line by line: a few bytes for a file without comments, 16 bytes for each gap otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineNumbers {
    /// Entry and line, where a run of entries on consecutive lines begins.
    runs: Vec<(u64, u64)>,
    entries: u64,
}

impl LineNumbers {
    /// The line that entry `entry` stands on, counted from 1, or `None` if there is no such entry.
    /// A binary search among the gaps.
    #[must_use]
    pub fn line_of(&self, entry: u64) -> Option<u64> {
        if entry >= self.entries {
            return None;
        }
        let run = self.runs.partition_point(|&(first, _)| first <= entry).checked_sub(1)?;
        let (first, line) = self.runs[run];
        Some(line + (entry - first))
    }

    /// Notes that the next entry stands on `line`.
    #[inline]
    pub(super) fn push(&mut self, line: u64) {
        match self.runs.last() {
            Some(&(first, start)) if start + (self.entries - first) == line => {}
            _ => self.runs.push((self.entries, line)),
        }
        self.entries += 1;
    }

    /// Appends the entries of text that begins after `lines_before` other lines.
    pub(super) fn append(&mut self, other: &Self, lines_before: u64) {
        let before = self.entries;
        for &(first, line) in &other.runs {
            self.entries = before + first;
            let line = lines_before + line;
            match self.runs.last() {
                Some(&(first, start)) if start + (self.entries - first) == line => {}
                _ => self.runs.push((self.entries, line)),
            }
        }
        self.entries = before + other.entries;
    }

    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.entries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gaps_are_kept_and_pieces_join_without_one() {
        let piece = |lines: &[u64]| {
            let mut numbers = LineNumbers::default();
            lines.iter().for_each(|&line| numbers.push(line));
            numbers
        };
        let mut all = piece(&[2, 3, 4, 6, 7]);
        assert_eq!(all.runs, [(0, 2), (3, 6)]);
        all.append(&piece(&[]), 7);
        all.append(&piece(&[1, 2, 5]), 7);
        assert_eq!(all.runs, [(0, 2), (3, 6), (7, 12)]);
        let lines: Vec<u64> = (0..8).map(|entry| all.line_of(entry).unwrap()).collect();
        assert_eq!(lines, [2, 3, 4, 6, 7, 8, 9, 12]);
        assert_eq!(all.line_of(8), None);
        assert_eq!(LineNumbers::default().line_of(0), None);
    }
}
