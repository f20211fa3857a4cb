//! Random streams, named by their purpose.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where every random stream of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

/// Draws that belong to things, not to an order: each thing, a number, has its own, whatever else is drawn. A packet's
/// fate at a link is such a draw: another packet more on the link changes no other one's.
#[derive(Debug, Clone, Copy)]
pub struct Coins(u64);

/// A stream of uniform draws.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Seed {
    /// The stream that belongs to `name`, such as `"links.bottleneck/aqm"`.
    ///
    /// It depends on the seed and its own name only: adding a flow, a link or a probe never changes what another stream
    /// draws.
    pub fn stream(self, name: &str) -> Stream {
        // FNV-1a over the name.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        // SplitMix64 from a start that both decide, so that neighbouring seeds and names share nothing.
        let mut mixed = [0; 32];
        let mut z = self.0.wrapping_mul(0xd134_2543_de82_ef95) ^ hash;
        for word in mixed.chunks_exact_mut(8) {
            z = z.wrapping_add(STEP);
            word.copy_from_slice(&mix(z).to_le_bytes());
        }
        Stream(Xoshiro256PlusPlus::from_seed(mixed))
    }

    /// The random draws that belong to `name`.
    pub fn coins(self, name: &str) -> Coins {
        Coins(self.stream(name).bits())
    }
}

impl Coins {
    /// The draw of `thing`, uniform in [0, 1).
    #[inline]
    pub fn of(self, thing: u64) -> f64 {
        unit(mix(self.0.wrapping_add(thing.wrapping_mul(STEP))))
    }
}

/// SplitMix64's step and its finaliser: the numbers of a counter come out as good as random (Steele, Lea, Flood 2014).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn mix(z: u64) -> u64 {
    let x = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Uniform in [0, 1), a multiple of 2^-53.
#[inline]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

impl Stream {
    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// True with probability `p`.
    #[inline]
    pub fn lands(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_only() {
        let draw = |seed, name| Seed(seed).stream(name).bits();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    /// The bits themselves are part of the contract: a changed generator changes every recorded result.
    #[test]
    fn the_first_draws_are_pinned() {
        let mut stream = Seed(1).stream("links.bottleneck/aqm");
        assert_eq!([stream.bits(), stream.bits()], PINNED);
    }
    const PINNED: [u64; 2] = [7_596_159_932_407_937_857, 3_067_990_312_170_583_324];

    /// Draws of neighbouring things are independent: mean, and pairs above a half.
    #[test]
    fn each_thing_has_a_draw_of_its_own() {
        let coins = Seed(3).coins("links.b/loss");
        let draws: Vec<f64> = (0..1_000_000).map(|thing| coins.of(thing)).collect();
        let mean = draws.iter().sum::<f64>() / 1e6;
        let pairs = draws.windows(2).filter(|w| w[0] > 0.5 && w[1] > 0.5).count() as f64 / 1e6;
        assert!((mean - 0.5).abs() < 0.002 && (pairs - 0.25).abs() < 0.002, "{mean} {pairs}");
        assert_eq!(coins.of(7), Seed(3).coins("links.b/loss").of(7));
        assert_ne!(coins.of(7), Seed(4).coins("links.b/loss").of(7));
    }

    #[test]
    fn a_coin_lands_as_often_as_it_should() {
        let mut stream = Seed(7).stream("coin");
        let heads = (0..1_000_000).filter(|_| stream.lands(0.3)).count();
        assert!((heads as f64 / 1e6 - 0.3).abs() < 0.002, "{heads}");
    }
}
