//! PCC Vivace and SEARCH against what their sources say of them, packet by packet; `docs/validation/today.md` has the figures.

use std::env;

use crate::laboratory::{Dumbbell, assert_near, group, link, numbers, run};

/// One flow of Vivace over 40 ms, on a line of `rate` Mbit/s: the rate that arrives [Mbit/s], and the mean queue [ms].
fn vivace(rate: f64, buffer: &str, loss: &str, set: &str, seconds: f64) -> (f64, f64) {
    let top = format!("duration = \"{seconds} s\"\nwarmup = \"{} s\"\nsample = \"1 s\"", seconds / 2.0);
    let speed = format!("\"{rate} Mbit/s\"");
    let flows = format!("via = [\"b\"]\ncc = {{ law = \"vivace\"{set} }}\nsender = {{ profile = \"linux\" }}");
    let run = Dumbbell { top: &top, rate: &speed, buffer, link: loss, flows: &flows }.run();
    (group(&run, "f").throughput_packets_per_s * 8e-3, link(&run, "b").queue_mean_packets * 8.0 / rate)
}

/// Alone on a line without losses of its own Vivace fills it, whatever its rate, over a drop-tail buffer of a bandwidth-delay product.
#[test]
fn vivace_fills_a_line() {
    for rate in [10.0, 50.0, 200.0] {
        let (is, queue_ms) = vivace(rate, "\"1 bdp\"", "", "", 40.0);
        eprintln!("{rate} Mbit/s: {is:.1} Mbit/s, a queue of {queue_ms:.1} ms");
        assert!(is > 0.8 * rate, "{rate}: {is}");
    }
}

/// The equilibria of random losses without a queue, (0.9 / (11.35 p))^10 Mbit/s.
#[test]
#[ignore = "a minute: simulates 10^7 packets"]
fn vivace_under_random_losses() {
    for (loss, rate, seconds) in [(0.05, 1000.0, 120.0), (0.08, 100.0, 400.0), (0.04, 4000.0, 12.0)] {
        for spacing in ["even", "random"] {
            for set in ["", ", interval = 20"] {
                let keys = format!("loss = {loss}\nloss_spacing = \"{spacing}\"");
                let (is, _) = vivace(rate, "\"unlimited\"", &keys, set, seconds);
                let should = libm::pow(0.9 / (11.35 * loss), 10.0);
                eprintln!("{loss} {spacing}{set}: {:.2} Mbit/s sent, {should:.2} by its utility", is / (1.0 - loss));
            }
        }
    }
}

