//! Storage whose contents change between one look and the next, as those of a mapped file may.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Several slices that take turns: every look at it sees the next one, in the given order.
///
/// Worse than a mapping: the length changes as well, and all of the contents at once.
#[derive(Debug)]
pub struct Changing<T> {
    slices: Vec<Vec<T>>,
    order: Vec<usize>,
    looks: AtomicUsize,
}

impl<T> Changing<T> {
    /// Takes `slices` in turns. Every number of `order` stands for one of them, whatever it is.
    ///
    /// # Panics
    /// If there is no slice.
    #[must_use]
    pub fn new(slices: Vec<Vec<T>>, order: &[u8]) -> Self {
        assert!(!slices.is_empty(), "there has to be something to look at");
        let order = order.iter().map(|&number| usize::from(number) % slices.len()).collect();
        Self { slices, order, looks: AtomicUsize::new(0) }
    }

    /// The longest of the slices.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.slices.iter().map(Vec::len).max().unwrap_or(0)
    }
}

impl<T> AsRef<[T]> for Changing<T> {
    fn as_ref(&self) -> &[T] {
        let look = self.looks.fetch_add(1, Relaxed);
        // Without an order, and at first, it is the first one.
        let number = look.checked_rem(self.order.len()).map_or(0, |at| self.order[at]);
        &self.slices[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_take_turns_in_the_given_order() {
        let storage = Changing::new(vec![vec![1], vec![2, 3]], &[0, 3, 1]);
        let seen: Vec<&[u64]> = (0..4).map(|_| storage.as_ref()).collect();
        assert_eq!(seen, [&[1][..], &[2, 3], &[2, 3], &[1]]);
        assert_eq!(storage.longest(), 2);
    }
}
