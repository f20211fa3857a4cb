//! Parameters as the programs have them: the compiled ones of the law in Rust, in the order of `struct law` of its program.

use penstock_law::cc::ccp::Control;
use penstock_law::cc::copa::Copa;
use penstock_law::cc::fast::Fast;
use penstock_law::cc::leadlag::LeadLag;
use penstock_law::cc::prague::Prague;
use penstock_law::cc::{self, Controller, Marks};
use penstock_law::estimate::{Lookback, PriceTable};
use penstock_law::quantity::Bytes;
use penstock_law::{Fix, Law};
use penstock_scenario::model::Chosen;

use crate::attach::error::Error;

/// The requirements that a program over bpf/cc/controller.h has to know: `struct requirements` there.
pub(super) type RequirementWords = [i64; 4];

/// The parameters in the form that a program takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgramParameters {
    /// `struct law`, word by word.
    pub(super) words: Vec<i64>,
    /// True if the receiver must have the controller too, and echo marks packet by packet.
    pub(super) requires_ecn: bool,
    /// The law's requirements, for a program that an entry brings, or which of them bpf/cc/controller.h does not measure; that
    /// matters where the program includes it.
    pub(super) requirements: Option<Result<RequirementWords, String>>,
    /// True if the law requires deliveries, which such a program then gives to it.
    pub(super) delivery: bool,
}

impl ProgramParameters {
    fn new(words: Vec<i64>, requires_ecn: bool) -> Self {
        Self { words, requires_ecn, requirements: None, delivery: false }
    }
}

/// A connection as the laws are compiled for it. Its first window is the kernel's, known when it opens.
pub(super) const SITE: cc::Context = cc::Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };

/// Compiles a law in the kernel's arithmetic, by way of its entry, which refuses parameters without a kernel implementation.
fn compiled<L: Law<Fix<32>, Role = Controller>>(chosen: &Chosen<Controller>) -> Result<L, Error> {
    let refused =
        |why: String| Error::Input(format!("the law `{}` cannot run with these parameters: {why}", chosen.law.name));
    if let Some(fixed) = chosen.law.fixed {
        fixed(&chosen.values, &SITE).map_err(refused)?;
    }
    L::compile(&chosen.values, &SITE).map_err(refused)
}

pub(super) fn fast(chosen: &Chosen<Controller>) -> Result<ProgramParameters, Error> {
    let law: Fast<Fix<32>> = compiled(chosen)?;
    let average = law.requirements().average_rtt.expect("FAST goes by an average");
    let [step, surge, qdelay] = law.start.map_or([number(0.0); 3], |start| [start.step, start.surge, start.qdelay_s]);
    let average = [number(average.over_window), number(average.most)];
    let words = [law.alpha, law.gamma, law.keep, step, surge, qdelay].into_iter().chain(average);
    Ok(ProgramParameters::new(words.map(|word| word.0).collect(), false))
}

pub(super) fn leadlag(chosen: &Chosen<Controller>) -> Result<ProgramParameters, Error> {
    let law: LeadLag<Fix<32>> = compiled(chosen)?;
    let needs = law.requirements();
    let period_s = needs.tick_s.expect("the lead-lag protocol has a period");
    let estimate = if let Marks::Price(estimate) = needs.marks { Some(estimate) } else { None };
    let mut words: Vec<i64> =
        [law.step, law.weight, law.gain, law.cap, law.scale, law.least, law.most, law.ln2].map(|word| word.0).to_vec();
    words.extend([i64::from(estimate.is_none()), i64::from(chosen.values.switch("form"))]);
    words.push((period_s * 1e6).round() as i64);
    // By delay there is neither a register nor a price.
    words.push(estimate.map_or(0, |estimate| i64::from(estimate.packets)));
    let table = estimate.map(|estimate| (estimate.packets, PriceTable::<Fix<32>>::new(estimate)));
    let price = |marks: u32| table.as_ref().map_or(0, |(most, table)| table.price_s(marks.min(*most)).0);
    words.extend((0..=MOST_MARKS).map(price));
    Ok(ProgramParameters::new(words, estimate.is_some()))
}

