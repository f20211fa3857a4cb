//! Intervals, tests and verdicts: the run is the replicate, and comparisons are made seed by seed.
//!
//! Every function takes one number for each run, in the order of the seeds. It returns none where the numbers do not
//! suffice: too few of them, or one that is not finite. Equal numbers give equal bits on every machine.
//!
//! ```
//! use penstock_evaluation::statistics::{Limit, Verdict, decide, interval, log_ratios};
//!
//! let delay_s = [0.011, 0.012, 0.010, 0.013];
//! let of_baseline_s = [0.020, 0.022, 0.019, 0.024];
//! let interval_s = interval(&delay_s, 0.95).unwrap();
//! assert_eq!(decide(Some(&interval_s), Limit::AtMost(0.015)), Verdict::Meets);
//!
//! let ratio = interval(&log_ratios(&delay_s, &of_baseline_s).unwrap(), 0.95).unwrap().exp();
//! assert!(ratio.high < 0.57);
//! ```

mod bootstrap;
mod dip;
mod equivalence;
mod holm;
mod interval;
mod looks;
mod paired;
mod spread;
mod test;
mod verdict;

pub use bootstrap::{RESAMPLES, bootstrap};
pub use dip::{dip, dip_critical};
pub use equivalence::{Equivalence, equivalence};
pub use holm::{Holm, holm};
pub use interval::{Interval, interval, mean, median, quantile, standard_deviation};
pub use looks::Looks;
pub use paired::{Stationarity, differences, log_ratios, stationary};
pub use penstock_scenario::student::{student_quantile, student_tail};
pub use spread::{Spread, one_mode, spread};
pub use test::{Test, test};
pub use verdict::{Limit, Verdict, decide};

/// The default probability of an error of the first kind in tests.
pub const ALPHA: f64 = 0.05;
