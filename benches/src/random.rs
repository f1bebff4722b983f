//! Random numbers that are the same on every machine and in every version.

/// The generator SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, all equally likely but for less than `bound / 2^64`; 0 if the bound
    /// is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        // The upper half of the product.
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to 1, without 1, in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = self.below(end as u64 + 1);
            items.swap(end, hurray_format::cast::to_usize(other));
        }
    }
}

/// How the coordinates along one dimension are drawn.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// All below the size are equally likely.
    Uniform(u64),
    /// Coordinate `k` is as likely as `(k + 1)^-s`.
    Zipf(Alias),
}

impl Distribution {
    /// Coordinates of a dimension of `size`, by a Zipf law of this exponent if there is one. A law
    /// takes 16 bytes for each coordinate.
    #[must_use]
    pub fn new(size: u64, exponent: Option<f64>) -> Self {
        match exponent {
            None => Self::Uniform(size),
            Some(s) => Self::Zipf(Alias::new((1..=size).map(|rank| (rank as f64).powf(-s)))),
        }
    }

    /// The next coordinate.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Self::Uniform(size) => random.below(*size),
            Self::Zipf(alias) => alias.draw(random),
        }
    }
}

/// Weighted draws in constant time: the alias method of Walker in the form of Vose. Every place
/// has a chance to keep what is drawn, and another place that gets it otherwise.
#[derive(Clone, Debug)]
pub struct Alias(Vec<(f64, u64)>);

impl Alias {
    /// A table for these weights, which are positive.
    #[must_use]
    pub fn new(weights: impl Iterator<Item = f64>) -> Self {
        let mut table: Vec<(f64, u64)> = weights.zip(0..).collect();
        let mean = table.iter().map(|place| place.0).sum::<f64>() / table.len() as f64;
        table.iter_mut().for_each(|place| place.0 /= mean);
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
            (0..table.len()).partition(|&place| table[place].0 < 1.0);
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            table[taker].1 = giver as u64;
            table[giver].0 -= 1.0 - table[taker].0;
            if table[giver].0 < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        Self(table)
    }

    /// A place, as likely as its weight.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        let place = random.below(self.0.len() as u64);
        let (keep, other) = self.0[hurray_format::cast::to_usize(place)];
        if random.unit() < keep { place } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_splitmix64() {
        let mut random = Random::new(0);
        assert_eq!(random.bits(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.bits(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn zipf_draws_are_as_frequent_as_the_law_says() {
        let (size, exponent, draws) = (50, 1.1, 400_000);
        let distribution = Distribution::new(size, Some(exponent));
        let mut random = Random::new(7);
        let mut counts = vec![0u32; 50];
        for _ in 0..draws {
            counts[hurray_format::cast::to_usize(distribution.draw(&mut random))] += 1;
        }
        let total: f64 = (1..=50).map(|rank| f64::from(rank).powf(-exponent)).sum();
        for (rank, count) in (1..=50).zip(counts) {
            let expected = f64::from(draws) * f64::from(rank).powf(-exponent) / total;
            // Five standard deviations.
            let found = f64::from(count);
            assert!((found - expected).abs() < 5.0 * expected.sqrt(), "rank {rank}: {found}");
        }
    }

    #[test]
    fn uniform_draws_reach_every_coordinate() {
        let mut random = Random::new(3);
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            counts[hurray_format::cast::to_usize(Distribution::new(10, None).draw(&mut random))] +=
                1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn shuffling_keeps_what_is_there() {
        let mut items: Vec<u64> = (0..1000).collect();
        Random::new(1).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.into_iter().eq(0..1000));
    }
}