pub(super) fn ccpd(chosen: &Chosen<Controller>) -> Result<ProgramParameters, Error> {
    let law: Control<Fix<32>, true> = compiled(chosen)?;
    let needs = law.requirements();
    let (average, bottleneck) = (needs.average_rtt, needs.bottleneck);
    let (average, bottleneck) = average.zip(bottleneck).expect("CCPD goes by an average and its bottleneck");
    if bottleneck.pairs > MOST_PAIRS {
        let what = format!(
            "the law `ccpd`: `pairs` is {}, and its kernel program keeps at most {MOST_PAIRS} packet pairs",
            bottleneck.pairs
        );
        return Err(Error::Input(what));
    }
    let lookback = match bottleneck.lookback {
        None => 0,
        Some(Lookback::RoundTrip) => 1,
        Some(Lookback::Acknowledgement) => 2,
    };
    let implicit = i64::from(law.implicit);
    let weight = number(average.most).0;
    let words = vec![law.kp.0, implicit, law.kd_s.0, weight, i64::from(bottleneck.pairs), lookback];
    Ok(ProgramParameters::new(words, false))
}

pub(super) fn copa(chosen: &Chosen<Controller>) -> Result<ProgramParameters, Error> {
    let law: Copa<Fix<32>> = compiled(chosen)?;
    let average = law.requirements().average_rtt.expect("Copa goes by an average");
    let numbers = [law.delta, law.min_rtt_window_s, law.mode_window, law.nearly_empty].map(|word| word.0);
    let words = numbers.into_iter().chain([i64::from(law.competitive), number(average.most).0]).collect();
    Ok(ProgramParameters::new(words, false))
}

pub(super) fn prague(chosen: &Chosen<Controller>) -> Result<ProgramParameters, Error> {
    let law: Prague<Fix<32>> = compiled(chosen)?;
    let mut words: Vec<i64> = [law.g, law.virtual_rtt_s, law.transition, law.least_window].map(|word| word.0).to_vec();
    words.extend([i64::from(law.of_reductions), law.initial_state().alpha.0]);
    Ok(ProgramParameters::new(words, true))
}

/// The packet pairs that are kept, as in bpf/cc/ccpd.bpf.c.
const MOST_PAIRS: u32 = 64;
/// The longest register of marks, as in bpf/cc/leadlag.bpf.c.
const MOST_MARKS: u32 = 64;

