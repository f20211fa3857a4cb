//! Every parameter of every law, and every option of a sender, changes some run: a setting that changes nothing is a bug,
//! or is listed here with the reason.

use crate::laboratory::scenario;
use penstock_law::aqm::AQMS;
use penstock_law::cc::CONTROLLERS;
use penstock_law::conditioner::CONDITIONERS;
use penstock_law::parameter::{Default, Parameter, Unit};
use penstock_law::{Values, law};
use penstock_packets::Packets;
use penstock_scenario::model::{Chosen, Scenario};
use penstock_scenario::read::Document;
use penstock_scenario::summary::Measured;
use penstock_scenario::world::World;

/// Slow start, losses, marks, timeouts, transfers and long flows, over a queue that is full now and then.
fn text(cc: &str, sender: &str, aqm: &str) -> String {
    format!(
        "format = 1\nduration = \"12 s\"\npacket = \"1000 B\"\n[links.b]\nfrom = \"l\"\nto = \"r\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
         buffer = \"120 packets\"\nloss = 0.002\nduplex = true\naqm = {{ {aqm} }}\n[links.\"b/back\"]\naqm = {{ law = \"droptail\" }}\n\
         [defaults.flows]\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\n\
         [flows.f]\ncount = 3\ncc = {{ {cc} }}\nsender = {{ {sender} }}\n"
    )
}

/// Traffic besides, of every kind a queue tells apart.
const BESIDES: &str = "[flows.g]\ncount = 3\ncc = { law = \"newreno\", ecn = true }\n[flows.h]\ncc = { law = \"dctcp\", l4s = true }\n\
    [classes.u]\nshare = 0.3\n[flows.u]\nclass = \"u\"\ncc = { law = \"cbr\", rate = \"1 Mbit/s\" }\non_off = { on = \"1 s\", off = \"1 s\" }\n\
    [flows.t]\ncount = 4\nsize = { pareto = { mean = \"60 kB\", shape = 1.5 } }\nidle = { exponential = \"300 ms\" }\ncc = { law = \"cubic\" }\n\
    [flows.small]\ncount = 10\nsize = \"300 B\"\nidle = \"10 ms\"\ncc = { law = \"newreno\", ecn = true }\n\
    [customers.g]\nflows = [\"g\"]\nconditioner = { law = \"token-bucket\", committed_rate = \"2 Mbit/s\", bucket = \"5 kB\" }\n\
    [customers.t]\nflows = [\"t\"]\nconditioner = { law = \"srtcm\", committed_rate = \"1 Mbit/s\", bucket = \"3 kB\" }\n";

/// The same with guarantees for a law that keeps them.
fn besides(aqm: &str) -> String {
    let keeps = aqm.starts_with("bat") || aqm.starts_with("clcc") && !aqm.contains("aimd");
    let guarantees = if keeps { "floor = \"1 Mbit/s\"\nceiling = \"8 Mbit/s\"\n" } else { "" };
    BESIDES.replace("share = 0.3\n", &format!("share = 0.3\n{guarantees}"))
}

fn measured(scenario: &Scenario) -> Option<Measured> {
    Some(Packets.run(scenario, &mut |_| true).ok()?.summary.whole)
}

/// Other values of a parameter, near and far.
fn others(parameter: &Parameter, values: &Values) -> Vec<f64> {
    let now = values.optional(parameter.name);
    let candidates = match (parameter.unit, now) {
        (Unit::Switch, now) => vec![1.0 - now.unwrap_or(0.0)],
        (Unit::Choice(words), _) => (0..words.len()).map(|at| at as f64).collect(),
        (_, Some(x)) => vec![x * 2.0, x / 2.0, x + 1.0, parameter.least, parameter.most, x * 0.99, x * 20.0, x / 20.0],
        (_, None) => {
            let (a, b) = (parameter.least.max(1e-6), parameter.most.min(1e6));
            vec![libm::sqrt(a * b), a, b, 0.01, 10.0]
        }
    };
    let range = parameter.least..=parameter.most;
    candidates.into_iter().filter(|x| range.contains(x) && Some(*x) != now).collect()
}

