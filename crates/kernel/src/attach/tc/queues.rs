//! The parameters of AQMs, in the words of their C structures.

use penstock_law::aqm::avq::Avq;
use penstock_law::aqm::bat::{Alone, Bat};
use penstock_law::aqm::clcc::{Clcc, Preemption, Steered, Steering};
use penstock_law::aqm::price::Price;
use penstock_law::aqm::{self, Aqm};
use penstock_law::parameter::Unit;
use penstock_law::quantity::Rate;
use penstock_law::{Entry, Fix, Law, Number};
use penstock_scenario::model::Scenario;
use penstock_scenario::quantity::print_real;

use super::own::{self, OwnParameters};
use super::parameters::{NotEct, ProgramParameters, Settings};
use crate::attach::error::Error;
use crate::attach::settings;

/// Words of `struct bat` and `struct clcc`.
pub(super) const BAT: usize = 4;
pub(super) const CLCC: usize = 13;

/// The treatment of a packet that a law chooses: `enum chosen` of `bpf/tc/line.h`.
#[derive(Debug, Clone, Copy)]
enum OfChosen {
    Drop,
    Mark,
    MarkOrPass,
}

impl OfChosen {
    /// Of a law that marks.
    fn marking(not_ect: NotEct) -> Self {
        match not_ect {
            NotEct::Drop => Self::Mark,
            NotEct::Pass => Self::MarkOrPass,
        }
    }
}

/// `struct line` of `bpf/tc/line.h`, and the law's parameters behind it.
fn line(site: &aqm::Context, period_s: f64, chosen: OfChosen, law: &[i64]) -> Vec<i64> {
    let mut bytes = Vec::new();
    bytes.extend((site.packet.0 as u32).to_ne_bytes());
    bytes.extend((chosen as u32).to_ne_bytes());
    let packet_and_chosen = i64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    let capacity = Fix::<32>::of(site.packets_per_s()).0;
    [&[capacity, (period_s * 1e9).round() as i64, packet_and_chosen], law].concat()
}

fn queue(scenario: &Scenario, words: Vec<i64>, start: Vec<i64>, not_ect: Option<NotEct>) -> ProgramParameters {
    let link = &scenario.links["device"];
    let mut parameters = vec![
        ("link.rate".to_owned(), print_real(link.rate.0 as f64, Unit::BitPerSecond)),
        ("link.packet".to_owned(), format!("{} B", scenario.packet.wire.0)),
    ];
    parameters.extend(settings::shown(&link.aqm).into_iter().map(|(key, value)| (format!("aqm.{key}"), value)));
    parameters.extend(not_ect.map(|what| (NotEct::KEY.to_owned(), what.name().to_owned())));
    ProgramParameters { words, start, parameters, fit: None }
}

/// Those of a law that an entry brings.
pub(super) fn own(law: &'static Entry<Aqm>, settings: &Settings) -> Result<ProgramParameters, Error> {
    let (scenario, site) = (&settings.scenario, settings.scenario.site("device"));
    let own = own::parameters(law, &scenario.links["device"].aqm.values, &site, settings.not_ect)?;
    let not_ect = own.not_ect;
    Ok(ProgramParameters { fit: Some(own.fit), ..queue(scenario, own_words(&own, &site), own.start, not_ect) })
}

/// `struct line` and the parameters of a law that an entry brings.
pub(super) fn own_words(own: &OwnParameters, site: &aqm::Context) -> Vec<i64> {
    let chosen = own.not_ect.map_or(OfChosen::Drop, OfChosen::marking);
    line(site, own.period_s, chosen, &own.words)
}

pub(super) fn price(settings: &Settings) -> Result<ProgramParameters, String> {
    let (scenario, not_ect) = (&settings.scenario, settings.not_ect.unwrap_or_default());
    let (values, site) = (&scenario.links["device"].aqm.values, scenario.site("device"));
    let law: Price<Fix<32>> = Law::compile(values, &site)?;
    let law = [law.target.0, law.period.0, law.ln_phi.0];
    let words = line(&site, values.number("period"), OfChosen::marking(not_ect), &law);
    Ok(queue(scenario, words, Vec::new(), Some(not_ect)))
}

pub(super) fn avq(settings: &Settings) -> Result<ProgramParameters, String> {
    let scenario = &settings.scenario;
    let (values, site) = (&scenario.links["device"].aqm.values, scenario.site("device"));
    let law: Avq<Fix<32>> = Law::compile(values, &site)?;
    if !law.bytes {
        return Err("`aqm.bytes = false` counts packets, and at a device many travel as one: leave it out".to_owned());
    }
    let words = [law.gamma.0, law.alpha.0, law.buffer.0, law.mean_packet.0, i64::from(law.bytes)];
    let start = law.initial_state();
    let not_ect = values.switch("ecn").then(|| settings.not_ect.unwrap_or_default());
    if not_ect.is_none() && settings.not_ect.is_some() {
        return Err("`not_ect`: without `aqm.ecn=true` `avq` marks nothing, and drops whatever it chooses".to_owned());
    }
    let words = line(&site, 0.0, not_ect.map_or(OfChosen::Drop, OfChosen::marking), &words);
    Ok(queue(scenario, words, vec![start.virtual_capacity.0, start.virtual_queue.0], not_ect))
}