fn number(x: f64) -> Fix<32> {
    penstock_law::Number::of(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use penstock_law::Registry;

    use crate::attach::settings;

    fn controller(law: &str, settings: &[String]) -> Result<Chosen<Controller>, Error> {
        settings::controller(&Arc::new(Registry::standard()), law, settings)
    }

    #[test]
    fn fast_gets_its_parameters_and_its_average() {
        let chosen = controller("fast", &["law.alpha=50 packets".to_owned(), "law.gamma=0.25".to_owned()]).unwrap();
        let told = fast(&chosen).unwrap();
        assert_eq!(told.words, [50 << 32, 1 << 30, 3 << 30, 0, 0, 0, 3 << 32, 1 << 30]);
    }

    /// gamma alpha, growth less one, and the delay; the one without the other is refused.
    #[test]
    fn fast_gets_a_start_that_multiplies() {
        let told = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
            controller("fast", &set).and_then(|chosen| fast(&chosen)).map(|words| words.words[3..6].to_vec())
        };
        let growth = "law.start_growth=1.25";
        assert_eq!(told(&[growth, "law.start_qdelay=250 ms"]).unwrap(), [50 << 32, 1 << 30, 1 << 30]);
        assert_eq!(told(&[growth]).unwrap()[2], 2_147_484, "500 us in 2^-32 s");
        assert_eq!(told(&["law.start_growth=1"]).unwrap(), [0; 3]);
        assert!(told(&["law.start_qdelay=1 ms"]).unwrap_err().to_string().contains("with `start_growth` only"));
    }

    /// The price of k marks in N is -ln(1 - k/N) / ln phi, capped for k = N at the k of N - 1/2.
    #[test]
    fn leadlag_gets_its_table_of_prices() {
        let chosen = controller("leadlag", &["law.N=40 packets".to_owned(), "law.period=5 ms".to_owned()]).unwrap();
        let told = leadlag(&chosen).unwrap();
        assert!(told.requires_ecn && told.words.len() == 12 + 65);
        assert_eq!(told.words[8..13], [0, 0, 5000, 40, 0]);
        let price = |marks: usize| told.words[12 + marks] as f64 / 4_294_967_296.0;
        assert!((price(20) - libm::log(2.0) / libm::log(1000.0)).abs() < 1e-9, "{}", price(20));
        assert!((price(40) - libm::log(80.0) / libm::log(1000.0)).abs() < 1e-9 && price(64) == price(40));
    }

    /// By delay nobody else must have it; the exponent of the rate is the printed one less one.
    #[test]
    fn leadlag_gets_its_signal_and_form() {
        let told = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
            leadlag(&controller("leadlag", &set).unwrap()).unwrap()
        };
        let printed = told(&["law.signal=delay"]);
        assert!(!printed.requires_ecn && printed.words.len() == 12 + 65);
        assert_eq!(printed.words[8..12], [1, 0, 10_000, 0]);
        assert!(printed.words[12..].iter().all(|word| *word == 0));
        let other = told(&["law.signal=delay", "law.exponent=of the rate", "law.form=linearised"]);
        assert_eq!(other.words[8..10], [1, 1]);
        assert_eq!(printed.words[2] - other.words[2], 1 << 32);
        assert_eq!(told(&["law.form=linearised"]).words[8..10], [0, 1]);
    }

    #[test]
    fn ccpd_gets_its_gains_and_where_to_look_back() {
        let told = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
            ccpd(&controller("ccpd", &set).unwrap()).map(|words| words.words)
        };
        let kd = penstock_law::Number::of(0.1);
        let Fix::<32>(kd) = kd;
        assert_eq!(told(&[]).unwrap(), [2 << 32, 1, kd, 1 << 29, 50, 1]);
        assert_eq!(told(&["law.kd=0"]).unwrap()[5], 0, "without derivative nothing is kept");
        assert_eq!(told(&["law.derivative_span=ack", "law.window_form=explicit"]).unwrap()[5], 2);
        assert!(told(&["law.pairs=65"]).unwrap_err().to_string().contains("keeps at most 64"));
    }

    #[test]
    fn copa_gets_its_mode_and_its_average() {
        let told = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
            copa(&controller("copa", &set).unwrap()).unwrap()
        };
        assert!(!told(&[]).requires_ecn);
        let Fix::<32>(tenth) = penstock_law::Number::of(0.1);
        assert_eq!(told(&[]).words, [1 << 31, 10 << 32, 5 << 32, tenth, 1, 1 << 29]);
        let other = told(&["law.delta=0.25", "law.min_rtt_window=1 s", "law.competitive=false"]);
        assert_eq!(other.words, [1 << 30, 1 << 32, 5 << 32, tenth, 0, 1 << 29]);
    }

    /// Its receiver has it too, to echo marks packet by packet.
    #[test]
    fn prague_gets_its_virtual_round_trip() {
        let told = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
            prague(&controller("prague", &set).unwrap())
        };
        let Fix::<32>(virtual_rtt) = penstock_law::Number::of(0.025);
        assert!(told(&[]).unwrap().requires_ecn);
        assert_eq!(told(&[]).unwrap().words, [1 << 28, virtual_rtt, 500 << 32, 2 << 32, 0, 1 << 32]);
        let other = told(&["law.rounds=of-reductions", "law.alpha=0.5", "law.transition=0"]).unwrap();
        assert_eq!(other.words[2..], [0, 2 << 32, 1, 1 << 31]);
        for (setting, said) in [("law.fallback=true", "`fallback"), ("law.least_window=0.5 packets", "`least_window")] {
            let error = told(&[setting]).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn what_the_program_has_not_is_refused() {
        for (setting, said) in [("law.max_rate=1 Mbit/s", "`max_rate`"), ("law.fairness=2", "`fairness`")] {
            let chosen = controller("leadlag", &[setting.to_owned()]).unwrap();
            let error = leadlag(&chosen).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