/// Names of the parameters of a law that change nothing in any of the scenarios, each with the law in the given place.
fn idle_parameters<R: penstock_law::Role>(
    entry: &'static law::Entry<R>,
    scenarios: &[Scenario],
    place: fn(&mut Scenario) -> &mut Chosen<R>,
) -> Vec<String> {
    let before: Vec<Option<Measured>> = scenarios.iter().map(measured).collect();
    let changes = |parameter: &Parameter| {
        scenarios.iter().zip(&before).any(|(scenario, before)| {
            others(parameter, &place(&mut scenario.clone()).values).into_iter().any(|value| {
                let mut other = scenario.clone();
                place(&mut other).values.set(parameter, value).is_ok()
                    && measured(&other).is_some_and(|after| Some(&after) != before.as_ref())
            })
        })
    };
    entry.parameters.iter().filter(|p| !changes(p)).map(|p| format!("{}.{}", entry.name, p.name)).collect()
}

fn required<R: penstock_law::Role>(entry: &law::Entry<R>) -> String {
    let needed = entry.parameters.iter().filter(|p| matches!(p.default, Default::Required));
    let value = |p: &Parameter| match p.name {
        "taubar" => "\"100 ms\"".to_owned(),
        "rate" => "\"3 Mbit/s\"".to_owned(),
        "alpha" => "\"10 packets\"".to_owned(),
        "committed_rate" => "\"2 Mbit/s\"".to_owned(),
        other => panic!("{}: a value for `{other}` is needed here", entry.name),
    };
    needed.map(|p| [", ", p.name, " = ", &value(p)].concat()).collect()
}

/// The forms of a law in which its other parameters may matter: as it is, and with each switch and each word.
fn settings<R: penstock_law::Role>(entry: &law::Entry<R>) -> Vec<String> {
    let mut settings = vec![String::new()];
    for parameter in entry.parameters {
        match parameter.unit {
            Unit::Switch => settings.push(format!(", {} = true", parameter.name)),
            Unit::Choice(words) => {
                settings.extend(words.iter().skip(1).map(|word| format!(", {} = \"{word}\"", parameter.name)));
            }
            _ => {}
        }
    }
    // Beginning and end of what green and yellow packets are dropped by; an integrator that gets far within the run.
    if entry.name == "wred" {
        settings.push(", green_min = \"2 packets\", green_max = \"60 packets\", yellow_min = \"1 packets\", yellow_max = \"50 packets\", average = false".to_owned());
    }
    if entry.name == "clcc" {
        settings.push(", period = \"40 ms\", edge_near = 2.0, edge_far = 3.0".to_owned());
    }
    // By default twice the committed rate.
    if entry.name == "trtcm" {
        settings.push(", peak_rate = \"3 Mbit/s\"".to_owned());
    }
    if entry.name == "early-marking" {
        // Gains belong to their rule.
        settings.retain(|setting| !setting.contains("given"));
        settings.push(", gain_rule = \"given\", k1 = 0.01, k2 = 0.009".to_owned());
    }
    // Few packets, so that what multiplies is more than what is added.
    if entry.name == "fast" {
        settings.push(", start_growth = 1.5, alpha = \"4 packets\"".to_owned());
    }
    // A rule has an effect where HyStart is on.
    if entry.name == "cubic" {
        settings.retain(|setting| !setting.contains("hystart_rule"));
        settings.push(", hystart = true, hystart_rule = \"linux\"".to_owned());
    }
    // Rounds that a run of seconds has, and a virtual round trip that is longer than the path.
    if entry.name == "prague" {
        settings.push(", transition = 20, virtual_rtt = \"80 ms\"".to_owned());
    }
    // Three of them on 10 Mbit/s have a queue, and marks.
    if entry.name == "nada" {
        settings.push(", ecn = true, max_rate = \"8 Mbit/s\"".to_owned());
    }
    if entry.name == "leadlag" {
        // A rate that only another utility refers to.
        settings.push(", fairness = 2".to_owned());
        // Needs the other signal.
        settings.retain(|setting| !setting.contains("exponent"));
    }
    settings
}

#[test]
fn every_parameter_of_an_aqm_changes_something() {
    let mut idle = Vec::new();
    for entry in AQMS {
        let needs = required(entry);
        let with = |more: &str| {
            let aqm = format!("law = \"{}\"{needs}{more}", entry.name);
            scenario(&(text("law = \"newreno\"", "", &aqm) + &besides(&[entry.name, more].concat())))
        };
        let mut scenarios: Vec<Scenario> = settings(entry).iter().map(|more| with(more)).collect();
        // More than the link carries.
        scenarios.extend(settings(entry).iter().map(|more| {
            let aqm = format!("law = \"{}\"{needs}{more}", entry.name);
            let more = besides(&[entry.name, more].concat());
            scenario(
                &(text("law = \"newreno\"", "", &aqm) + &more.replace("1 Mbit/s\" }\non_off", "15 Mbit/s\" }\non_off")),
            )
        }));
        idle.extend(idle_parameters(entry, &scenarios, |s| &mut s.links["b"].aqm));
    }
    assert_eq!(idle, Vec::<String>::new());
}

