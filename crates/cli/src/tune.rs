//! `penstock tune`: parameters by the rule of a law's paper, each with the margin it gives.

use penstock_fluid::contracts;
use penstock_fluid::margin::{Margins, Span, margins};
use penstock_fluid::outer::loop_of;
use penstock_fluid::theory::marking::MarkingLoop;
use penstock_fluid::theory::{PiRule, TcpPlant, eta_max, worst_crossing};
use penstock_law::Values;
use penstock_law::aqm::{self, AQMS, Class};
use penstock_law::conditioner::CONDITIONERS;
use penstock_law::conditioner::early_marking::{self, Aggregate};
use penstock_law::law::{Entry, Role, find};
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_scenario::model::{Chosen, Scenario};
use penstock_scenario::quantity;
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::{Changes, GainRule, Tune, TuneClcc, TuneEarlyMarking};
use crate::failure::{Done, Failure};
use crate::{program, scenario, terminal};

/// Parameters, and their margins.
#[derive(Debug, Serialize)]
struct Tuned {
    law: &'static str,
    rule: &'static str,
    /// As they stand in a scenario.
    parameters: Vec<(&'static str, Value)>,
    /// The margins of the loop that the rule is made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    margins: Option<Margins>,
    /// The factor by which the gain of any network within the rule may grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    guaranteed_gain_margin: Option<f64>,
    remarks: Vec<String>,
}

/// Significant digits of printed numbers: margins do not change in as many.
const DIGITS: usize = 6;

/// Runs the command.
pub(crate) fn tune(rule: &Tune) -> Result<Done, Failure> {
    let (tuned, json) = match rule {
        Tune::Pi { capacity, flows, rtt, packet, frequency, json } => {
            (pi(capacity, *flows, rtt, packet, *frequency)?, *json)
        }
        Tune::Leadlag { alpha, taubar, bottlenecks, share, json } => {
            (leadlag(*alpha, taubar, *bottlenecks, *share)?, *json)
        }
        Tune::EarlyMarking(of) => (early_marking(of)?, of.json),
        Tune::Clcc(of) => (clcc(of)?, of.json),
    };
    if json {
        terminal::say_json(&tuned)?;
        return Ok(Done::Well);
    }
    let values: Vec<String> =
        tuned.parameters.iter().map(|(name, value)| format!("{name} = {}", written(value))).collect();
    terminal::say(format!("{{ law = \"{}\", {} }}", tuned.law, values.join(", ")))?;
    for line in &tuned.remarks {
        terminal::say(terminal::look().lines(line))?;
    }
    terminal::say(terminal::look().lines(&format!("rule: {}", tuned.rule)))?;
    Ok(Done::Well)
}

/// A value as a scenario has it, numbers to the digits that matter; `--json` has all of them.
fn written(value: &Value) -> String {
    let Some(number) = value.as_f64().filter(|number| *number != 0.0 && number.is_finite()) else {
        return value.to_string();
    };
    let rounded: f64 = format!("{number:.*e}", DIGITS - 1).parse().unwrap_or(number);
    // Hundreds of zeros tell nobody the size of a number.
    if (1e-9..1e16).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

fn wrong(option: &str, why: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("--{option}: {why}"))
}

fn positive(option: &str, value: f64, most: f64) -> Result<f64, Failure> {
    if value > 0.0 && value <= most {
        Ok(value)
    } else {
        Err(wrong(option, format!("{value} is not above 0 and at most {most}")))
    }
}

/// Nine digits: the value of the scenario, and not the last bits of a mean over its flows.
fn meant(x: f64) -> f64 {
    format!("{x:.8e}").parse().unwrap_or(x)
}

fn pi(capacity: &str, flows: f64, rtt: &str, packet: &str, frequency: f64) -> Result<Tuned, Failure> {
    let rate = quantity::rate(capacity).map_err(|e| wrong("capacity", e))?;
    let packet = quantity::bytes(packet).map_err(|e| wrong("packet", e))?;
    let rtt_s = positive("rtt", quantity::time(rtt).map_err(|e| wrong("rtt", e))?.seconds(), 1e3)?;
    let flows = positive("flows", flows, 1e9)?;
    let frequency = positive("frequency", frequency, 1e5)?;
    if rate.0 == 0 || packet.0 == 0 {
        let option = if rate.0 == 0 { "capacity" } else { "packet" };
        return Err(wrong(option, "zero carries nothing; write more than that"));
    }
    let worst = TcpPlant { flows, capacity: rate.packets_per_s(packet), rtt_s };
    let rule = PiRule::of(worst, None);
    let (a, b) = rule.difference(1.0 / frequency);
    // The trapezoidal rule with half a period beyond 1/z.
    if b <= 0.0 {
        let least = rule.zero / 2.0;
        return Err(wrong(
            "frequency",
            format!(
                "at {frequency} updates per second the parameter `b` is not above zero; write more than {least:.4} per second"
            ),
        ));
    }
    let m = margins(&|s| rule.at(s) * worst.at(s), Span { slowest_s: rtt_s, fastest_s: rtt_s });
    let mut remarks = vec![format!(
        "K = {:.4e} 1/(packet s), z = {:.4} rad/s, for at least {flows} flows and at most {rtt_s} s at {} packets/s",
        rule.gain,
        rule.zero,
        written(&json!(worst.capacity))
    )];
    if let (Some(gain), Some(phase), Some(crossover)) = (m.gain_margin, m.phase_margin_deg, m.gain_crossover_rad_per_s)
    {
        remarks.push(format!(
            "at that load: gain margin {gain:.3}, phase margin {phase:.2} degrees, crossover {crossover:.4} rad/s{}",
            m.delay_margin_s.map(|d| format!(", delay margin {d:.3} s")).unwrap_or_default()
        ));
    }
    remarks.push(format!(
        "more flows and shorter round-trip times have larger margins; `{} analyze` computes those of a scenario",
        program::name()
    ));
    Ok(Tuned {
        law: "pi",
        rule: "Hollot, Misra, Towsley, Gong, On Designing Improved Controllers for AQM Routers, 2001, section IV",
        parameters: vec![("a", json!(a)), ("b", json!(b)), ("frequency", json!(frequency))],
        margins: Some(m),
        guaranteed_gain_margin: None,
        remarks,
    })
}

fn leadlag(alpha: f64, taubar: &str, bottlenecks: f64, share: f64) -> Result<Tuned, Failure> {
    let taubar = quantity::time(taubar).map_err(|e| wrong("taubar", e))?;
    let taubar_s = positive("taubar", taubar.seconds(), 1e3)?;
    let taubar = quantity::print_time(taubar);
    let alpha = positive("alpha", alpha, 1.57)?;
    let bottlenecks = positive("bottlenecks", bottlenecks, 1e3)?;
    let share = positive("share", share, 1.0)?;
    let most = eta_max(alpha);
    let eta = share * most;
    let beta = alpha * eta / (bottlenecks * taubar_s);
    let guaranteed = 1.0 / worst_crossing(alpha, eta);
    Ok(Tuned {
        law: "leadlag",
        rule: "Paganini, Wang, Low, Doyle, A New TCP/AQM for Stable Operation in Fast Networks, Proposition 3",
        parameters: vec![
            ("alpha", json!(alpha)),
            ("eta", json!(eta)),
            ("taubar", json!(taubar)),
            ("M", json!(bottlenecks)),
        ],
        margins: None,
        guaranteed_gain_margin: Some(guaranteed),
        remarks: vec![
            format!(
                "Proposition 3 allows eta up to {most:.6}; with this eta, {eta:.6}, beta = alpha eta/(M taubar) = {beta:.6} 1/s"
            ),
            format!(
                "any network of round trips up to {taubar} and at most {bottlenecks} bottlenecks a path is stable \
                 (Theorem 4), at frequencies above 1/taubar with a gain margin of {guaranteed:.3} at least"
            ),
        ],
    })
}

/// The scenario of a file, which must be one.
fn one(path: &std::path::Path) -> Result<Scenario, Failure> {
    let document = scenario::document(path, None, &Changes { set: Vec::new() })?;
    let mut cells = scenario::cells(&document)?;
    // A sweep's cells differ in laws and loads; the contract of the first is what there is.
    Ok(cells.swap_remove(0).scenario)
}

fn early_marking(of: &TuneEarlyMarking) -> Result<Tuned, Failure> {
    let file = of.file.as_deref().map(one).transpose()?;
    let named = |scenario: &Scenario| -> Result<Aggregate, Failure> {
        let names: Vec<&String> = scenario.customers.keys().collect();
        let list = || names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        let name = match (&of.customer, names.as_slice()) {
            (Some(name), _) => name,
            (None, [one]) => one,
            (None, []) => return Err(wrong("customer", "the scenario has no customers")),
            (None, _) => return Err(wrong("customer", format!("name one of {}", list()))),
        };
        contracts::aggregate(scenario, name).ok_or_else(|| {
            wrong(
                "customer",
                format!(
                    "no customer `{name}` has a conditioner and flows that respond to losses; the customers are {}",
                    list()
                ),
            )
        })
    };
    let known = file.as_ref().map(named).transpose()?;
    let packet = match (&of.packet, &file) {
        (Some(packet), _) => quantity::bytes(packet).map_err(|e| wrong("packet", e))?,
        (None, Some(scenario)) => scenario.packet.wire,
        (None, None) => Bytes(1000),
    };
    let rate = of.rate.as_deref().map(quantity::rate).transpose().map_err(|e| wrong("rate", e))?;
    let rtt = of.rtt.as_deref().map(quantity::time).transpose().map_err(|e| wrong("rtt", e))?;
    let given = |value: Option<f64>, known: Option<f64>| value.or(known).unwrap_or(0.0);
    let aggregate = Aggregate {
        packets_per_s: match (rate, &file, known) {
            (Some(rate), ..) => rate.packets_per_s(packet),
            // A packet of another size than the scenario's: what is committed are bits.
            (None, Some(scenario), Some(known)) => known.packets_per_s * scenario.packet.wire.bits() / packet.bits(),
            _ => 0.0,
        },
        flows: positive("flows", given(of.flows, known.map(|k| k.flows)), 1e9)?,
        rtt_s: positive("rtt", given(rtt.map(Time::seconds), known.map(|k| k.rtt_s)), 1e3)?,
    };
    positive("rate", aggregate.packets_per_s, 1e12)?;
    let (rule, name) = match of.rule {
        GainRule::Loop => (early_marking::GainRule::Loop, "loop"),
        GainRule::Paper => (early_marking::GainRule::Paper, "paper"),
        GainRule::PaperDimension => (early_marking::GainRule::PaperDimension, "paper-dimension"),
    };
    let design = aggregate.design(rule);
    let marking = MarkingLoop { aggregate, gain: design.gain, zero: design.zero };
    let m = marking.margins();
    let mut remarks = vec![format!(
        "K = {:.4e} 1/(packet s), z = {:.4} rad/s, for at least {} flows and at most {} s at {} packets/s; a = {:.4} rad/s",
        design.gain,
        design.zero,
        meant(aggregate.flows),
        meant(aggregate.rtt_s),
        meant(aggregate.packets_per_s),
        aggregate.pole()
    )];
    if let (Some(gain), Some(phase), Some(crossover)) = (m.gain_margin, m.phase_margin_deg, m.gain_crossover_rad_per_s)
    {
        remarks.push(format!(
            "(8) with the bucket's integrator: gain margin {gain:.3}, phase margin {phase:.2} degrees, crossover \
             {crossover:.4} rad/s, phase {:.2} degrees at z",
            marking.phase_deg(design.zero)
        ));
    }
    let window = aggregate.window();
    if marking.operating_probability() >= 1.0 {
        remarks.push(format!(
            "(4) has no operating point for a window of {window:.3} packets: the gain is stable, but not a prediction"
        ));
    } else if window < 4.0 {
        remarks.push(format!(
            "with windows of {window:.3} packets timeouts dominate and the model is inaccurate: the gain is stable, \
             but not a prediction"
        ));
    }
    remarks.push(format!("`{} analyze` computes the margins of a scenario from the code of the laws", program::name()));
    settable(CONDITIONERS, "early-marking", "flows", &[("k1", design.k[0]), ("k2", design.k[1])])?;
    Ok(Tuned {
        law: "early-marking",
        rule: "Tartarelli and Banchs, Random Early Marking, (9), (10) and (12); with `loop` the gain of (8) with the bucket",
        parameters: vec![("gain_rule", json!("given")), ("k1", json!(design.k[0])), ("k2", json!(design.k[1]))],
        margins: Some(m),
        guaranteed_gain_margin: None,
        remarks: [vec![format!("these are the k1 and k2 of `gain_rule = \"{name}\"` for these bounds")], remarks]
            .concat(),
    })
}

/// A law with these parameters, and all others as they are by default, if a scenario may have them.
fn settable<R: Role>(
    registry: &'static [Entry<R>],
    name: &str,
    option: &str,
    parameters: &[(&str, f64)],
) -> Result<(&'static Entry<R>, Values), Failure> {
    let law = find(registry, name).ok_or_else(|| Failure::Bug(format!("no law `{name}`")))?;
    let mut values = Values::defaults(law.parameters);
    for (name, value) in parameters {
        let parameter = law.parameters.iter().find(|p| p.name == *name);
        let parameter = parameter.ok_or_else(|| Failure::Bug(format!("no parameter `{name}`")))?;
        let beyond =
            |e| wrong(option, format!("this gives {name} = {value:e}, which is out of range in a scenario: {e}"));
        values.set(parameter, *value).map_err(beyond)?;
    }
    Ok((law, values))
}

fn clcc(of: &TuneClcc) -> Result<Tuned, Failure> {
    if !(of.share > 0.0 && of.share < 1.0) {
        return Err(wrong("share", format!("{} is not above 0 and below 1", of.share)));
    }
    let gamma = positive("gamma", of.gamma.unwrap_or(1.0 / (1.0 - of.share)), 1e4)?;
    let margin = positive("margin", of.margin, 1e6)?;
    // Six digits after the point: what a scenario says, and not the last bits of a quotient.
    let rounded = |x: f64| libm::round(1e6 * x) / 1e6;
    let least = -1.0 / (margin * gamma);
    let (near, between, far) = (rounded(least), rounded(1.5 * least), rounded(2.0 * least));
    if far <= -0.999 {
        return Err(wrong(
            "margin",
            format!(
                "with {margin}, `beta_far` is {far:.3}; write a larger margin, as at -1 the CLCC paper's (6) could make the decrease zero"
            ),
        ));
    }
    let parameters = vec![("beta_near", near), ("beta_between", between), ("beta_far", far)];
    let (law, values) = settable(AQMS, "clcc", "margin", &parameters)?;
    let classes = vec![Class { share: Some(of.share), ..Class::FREE }, Class::FREE];
    let site = aqm::Context { rate: Rate(100_000_000), delay: Time::ZERO, packet: Bytes(1500), classes };
    let found = loop_of("", &Chosen { law, values }, &site, (0, "")).map_err(|e| Failure::Bug(e.to_string()))?;
    let l = found.ok_or_else(|| Failure::Bug("clcc closes no loop".into()))?;
    let bound = |gamma: Option<f64>| gamma.map_or_else(|| "any".to_owned(), |gamma| format!("{gamma:.4}"));
    let from = |at: usize| {
        let arrival = l.arrivals[at];
        let periods = arrival.periods.map_or_else(|| "never".to_owned(), |n| format!("{n} periods"));
        format!("from {} times the target decrease: {periods}", arrival.start)
    };
    Ok(Tuned {
        law: "clcc",
        rule: "Pletka, Kind, Waldvogel, Mannel, Closed-Loop Congestion Control, (6): 1 + beta gamma, and late by a period \
               |beta| gamma < 1",
        parameters: parameters.into_iter().map(|(name, beta)| (name, json!(beta))).collect(),
        margins: None,
        guaranteed_gain_margin: Some(margin),
        remarks: vec![
            format!(
                "reference ratio {:.6}; small errors are multiplied by {:.4} per period if shares follow the \
                 constants of the classes (gamma = 1), by {:.4} for gamma = {gamma:.4}",
                l.reference_ratio,
                1.0 + l.gain,
                1.0 + l.gain * gamma
            ),
            format!(
                "stable for gamma up to {}; if the ratio responds one period late, up to {}",
                bound(l.largest_gamma),
                bound(l.largest_gamma_late)
            ),
            format!("time until the ratio is within 5 % of its reference, with gamma = 1: {}; {}", from(0), from(3)),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_as_long_as_its_digits() {
        for (value, text) in [(0.0, "0.0"), (1.822_314_9e-5, "0.0000182231"), (170.0, "170"), (1e-300, "1e-300")] {
            assert_eq!(written(&json!(value)), text);
        }
        assert_eq!(written(&json!(1.234_567_89e300)), "1.23457e300");
    }
}
