//! Shares of a resource, and max-min fair shares.
//!
//! ```
//! use penstock_scenario::fairness::{Want, max_min, weighted_index};
//! // A source of 90 Mbit/s that may have three parts, and unbounded others with seven.
//! let wants = [Want { weight: 3.0, ..Want::of(90.0) }, Want { weight: 7.0, ..Want::of(f64::INFINITY) }];
//! let wanted = max_min(100.0, &wants);
//! assert!((wanted[0] - 30.0).abs() < 1e-9 && (wanted[1] - 70.0).abs() < 1e-9);
//! let index = weighted_index([60.0, 40.0].into_iter().zip(wanted));
//! assert!((index.unwrap() - 0.764_151).abs() < 1e-6);
//! ```

use penstock_law::quantity::Time;

/// Demand and limits of one of those who share, in the unit of the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Want {
    /// Demand without contention, zero or more; infinite for one without a limit.
    pub demand: f64,
    /// Guaranteed share, if it wants that much.
    pub floor: f64,
    /// Upper bound of the share; infinite for no bound.
    pub ceiling: f64,
    /// Its weight, above zero.
    pub weight: f64,
}

impl Want {
    /// One of weight one, without guarantee and bound.
    pub const fn of(demand: f64) -> Self {
        Self { demand, floor: 0.0, ceiling: f64::INFINITY, weight: 1.0 }
    }

    fn most(&self) -> f64 {
        self.demand.min(self.ceiling)
    }

    fn least(&self) -> f64 {
        self.floor.min(self.most())
    }

    fn at(&self, level: f64) -> f64 {
        (self.weight * level).max(self.least()).min(self.most())
    }
}

/// The weighted max-min allocation of `whole`: everybody is at one level, times its weight, but for those who want or may
/// have less, and those who shall have more. Floors are clips of the level, not parts set aside: 0 and 40 of 100 leave
/// 50 each. Where wants do not fill the whole, each has all it wants; where floors exceed it, they shrink in proportion.
/// (Bertsekas and Gallager, Data Networks, 1987, section 6.5.2, with weights and bounds.)
///
/// # Panics
/// If a weight is not above zero, or a number is not one.
pub fn max_min(whole: f64, wants: &[Want]) -> Vec<f64> {
    for want in wants {
        assert!(want.weight > 0.0 && want.weight.is_finite(), "{want:?}");
        assert!(want.demand >= 0.0 && want.floor >= 0.0 && want.ceiling >= 0.0, "{want:?}");
    }
    let sum = |f: &dyn Fn(&Want) -> f64| wants.iter().map(f).sum::<f64>();
    if sum(&Want::most) <= whole {
        return wants.iter().map(Want::most).collect();
    }
    let floors = sum(&Want::least);
    if floors >= whole {
        return wants.iter().map(|want| want.least() * whole / floors).collect();
    }
    // What is allotted rises with the level in straight pieces between the levels at which somebody's clip begins or ends.
    let clips = wants.iter().flat_map(|want| [want.least(), want.most()].map(|x| x / want.weight));
    let mut levels: Vec<f64> = clips.filter(|level| level.is_finite()).collect();
    levels.sort_unstable_by(f64::total_cmp);
    let fits = |level: &f64| sum(&|want| want.at(*level)) <= whole;
    let below = levels.iter().copied().filter(fits).fold(0.0, f64::max);
    let above = levels.iter().copied().find(|level| *level > below).unwrap_or(2.0 * below + 1.0);
    let rest = whole - sum(&|want| want.at(below));
    // Who rises on this piece is asked in its middle: at its ends rounding would decide.
    let middle = f64::midpoint(below, above);
    let rising = |want: &&Want| want.weight * middle > want.least() && want.weight * middle < want.most();
    let weights: f64 = wants.iter().filter(rising).map(|want| want.weight).sum();
    let level = if weights > 0.0 { below + rest / weights } else { below };
    wants.iter().map(|want| want.at(level)).collect()
}