#[test]
fn every_parameter_of_a_controller_changes_something() {
    let mut idle = Vec::new();
    for entry in CONTROLLERS {
        let needs = required(entry);
        // Who measures gaps between acknowledgements needs each.
        let sender = if ["cbr", "ccp", "ccpd"].contains(&entry.name) { "" } else { "delayed_ack = 2" };
        let with = |more: &str, aqm: &str| {
            let cc = format!("law = \"{}\"{needs}{more}", entry.name);
            scenario(&text(&cc, sender, aqm))
        };
        let mut scenarios = Vec::new();
        for aqm in ["law = \"red\", ecn = true", "law = \"price\"", "law = \"droptail\"", "law = \"dualpi2\""] {
            scenarios.extend(settings(entry).iter().map(|more| with(more, aqm)));
            scenarios.push(scenario(&(text(&format!("law = \"{}\"{needs}", entry.name), sender, aqm) + BESIDES)));
            // Where the path becomes another.
            let changes = text(&format!("law = \"{}\"{needs}", entry.name), sender, aqm)
                .replace("rate = \"10 Mbit/s\"", "rate = [[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \"3 Mbit/s\"]]");
            scenarios.push(scenario(&changes));
            // Where nothing is lost.
            let mut clean = with("", aqm);
            clean.links["b"].loss = 0.0;
            scenarios.push(clean);
        }
        if entry.parameters.iter().any(|p| p.name == "flight_size") {
            // Less is in flight than the window allows.
            let few = format!("{sender}, receive_window = 8");
            scenarios.push(scenario(&text(&format!("law = \"{}\"{needs}", entry.name), &few, "law = \"droptail\"")));
        }
        if entry.name == "bbr" {
            // A policer drops a third of what the line would carry.
            let policed = text("law = \"bbr\"", sender, "law = \"droptail\"")
                .replace("loss = 0.002", "policer = { rate = \"6 Mbit/s\", burst = \"20 kB\" }");
            scenarios.push(scenario(&policed));
        }
        idle.extend(idle_parameters(entry, &scenarios, |s| &mut s.groups["f"].cc));
    }
    assert_eq!(idle, Vec::<String>::new());
}

/// In front of a queue that tells three colours apart.
#[test]
fn every_parameter_of_a_conditioner_changes_something() {
    let aqm = "law = \"wred\", average = false, red_min = \"2 packets\", red_max = \"8 packets\", yellow_min = \"10 packets\", \
               yellow_max = \"30 packets\"";
    let mut idle = Vec::new();
    for entry in CONDITIONERS {
        let with = |more: &str| {
            let conditioner = format!("law = \"{}\"{}{more}", entry.name, required(entry));
            let customer = format!("[customers.c]\nflows = [\"f\"]\nconditioner = {{ {conditioner} }}\n");
            scenario(&(text("law = \"newreno\"", "", aqm) + BESIDES + &customer))
        };
        let scenarios: Vec<Scenario> = settings(entry).iter().map(|more| with(more)).collect();
        idle.extend(idle_parameters(entry, &scenarios, |s| s.customers["c"].conditioner.as_mut().unwrap()));
    }
    assert_eq!(idle, Vec::<String>::new());
}

