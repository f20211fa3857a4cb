//! `penstock tune`: parameters by the rule of a law's paper, each answer with the margin it gives.

use penstock_fluid::margin::{Margins, Span, margins};
use penstock_fluid::theory::{PiRule, TcpPlant, eta_max, worst_crossing};
use penstock_scenario::quantity;
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::Tune;
use crate::failure::{Done, Failure};
use crate::terminal;

/// Parameters, and what they are good for.
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
    says: Vec<String>,
}

/// Runs the command.
pub(crate) fn tune(rule: &Tune) -> Result<Done, Failure> {
    let (tuned, json) = match rule {
        Tune::Pi { capacity, flows, rtt, packet, frequency, json } => {
            (pi(capacity, *flows, rtt, packet, *frequency)?, *json)
        }
        Tune::Leadlag { alpha, taubar, bottlenecks, share, json } => {
            (leadlag(*alpha, taubar, *bottlenecks, *share)?, *json)
        }
    };
    if json {
        terminal::say_json(&tuned)?;
        return Ok(Done::Well);
    }
    let values: Vec<String> = tuned.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    terminal::say(format!("{{ law = \"{}\", {} }}", tuned.law, values.join(", ")))?;
    for line in &tuned.says {
        terminal::say(line)?;
    }
    terminal::say(format!("rule: {}", tuned.rule))?;
    Ok(Done::Well)
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
            format!("at {frequency} updates a second `b` is not above zero; write more than {least:.4}"),
        ));
    }
    let m = margins(&|s| rule.at(s) * worst.at(s), Span { slowest_s: rtt_s, fastest_s: rtt_s });
    let mut says = vec![format!(
        "K = {:.4e} 1/(packet s), z = {:.4} rad/s, for at least {flows} flows and at most {rtt_s} s at {} packets/s",
        rule.gain, rule.zero, worst.capacity
    )];
    if let (Some(gain), Some(phase), Some(crossover)) = (m.gain_margin, m.phase_margin_deg, m.gain_crossover_rad_per_s)
    {
        says.push(format!(
            "at that load: gain margin {gain:.3}, phase margin {phase:.2} degrees, crossover {crossover:.4} rad/s{}",
            m.delay_margin_s.map(|d| format!(", delay margin {d:.3} s")).unwrap_or_default()
        ));
    }
    says.push(
        "more flows and shorter round trips have larger margins; `penstock analyze` has those of a scenario".into(),
    );
    Ok(Tuned {
        law: "pi",
        rule: "Hollot, Misra, Towsley, Gong, On Designing Improved Controllers for AQM Routers, 2001, section IV",
        parameters: vec![("a", json!(a)), ("b", json!(b)), ("frequency", json!(frequency))],
        margins: Some(m),
        guaranteed_gain_margin: None,
        says,
    })
}

fn leadlag(alpha: f64, taubar: &str, bottlenecks: f64, share: f64) -> Result<Tuned, Failure> {
    let taubar_s = positive("taubar", quantity::time(taubar).map_err(|e| wrong("taubar", e))?.seconds(), 1e3)?;
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
            ("taubar", json!(format!("{taubar_s} s"))),
            ("M", json!(bottlenecks)),
        ],
        margins: None,
        guaranteed_gain_margin: Some(guaranteed),
        says: vec![
            format!("the largest eta is {most:.6}; beta = {beta:.6} 1/s"),
            format!(
                "any network of round trips up to {taubar_s} s and at most {bottlenecks} bottlenecks a path is stable \
                 (Theorem 4), at frequencies above 1/taubar with a gain margin of {guaranteed:.3} at least"
            ),
        ],
    })
}