/// The weighted fairness index of shares got against fair shares, `(got, wanted)` with `wanted` above zero:
/// `(sum x/w)^2 / (n sum (x/w)^2)`, in [1/n, 1]; 1 when all got the same part of their fair share. None where nobody got
/// anything. (Pletka, Kind, Waldvogel, Mannel, equation (2), after Jain, 1991.)
pub fn weighted_index(shares: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    jain(shares.into_iter().map(|(got, wanted)| got / wanted))
}

/// Jain's fairness index, `(sum x)^2 / (n sum x^2)`: 1 when all are equal, 1/n when one has all. None where nothing was
/// shared out. (Jain, Chiu, Hawe, DEC TR-301, 1984.)
pub fn jain(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for x in shares {
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

/// Whether a flow takes part in the sharing over a span: it had begun before the span ended, and had not ended when
/// the span began. A flow ends when it stops sending, or with its only transfer; a pause between transfers is no end.
pub fn takes_part((begun, ended): (Time, Time), (from, to): (Time, Time)) -> bool {
    begun < to && ended > from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_at_its_ends() {
        assert_eq!(jain([3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain([1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain([0.0, 0.0]), None);
        assert_eq!(jain([]), None);
    }

    /// Of a span from 10 to 20: who is there for any of it.
    #[test]
    fn who_takes_part() {
        let span = (Time(10), Time(20));
        for (begun, ended, takes) in [
            (0, 5, false),
            (0, 10, false),
            (0, 11, true),
            (12, 15, true),
            (0, u64::MAX, true),
            (19, 30, true),
            (20, 30, false),
        ] {
            assert_eq!(takes_part((Time(begun), Time(ended)), span), takes, "{begun} to {ended}");
        }
    }

    /// Worked out elsewhere from equation (2).
    #[test]
    fn the_weighted_index_of_eight_cases() {
        let index = |x: &[f64], w: &[f64]| weighted_index(x.iter().copied().zip(w.iter().copied())).unwrap();
        for (x, w, expected) in [
            (&[30.0, 70.0][..], &[30.0, 70.0][..], 1.0),
            (&[90.0, 10.0], &[30.0, 70.0], 0.547_511),
            (&[60.0, 40.0], &[30.0, 70.0], 0.764_151),
            (&[50.0, 50.0], &[50.0, 50.0], 1.0),
            (&[100.0, 0.0], &[50.0, 50.0], 0.5),
            (&[33.3, 66.7], &[50.0, 50.0], 0.899_640),
            (&[10.0, 20.0, 30.0], &[10.0, 20.0, 30.0], 1.0),
            (&[20.0, 20.0, 20.0], &[10.0, 20.0, 30.0], 0.823_129),
        ] {
            assert!((index(x, w) - expected).abs() < 1e-6, "{x:?} {w:?}: {}", index(x, w));
        }
    }

    /// Of two, with q the ratio over its reference: (1 + q)^2 / (2 (1 + q^2)).
    #[test]
    fn the_weighted_index_of_two_by_their_ratio() {
        for (q, expected) in [
            (0.5, 0.9),
            (0.8, 0.987_805),
            (0.9, 0.997_238),
            (1.0, 1.0),
            (1.1, 0.997_738),
            (1.25, 0.987_805),
            (1.5, 0.961_538),
            (2.0, 0.9),
            (3.0, 0.8),
            (5.0, 0.692_308),
            (10.0, 0.599_010),
            (23.33, 0.542_785),
        ] {
            let reference = 3.0 / 7.0;
            let r = q * reference;
            let index = weighted_index([(100.0 * r / (1.0 + r), 30.0), (100.0 / (1.0 + r), 70.0)]).unwrap();
            assert!((index - expected).abs() < 1e-6, "{q}: {index}");
        }
    }

    const GREEDY: f64 = f64::INFINITY;

    fn of(demands: &[f64], floors: &[f64], ceilings: &[f64]) -> Vec<Want> {
        let at = |list: &[f64], n: usize, otherwise: f64| list.get(n).copied().unwrap_or(otherwise);
        let want = |(n, demand): (usize, &f64)| Want {
            floor: at(floors, n, 0.0),
            ceiling: at(ceilings, n, GREEDY),
            ..Want::of(*demand)
        };
        demands.iter().enumerate().map(want).collect()
    }
    fn assert_close(got: &[f64], expected: &[f64]) {
        assert_eq!(got.len(), expected.len());
        assert!(got.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-4), "{got:?} for {expected:?}");
    }

    /// Worked out elsewhere, by bisection on the level.
    #[test]
    fn max_min_of_ten_cases() {
        for (demands, floors, ceilings, expected) in [
            (&[100.0, 100.0][..], &[][..], &[][..], &[50.0, 50.0][..]),
            (&[100.0, 100.0], &[0.0, 40.0], &[], &[50.0, 50.0]),
            (&[100.0, 100.0], &[0.0, 60.0], &[], &[40.0, 60.0]),
            (&[20.0, GREEDY], &[], &[], &[20.0, 80.0]),
            (&[90.0, GREEDY], &[], &[], &[50.0, 50.0]),
            (&[90.0, GREEDY], &[], &[30.0, 100.0], &[30.0, 70.0]),
            (&[10.0, 50.0, 80.0], &[], &[], &[10.0, 45.0, 45.0]),
            (&[5.0, 20.0, 50.0, 70.0], &[0.0, 0.0, 40.0, 0.0], &[], &[5.0, 20.0, 40.0, 35.0]),
            (&[20.0, 30.0], &[], &[], &[20.0, 30.0]),
            (&[100.0, 100.0], &[80.0, 60.0], &[], &[57.1429, 42.8571]),
        ] {
            assert_close(&max_min(100.0, &of(demands, floors, ceilings)), expected);
        }
        let weighted = [Want { weight: 3.0, ..Want::of(90.0) }, Want { weight: 7.0, ..Want::of(GREEDY) }];
        assert_close(&max_min(100.0, &weighted), &[30.0, 70.0]);
        assert_close(&max_min(100.0, &[]), &[]);
    }

    /// The definition of max-min: the whole is shared out; none has more than its most or less than its least; and each that
    /// has less than it wants stands at the level, times its weight, that none stands above but by its floor.
    #[test]
    fn nobody_could_have_more_without_one_who_has_less_paying() {
        let mut state = 7u64;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        for _ in 0..2000 {
            let wants: Vec<Want> = (0..=((unit() * 6.0) as usize))
                .map(|_| Want {
                    demand: if unit() < 0.3 { GREEDY } else { unit() * 80.0 },
                    floor: if unit() < 0.5 { 0.0 } else { unit() * 15.0 },
                    ceiling: if unit() < 0.5 { GREEDY } else { unit() * 80.0 },
                    weight: 0.1 + unit(),
                })
                .collect();
            let got = max_min(100.0, &wants);
            let total: f64 = got.iter().sum();
            let most: f64 = wants.iter().map(Want::most).sum();
            assert!((total - most.min(100.0)).abs() < 1e-9, "{wants:?}: {got:?}");
            let mut level: Option<f64> = None;
            for (x, want) in got.iter().zip(&wants) {
                assert!((want.least() - 1e-9..=want.most() + 1e-9).contains(x), "{want:?}: {x}");
                if *x < want.most() - 1e-9 {
                    level =
                        Some(level.unwrap_or(0.0).max(x / want.weight * f64::from(u8::from(*x > want.least() + 1e-9))));
                }
            }
            // The highest level of those who want more: each of them is there, unless its floor holds it higher.
            let Some(level) = level else { continue };
            for (x, want) in got.iter().zip(&wants) {
                assert!(
                    *x >= (want.weight * level).min(want.most()) - 1e-9,
                    "{want:?} has {x} below the level {level}"
                );
                assert!(
                    *x <= (want.weight * level).max(want.least()) + 1e-9 || level == 0.0,
                    "{want:?} has {x} above the level {level}"
                );
            }
        }
    }
}
