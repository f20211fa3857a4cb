//! The path price from the marks of the last N packets.
//!
//! Source: Paganini, Wang, Low, Doyle, "A New TCP/AQM for Stable Operation in Fast Networks", section IV-A and Fig. 3:
//! `P^ = marks / N`, `q^ = -ln(1 - P^) / ln(phi)`.
//! Differs: `P^` is capped at `1 - 1/(2N)`, because N marks out of N would make the estimate infinite; the register takes
//! counts, because one acknowledgement of a kernel may cover more packets than the register holds.
//!
//! The estimate is a delay of N/2 packets in the loop (equation (19)); the stability analysis takes that filter as
//! declared, and the register itself stays frozen.

use alloc::vec::Vec;

use crate::number::Number;

/// Which estimate of the path price a law wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkEstimate {
    /// The number of the latest packets that count, 1 to 64 [packets].
    pub packets: u32,
    /// The base of the marking law `P = 1 - phi^-price`, above 1.
    pub phi: f64,
}

impl MarkEstimate {
    /// The lag it puts into a loop at `rate` [packets/s]: the time to receive N/2 packets [s]; equation (19).
    pub fn lag_s(self, rate: f64) -> f64 {
        f64::from(self.packets) / (2.0 * rate)
    }
}

/// The marks of the last `packets` packets, newest in bit zero. Starts unmarked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MarkRegister(u64);

impl MarkRegister {
    /// Takes in `packets` packets of which `marked` were marked, the marked ones last, and returns the marks among the
    /// latest `length`.
    pub fn take(&mut self, length: u32, packets: u32, marked: u32) -> u32 {
        debug_assert!((1..=64).contains(&length) && marked <= packets);
        let kept = u64::MAX >> (64 - length);
        let ones = if marked >= 64 { u64::MAX } else { (1 << marked) - 1 };
        self.0 = (if packets >= 64 { 0 } else { self.0 << packets } | ones) & kept;
        self.0.count_ones()
    }
}

/// The estimate for every count of marks, rounded once: no logarithm a packet, none in the kernel.
#[derive(Debug, Clone)]
pub struct PriceTable<N> {
    price_s: Vec<N>,
}

impl<N: Number> PriceTable<N> {
    /// The table of `estimate`: one entry more than it counts packets.
    pub fn new(estimate: MarkEstimate) -> Self {
        let n = f64::from(estimate.packets);
        let price = |marks: u32| {
            let share = Number::min(f64::from(marks) / n, 1.0 - 0.5 / n);
            N::of(-libm::log1p(-share) / libm::log(estimate.phi))
        };
        Self { price_s: (0..=estimate.packets).map(price).collect() }
    }

    /// The estimated price for `marks` marked packets [s].
    #[inline]
    pub fn price_s(&self, marks: u32) -> N {
        self.price_s[marks as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: MarkEstimate = MarkEstimate { packets: 31, phi: 1000.0 };

    /// The estimator table of the reference (N = 31, phi = 1000), the capped last entry included.
    #[test]
    fn the_table_is_the_inverse_of_the_marking_law() {
        let table = PriceTable::<f64>::new(PAPER);
        let oracle = [
            (0, 0.0),
            (1, 0.004_747),
            (2, 0.009_655),
            (5, 0.025_463),
            (10, 0.056_381),
            (15, 0.095_747),
            (20, 0.149_990),
            (25, 0.237_737),
            (30, 0.497_121),
            (31, 0.597_464),
        ];
        for (marks, price) in oracle {
            assert!((table.price_s(marks) - price).abs() < 5e-7, "{marks}: {}", table.price_s(marks));
        }
    }

    #[test]
    fn the_register_forgets_what_is_older_than_its_length() {
        let mut register = MarkRegister::default();
        assert_eq!(register.take(31, 1, 1), 1);
        for _ in 0..30 {
            assert_eq!(register.take(31, 1, 0), 1);
        }
        assert_eq!(register.take(31, 1, 0), 0);
    }

    /// One acknowledgement for 44 packets, 40 of them marked, leaves the latest 31: all marked.
    #[test]
    fn a_batch_longer_than_the_register_fills_it() {
        let mut register = MarkRegister::default();
        assert_eq!(register.take(31, 44, 40), 31);
        assert_eq!(register.take(31, 100, 0), 0);
        assert_eq!(register.take(64, 64, 64), 64);
    }

    /// Mean over truth and standard deviation [s] of the estimate, if each packet is marked by itself with the probability
    /// of `price_s`: over the binomial distribution of marks in the register, exactly.
    fn noise(price_s: f64) -> (f64, f64) {
        let table = PriceTable::<f64>::new(PAPER);
        let marked = 1.0 - libm::pow(PAPER.phi, -price_s);
        let n = f64::from(PAPER.packets);
        let (mut share, mut mean, mut square) = (libm::pow(1.0 - marked, n), 0.0, 0.0);
        for marks in 0..=PAPER.packets {
            let q = table.price_s(marks);
            (mean, square) = (mean + share * q, square + share * q * q);
            let k = f64::from(marks);
            share *= (n - k) / (k + 1.0) * marked / (1.0 - marked);
        }
        (mean / price_s, libm::sqrt(square - mean * mean))
    }

    /// Reference, 9.4: the estimate reads a price 2 to 4 % high, and how much it scatters at the prices of Fig. 8's stages and
    /// of Fig. 5 at 100 Mbit/s. No mark at all in the register is rare but in the first stage.
    #[test]
    fn the_estimate_scatters_as_31_coins_do() {
        for (price, over, sd) in [
            (0.006_736_8, 1.0169, 0.005_78),
            (0.013_473_7, 1.0173, 0.008_28),
            (0.026_947_4, 1.0182, 0.012_02),
            (0.053_894_7, 1.0202, 0.017_96),
            (0.107_789_5, 1.0253, 0.028_65),
            (0.210_526, 1.0416, 0.053_33),
        ] {
            let (is_over, is_sd) = noise(price);
            assert!((is_over - over).abs() < 1e-4 && (is_sd - sd).abs() < 1e-5, "{price}: {is_over} {is_sd}");
        }
        // 1000^(-31 q) of all registers are empty.
        let empty = libm::pow(PAPER.phi, -31.0 * 0.006_736_8);
        assert!((empty - 0.236).abs() < 5e-4, "{empty}");
    }
}
