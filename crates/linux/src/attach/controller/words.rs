//! Parameters as the programs have them: the compiled ones of the law in Rust, in the order of `struct law` of its program.

use penstock_law::cc::fast::Fast;
use penstock_law::cc::{Sender, Site};
use penstock_law::quantity::Bytes;
use penstock_law::{Fix, Law};
use penstock_scenario::model::Chosen;

use crate::attach::Error;

/// What a program is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// `struct law`, word by word.
    pub(super) words: Vec<i64>,
    /// Whether the receiver must have the controller too, and echo marks packet by packet.
    pub(super) needs_ecn: bool,
}

/// A connection as the laws are compiled for it. Its first window is the kernel's, told when it opens.
const SITE: Site = Site { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };

/// Compiles a law in the kernel's arithmetic, by way of its entry, which refuses what the twin does not have.
fn compiled<L: Law<Fix<32>, Role = Sender>>(chosen: &Chosen<Sender>) -> Result<L, Error> {
    let refused = |why: String| Error::Input(format!("the law `{}` cannot run like this: {why}", chosen.law.name));
    if let Some(fixed) = chosen.law.fixed {
        fixed(&chosen.values, &SITE).map_err(refused)?;
    }
    L::compile(&chosen.values, &SITE).map_err(refused)
}

pub(super) fn fast(chosen: &Chosen<Sender>) -> Result<Words, Error> {
    let law: Fast<Fix<32>> = compiled(chosen)?;
    let average = law.needs().average_rtt.expect("FAST goes by an average");
    let words = [law.alpha, law.gamma, law.keep, number(average.over_window), number(average.most)];
    Ok(Words { words: words.map(|word| word.0).to_vec(), needs_ecn: false })
}

fn number(x: f64) -> Fix<32> {
    penstock_law::Number::of(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::settings::controller;

    #[test]
    fn fast_is_told_its_parameters_and_its_average() {
        let chosen = controller("fast", &["law.alpha=50 packets".to_owned(), "law.gamma=0.25".to_owned()]).unwrap();
        const ONE: i64 = 1 << 32;
        let told = fast(&chosen).unwrap();
        assert_eq!(told.words, [50 * ONE, ONE / 4, 3 * (ONE / 4), 3 * ONE, ONE / 4]);
    }
}