/// CUBIC on 100 Mbit/s and 50 ms over a buffer without an end, for six seconds: the largest queue, and the last one, in bandwidth-delay
/// products; the share of the line that is used.
fn start(set: &str) -> [f64; 3] {
    let top = "duration = \"6 s\"\nsample = \"10 ms\"";
    let flows = format!("cc = {{ law = \"cubic\"{set} }}\nsender = {{ profile = \"linux\" }}");
    let text = Dumbbell { top, rate: "\"100 Mbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.text();
    let found = run(&text.replace("rtt = \"40 ms\"", "rtt = \"50 ms\""));
    let bdp = 12_500.0 * 0.05;
    let (queue, whose) = (numbers(&found, "links", "queue_packets"), numbers(&found, "links", "link"));
    let of: Vec<f64> = queue.iter().zip(&whose).filter(|(_, link)| **link == 0.0).map(|(q, _)| q / bdp).collect();
    [of.iter().copied().fold(0.0, f64::max), of[of.len() - 1], link(&found, "b").utilization]
}

/// Slow start over a buffer without an end does not end by itself. SEARCH ends it within one and a half of its windows of 3.5 round
/// trips after the line is full: with less than 5.3 bandwidth-delay products in the queue. The drain leaves a queue below one, and
/// the line stays full.
#[test]
fn search_ends_slow_start() {
    let [off, exit, drain, hystart] =
        [", hystart = false", ", search = \"exit\"", ", search = \"drain\"", ", hystart = true"].map(start);
    eprintln!("largest and last queue, use: off {off:?}, exit {exit:?}, drain {drain:?}, HyStart {hystart:?}");
    assert!(off[0] > 40.0, "{off:?}");
    assert!(exit[0] < 5.3 && drain[0] < 5.3, "{exit:?} {drain:?}");
    assert!(drain[1] < 1.0 && drain[2] > 0.9, "{drain:?}");
}

/// For a look at any one scenario: its text in `LAWS_LOOK`.
#[test]
#[ignore = "a tool"]
fn look() {
    if let Ok(text) = env::var("LAWS_LOOK") {
        let found = run(&text);
        eprintln!("{:#?}", found.summary.whole.groups);
        eprintln!("{:#?}", found.summary.whole.links);
        assert_near(1.0, 1.0, 0.1, "");
    }
}

// TEMPORARY-PAGE
#[test]
#[ignore = "a tool"]
fn page_of_laws() {
    use penstock_law::law::{Linearisation, Role};
    use penstock_law::parameter::{Default, Unit};
    use penstock_law::{Entry, Registry};
    use penstock_scenario::quantity::print_real;
    use penstock_scenario::world::column_name;
    use std::fmt::Write as _;
    fn value(x: f64, unit: Unit) -> String {
        match unit {
            Unit::Switch => (x != 0.0).to_string(),
            Unit::Choice(words) => words.get(x as usize).copied().unwrap_or("?").to_owned(),
            Unit::One if x != 0.0 && !(1e-4..1e6).contains(&x.abs()) => format!("{x:e}"),
            _ => print_real(x, unit),
        }
    }
    fn add<R: Role>(page: &mut String, law: &Entry<R>) {
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(page, "\n## {} ({})\n\n{}.\n", cell(law.name), R::NOUN, cell(law.title));
        let _ = writeln!(page, "- Source: {}", cell(law.source));
        let linear: String = match law.linearisation {
            Linearisation::Automatic => "yes".into(),
            Linearisation::Declared(what) => format!("yes, with {what}"),
            Linearisation::Mean(what) => format!("yes, by a model of its means, with {what}"),
            Linearisation::Outer(what) => format!("only {what}"),
            Linearisation::Unsupported(why) => format!("no: {why}"),
        };
        let _ = writeln!(page, "- In the stability analysis: {}", cell(&linear));
        let _ = writeln!(page, "- Kernel implementation in C: {}", if law.fixed.is_some() { "yes" } else { "no" });
        if !law.parameters.is_empty() {
            *page += "\n| parameter | meaning | default | range | source |\n| --- | --- | --- | --- | --- |\n";
        }
        for p in law.parameters {
            let default = match p.default {
                Default::Is(x) => value(x, p.unit),
                Default::Automatic(how) => format!("automatic: {how}"),
                Default::Required => "required".into(),
            };
            let range = match p.unit {
                Unit::Switch => "true or false".into(),
                Unit::Choice(words) => words.join(", "),
                unit => format!("from {} to {}", value(p.least, unit), value(p.most, unit)),
            };
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} | {} |",
                cell(p.name), cell(p.what), cell(&default), cell(&range), cell(p.source)
            );
        }
        let mut states = law.observables.iter().peekable();
        if states.peek().is_some() {
            *page += "\n| state | name | unit | meaning |\n| --- | --- | --- | --- |\n";
        }
        for s in states {
            let unit = if s.unit == "1" { "" } else { s.unit };
            let _ = writeln!(page, "| `{}` | {} | {} | {} |", column_name(s.name, s.unit), cell(s.words), unit, cell(s.what));
        }
    }
    let old = std::fs::read_to_string("../../docs/laws.md").unwrap();
    let mut page = old[..old.find("\n## ").unwrap()].to_owned();
    let registry = Registry::standard();
    for law in registry.laws::<penstock_law::cc::Controller>() {
        add(&mut page, law);
    }
    for law in registry.laws::<penstock_law::aqm::Aqm>() {
        add(&mut page, law);
    }
    for law in registry.laws::<penstock_law::conditioner::Conditioner>() {
        add(&mut page, law);
    }
    std::fs::write("../../docs/laws.md", page).unwrap();
}