/// The indices of TCP and of everything else among the law's classes.
fn classes(scenario: &Scenario) -> [usize; 2] {
    let names = scenario.class_names();
    ["tcp", "other"].map(|class| names.iter().position(|name| *name == class).unwrap_or(0))
}

/// `struct shared_line` of `bpf/tc/classes.h`, and the law's parameters behind it.
fn shared(scenario: &Scenario, law: &[i64]) -> ProgramParameters {
    let (link, site) = (&scenario.links["device"], scenario.site("device"));
    let (packets, bytes) = link.buffer.limits();
    let bytes = u128::from(bytes).min(u128::from(packets) * u128::from(site.packet.0));
    let buffer_ns = bytes * 8_000_000_000 / u128::from(site.rate.0.max(1));
    let buffer_ns = i64::try_from(buffer_ns).unwrap_or(i64::MAX);
    let law = [&[site.rate.0 as i64, buffer_ns], law].concat();
    let words = line(&site, link.aqm.values.number("interval"), OfChosen::Drop, &law);
    let mut all = queue(scenario, words, Vec::new(), None);
    all.parameters.insert(2, ("link.buffer".to_owned(), print_real(buffer_ns as f64 / 1e9, Unit::Seconds)));
    for (name, class) in &scenario.classes {
        let rate = |of: Rate| print_real(of.0 as f64, Unit::BitPerSecond);
        let ceiling = class.ceiling.map(|of| ("ceiling", rate(of)));
        let share = class.share.map(|share| ("share", share.to_string()));
        let of_class = [Some(("floor", rate(class.floor))), ceiling, share].into_iter().flatten();
        all.parameters.extend(of_class.map(|(key, value)| (format!("classes.{name}.{key}"), value)));
    }
    all
}

/// `struct bat_params` of a class.
fn bat_words(law: &Bat<Fix<32>>, class: usize) -> [i64; 10] {
    let own = &law.classes[class];
    [
        law.interval,
        law.coarse,
        law.low,
        law.high,
        law.gain,
        law.rate,
        own.floor,
        own.ceiling,
        own.increase,
        own.decrease,
    ]
    .map(|number| number.0)
}

pub(super) fn bat(settings: &Settings) -> Result<ProgramParameters, String> {
    let scenario = &settings.scenario;
    let values = &scenario.links["device"].aqm.values;
    aqm::bat::kernel_has(values)?;
    let law: Alone<Bat<Fix<32>>> = Law::compile(values, &scenario.site("device"))?;
    let words = classes(scenario).map(|class| bat_words(&law.0, class));
    let mut start = vec![0; 2 * BAT];
    (start[0], start[BAT]) = (Fix::<32>::of(1.0).0, Fix::<32>::of(1.0).0);
    Ok(ProgramParameters { start, ..shared(scenario, words.as_flattened()) })
}

/// `struct clcc_params` of a class.
fn clcc_words(law: &Clcc<Fix<32>, Bat<Fix<32>>>, class: usize) -> Vec<i64> {
    let Steering { outer, period, left, least_others, .. } = &law.steering;
    let none = Fix(0);
    let own = law.steering.steered[class];
    let of = |number: fn(&Steered<Fix<32>>) -> Fix<32>| own.as_ref().map_or(none, number);
    let mut words = bat_words(&law.inner, class).to_vec();
    let [near, between, far] = outer.beta;
    let ([edge_near, edge_far], [b1, b2]) = (outer.thresholds, outer.before);
    let numbers = [near, between, far, edge_near, edge_far, b1, b2, *period, *left, *least_others];
    words.extend(numbers.map(|number| number.0));
    words.extend([of(|o| o.share), of(|o| o.reference), of(|o| o.most_ratio), of(|o| o.least)].map(|number| number.0));
    let preemption = match law.steering.preemption {
        Preemption::Hold => 0,
        Preemption::Decay => 1,
        // `kernel_has` refuses zero.
        Preemption::None | Preemption::Zero => 2,
    };
    words.extend([i64::from(law.steering.bound), preemption, i64::from(own.is_some()), i64::from(law.intervals)]);
    words
}

pub(super) fn clcc(settings: &Settings) -> Result<ProgramParameters, String> {
    let scenario = &settings.scenario;
    let values = &scenario.links["device"].aqm.values;
    aqm::clcc::kernel_has(values)?;
    let law: Clcc<Fix<32>, Bat<Fix<32>>> = Law::compile(values, &scenario.site("device"))?;
    let classes = classes(scenario);
    let words: Vec<i64> = classes.iter().flat_map(|class| clcc_words(&law, *class)).collect();
    let mut start = Vec::new();
    for class in classes {
        let mut words = [0; CLCC];
        (words[0], words[BAT]) = (Fix::<32>::of(1.0).0, law.inner.classes[class].decrease.0);
        start.extend(words);
    }
    Ok(ProgramParameters { start, ..shared(scenario, &words) })
}