/// Options of a sender that a law has no use for. What is true of a group's law need not be of another's in a sweep, so
/// these are accepted.
const OF_NO_USE: &[(&str, &[&str])] = &[
    // Clocked by acknowledgements, and no use for the smallest round trip.
    ("newreno", &["pacing = \"off\"", "remember = \"base rtt\""]),
    ("cubic", &["pacing = \"off\"", "remember = \"base rtt\""]),
    ("highspeed", &["pacing = \"off\"", "remember = \"base rtt\""]),
    ("scalable", &["pacing = \"off\"", "remember = \"base rtt\""]),
    ("vegas", &["pacing = \"off\""]),
    ("dctcp", &["pacing = \"off\"", "remember = \"base rtt\""]),
    // No slow start threshold, no marks, and a smallest round trip of its own.
    (
        "bbr",
        &[
            "ssthresh = 6",
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "remember = \"base rtt\"",
        ],
    ),
    (
        "bbr3",
        &[
            "ssthresh = 6",
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "remember = \"base rtt\"",
        ],
    ),
    // No slow start, no marks.
    ("fast", &["ssthresh = 6", "ecn_echo = \"classic\"", "ecn_echo = \"accurate\"", "receiver_ecn = \"classic\""]),
    // It begins where its own equations do, and its short queue is not marked here.
    ("leadlag", &["initial_window = 10", "ssthresh = 6", "ecn_echo = \"accurate\""]),
    // No marks, and clocked by acknowledgements.
    ("ccp", &["ecn_echo = \"classic\"", "ecn_echo = \"accurate\"", "receiver_ecn = \"classic\"", "pacing = \"off\""]),
    ("ccpd", &["ecn_echo = \"classic\"", "ecn_echo = \"accurate\"", "receiver_ecn = \"classic\"", "pacing = \"off\""]),
    // Clocked by acknowledgements.
    ("illinois", &["pacing = \"off\""]),
    // The same, no marks, and a smallest round trip of their own.
    (
        "westwood",
        &[
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "pacing = \"off\"",
            "remember = \"base rtt\"",
        ],
    ),
    // The same without a slow start.
    (
        "ledbat",
        &[
            "ssthresh = 6",
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "pacing = \"off\"",
            "remember = \"base rtt\"",
        ],
    ),
    (
        "ledbat-pp",
        &[
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "pacing = \"off\"",
            "remember = \"base rtt\"",
        ],
    ),
    // No slow start threshold, no marks, and a smallest round trip of its own.
    (
        "copa",
        &[
            "ssthresh = 6",
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "remember = \"base rtt\"",
        ],
    ),
    // No marks, and a start and a smallest round trip of its own.
    (
        "allegro",
        &[
            "ssthresh = 6",
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "remember = \"base rtt\"",
        ],
    ),
    // The same.
    (
        "vivace",
        &[
            "ssthresh = 6",
            "ecn_echo = \"classic\"",
            "ecn_echo = \"accurate\"",
            "receiver_ecn = \"classic\"",
            "remember = \"base rtt\"",
        ],
    ),
    // It reads the smallest round trip for its fallback alone.
    ("prague", &["remember = \"base rtt\""]),
    // A rate from its own least one on, and a short queue that is not marked here.
    ("nada", &["initial_window = 10", "ssthresh = 6", "ecn_echo = \"accurate\""]),
];

#[test]
fn every_option_of_a_sender_changes_something() {
    let options = [
        ("initial_window = 10", ""),
        ("ssthresh = 6", ""),
        ("receive_window = 5", ""),
        ("min_rto = \"1 s\"", ""),
        ("rto = \"linux\"", ""),
        ("recovery = \"newreno\"", ""),
        ("recovery = \"reno\"", ""),
        ("delayed_ack = 2", ""),
        ("ecn_echo = \"classic\"", ""),
        ("ecn_echo = \"accurate\"", "delayed_ack = 2, "),
        ("receiver_ecn = \"classic\"", "ecn_echo = \"accurate\", "),
        ("pacing = \"off\"", ""),
        ("burst = 4", ""),
        ("limited_transmit = true", "recovery = \"newreno\", "),
        ("remember = \"base rtt\"", ""),
        ("remember = \"everything\"", ""),
        ("arithmetic = \"fixed\"", ""),
    ];
    let mut idle = Vec::new();
    for entry in CONTROLLERS.iter().filter(|entry| entry.name != "cbr") {
        let ecn = if entry.parameters.iter().any(|p| p.name == "ecn") { ", ecn = true" } else { "" };
        // Few packets queued, so that FAST reaches its equilibrium within a transfer.
        let few = if entry.name == "fast" { ", alpha = \"4 packets\"" } else { "" };
        let cc = format!("law = \"{}\"{}{ecn}{few}", entry.name, required(entry));
        let run = |sender: &str| {
            let text = text(&cc, sender, "law = \"red\", ecn = true").replace("loss = 0.002", "loss = 0.01")
                + "size = \"100 kB\"\nidle = \"100 ms\"\n";
            let text = text.replace("count = 3", "count = 12");
            let cells = Document::parse(&text, "test.toml").and_then(|d| d.cells()).ok()?;
            measured(&cells[0].scenario)
        };
        for (option, with) in options {
            // None is a refusal.
            if let Some(after) = run(&format!("{with}{option}"))
                && Some(after) == run(with.trim_end_matches(", "))
            {
                idle.push(format!("{}: {option}", entry.name));
            }
        }
    }
    let known: Vec<String> = OF_NO_USE
        .iter()
        .flat_map(|(law, options)| options.iter().map(move |option| format!("{law}: {option}")))
        .collect();
    assert_eq!(idle, known);
}
