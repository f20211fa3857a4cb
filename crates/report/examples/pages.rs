//! Writes pages of made-up data into the directory given as argument, for a look at the report.
//!
//! `cargo run -p penstock-report --example pages -- /tmp/pages`

use std::path::Path;

use indexmap::IndexMap;
use penstock_law::Registry;
use penstock_report::assemble::{
    AnalysisView, CellView, CurveView, EquilibriumRow, MarginRow, NyquistView, PaperFigure, PaperView, RunView,
    SweepView, of_analysis, of_paper, of_run, of_sweep,
};
use penstock_report::{Axis, ClaimView, Figure, Line, Mark, Page, Style, Verdict, html, text};
use penstock_scenario::summary::{Engine, Fairness, GroupSummary, LinkSummary, Measured, Summary};
use penstock_scenario::world::{Cells, Column, Kind, Table};

const SCENARIO: &str = r#"format   = 1
title    = "FAST and NewReno with RED at 622 Mbit/s"
duration = "60 s"
warmup   = "20 s"

[links.bottleneck]
from   = "left"
to     = "right"
rate   = "622 Mbit/s"
delay  = "10 ms"
buffer = "unlimited"
aqm    = { law = "red", gentle = true, ecn = true }

[flows.ftp]
count = 100
from  = "left"
to    = "right"
rtt   = "100 ms"
cc    = { law = "newreno", ecn = true }
"#;

fn main() -> std::io::Result<()> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let pages = [("run", run()), ("sweep", sweep()), ("cases", cases()), ("analysis", analysis()), ("paper", paper())];
    for (name, page) in pages {
        std::fs::write(Path::new(&dir).join(format!("{name}.html")), html::write(&page))?;
        print!("{}\n\n", text::page(&page));
    }
    Ok(())
}

fn header() -> Vec<(String, String)> {
    let facts =
        [("Version", "0.1.0 (4f1c2d9)"), ("Seed", "1"), ("World", "packets"), ("Machine", "4 cores, Linux 6.18")];
    facts.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

fn link(utilization: f64, rate: f64, queue: f64) -> LinkSummary {
    LinkSummary {
        utilization,
        throughput_bit_per_s: utilization * rate,
        queue_mean_packets: queue,
        queue_sd_packets: queue * 0.4,
        queue_p99_packets: queue * 2.2,
        queue_max_packets: (queue * 2.9).round(),
        queueing_delay_mean_s: Some(queue * 8000.0 / rate),
        queueing_delay_p99_s: Some(queue * 17_600.0 / rate),
        arrivals: 3_110_245,
        departures: 3_110_198,
        drops: 0,
        duplicates: 0,
        marks: 10_422,
        price_mean: None,
        classes: IndexMap::new(),
        queues: IndexMap::new(),
        dynamics: None,
    }
}

fn group(count: u32, goodput: f64, jain: f64, marks: f64) -> GroupSummary {
    GroupSummary {
        count,
        goodput_bit_per_s: goodput,
        throughput_packets_per_s: goodput / 7680.0,
        rtt_mean_s: Some(0.1128),
        jain: Some(jain),
        window_mean_packets: Some(goodput / 7680.0 * 0.1128 / f64::from(count)),
        window_sd_packets: Some(12.3),
        window_left_by_cuts: None,
        bottleneck: None,
        loss_rate: 0.0,
        mark_rate: marks,
        retransmits: 0,
        spurious_retransmits: None,
        timeouts: 0,
        undone_recoveries: None,
        pages: None,
        video: None,
        dynamics: None,
        transfers: None,
    }
}

fn summary(title: &str, link: LinkSummary, groups: Vec<(&str, GroupSummary)>) -> Summary {
    Summary {
        title: title.to_owned(),
        world: "packets".to_owned(),
        seed: 1,
        whole: Measured {
            measured_s: 40.0,
            links: [("bottleneck".to_owned(), link)].into_iter().collect(),
            groups: groups.into_iter().map(|(n, g)| (n.to_owned(), g)).collect(),
            flows: Vec::new(),
            fairness: Some(Fairness { jain: Some(0.9941), contracts_jain: None, classes: None, classes_mean: None }),
            classes: IndexMap::new(),
            customers: IndexMap::new(),
            dynamics: None,
        },
        windows: IndexMap::new(),
        path: None,
        findings: Vec::new(),
        engine: Engine { events: 14_220_118, packets: 3_110_198 },
    }
}

/// A number between -1 and 1 that looks random.
fn noise(i: usize) -> f64 {
    let mixed = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64 / (1_u64 << 53) as f64).mul_add(2.0, -1.0)
}

fn saw(t: f64, period: f64) -> f64 {
    (t / period).fract()
}

/// A column's name and kind, and its value by time, entity and a number to draw noise with.
type Made<'a> = (&'a str, Kind, &'a dyn Fn(f64, usize, usize) -> f64);

fn series(name: &str, key: &str, entities: &[&str], columns: &[Made<'_>]) -> Table {
    let times = 600;
    let rows = || (0..times).flat_map(|t| (0..entities.len()).map(move |e| (t, e)));
    let mut table = Table {
        name: name.to_owned(),
        columns: vec![
            Column {
                name: "time_s".to_owned(),
                kind: Kind::Key,
                values: Cells::Number(rows().map(|(t, _)| f64::from(t + 1) * 0.1).collect()),
            },
            Column {
                name: key.to_owned(),
                kind: Kind::Key,
                values: Cells::Name {
                    names: entities.iter().map(|e| (*e).to_owned()).collect(),
                    rows: rows().map(|(_, e)| e as u32).collect(),
                },
            },
        ],
    };
    for (name, kind, of) in columns {
        let value = |(t, e): (i32, usize)| of(f64::from(t + 1) * 0.1, e, (t as usize * 31 + e) * 7 + name.len());
        let values = Cells::Number(rows().map(value).collect());
        table.columns.push(Column { name: (*name).to_owned(), kind: *kind, values });
    }
    table
}

fn run() -> Page {
    let numbers = summary(
        "FAST and NewReno with RED at 622 Mbit/s",
        link(0.9731, 622e6, 812.4),
        vec![("ftp", group(100, 311e6, 0.987, 0.0034)), ("fast", group(50, 270e6, 0.999, 0.0034))],
    );
    let ramp = |t: f64| 1.0 - libm::exp(-t / 3.0);
    let links = series(
        "links",
        "link",
        &["bottleneck", "bottleneck/back"],
        &[
            ("throughput_bit_per_s", Kind::Average, &|t, e, i| {
                if e == 0 {
                    622e6 * ramp(t) * (0.96 + 0.03 * noise(i))
                } else {
                    25e6 * ramp(t) * (1.0 + 0.05 * noise(i))
                }
            }),
            ("utilization", Kind::Average, &|t, e, i| {
                if e == 0 { ramp(t) * (0.96 + 0.03 * noise(i)) } else { 0.04 * ramp(t) }
            }),
            ("queue_packets", Kind::Average, &|t, e, i| {
                if e == 0 { 300.0 + 1100.0 * saw(t, 7.3) + 90.0 * noise(i) } else { 1.2 + noise(i) }
            }),
            ("drops", Kind::Average, &|_, _, _| 0.0),
            ("marks", Kind::Average, &|t, e, i| {
                if e == 0 { (60.0 * saw(t, 7.3) + 9.0 * noise(i)).max(0.0).round() } else { 0.0 }
            }),
            ("probability", Kind::Instant, &|t, e, i| {
                if e == 0 { 0.004 * saw(t, 7.3) + 0.0002 * noise(i) } else { f64::NAN }
            }),
        ],
    );
    let groups = series(
        "groups",
        "group",
        &["ftp", "fast"],
        &[
            ("goodput_bit_per_s", Kind::Average, &|t, e, i| {
                [311e6, 270e6][e] * ramp(t) * (1.0 + [0.08, 0.02][e] * noise(i))
            }),
            ("window_packets", Kind::Average, &|t, e, i| [40.0 + 35.0 * saw(t, 7.3), 79.0][e] * ramp(t) + noise(i)),
            ("rtt_s", Kind::Average, &|t, _, i| 0.104 + 0.015 * saw(t, 7.3) + 0.0008 * noise(i)),
        ],
    );
    let names: Vec<String> = (0..40).map(|i| format!("ftp {i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let flows = series(
        "flows",
        "flow",
        &names,
        &[("window_packets", Kind::Instant, &|t, e, i| {
            20.0 + 60.0 * saw(t + e as f64, 9.0 + e as f64 * 0.2) + noise(i)
        })],
    );
    let laws = [("ftp".to_owned(), "newreno".to_owned()), ("fast".to_owned(), "fast".to_owned())];
    of_run(&RunView {
        registry: &Registry::standard(),
        summary: &numbers,
        series: &[links, groups, flows],
        scenario_text: SCENARIO,
        header: &header(),
        laws: &laws,
    })
}

fn sweep() -> Page {
    let rates = ["155 Mbit/s", "310 Mbit/s", "622 Mbit/s", "1.244 Gbit/s", "2.488 Gbit/s", "4.976 Gbit/s", "10 Gbit/s"];
    let cases = ["NewReno/RED", "NewReno/DropTail", "FAST"];
    let mut held = Vec::new();
    for (c, case) in cases.iter().enumerate() {
        for (r, rate) in rates.iter().enumerate() {
            for seed in 1..=4_usize {
                let bits = penstock_report::number::parse(rate).map_or(0.0, |p| p.0);
                let wobble = noise(seed * 97 + r * 13 + c * 5);
                let low = [0.96 - 0.065 * r as f64, 0.985 - 0.045 * r as f64, 0.985][c];
                let utilization = (low + 0.012 * wobble).min(1.0);
                let queue = [120.0 + 30.0 * wobble, 900.0 * (1.0 + r as f64) + 80.0 * wobble, 50.0 + wobble][c];
                let marks = [0.004 / (r + 1) as f64, 0.0, 0.0][c];
                let labels: IndexMap<String, String> = [
                    ("case".to_owned(), (*case).to_owned()),
                    ("links.bottleneck.rate".to_owned(), (*rate).to_owned()),
                    ("seed".to_owned(), seed.to_string()),
                ]
                .into_iter()
                .collect();
                let numbers = summary(
                    "sweep",
                    link(utilization, bits, queue),
                    vec![("ftp", group(100, 0.96 * utilization * bits, 0.9 + 0.03 * c as f64 + 0.01 * wobble, marks))],
                );
                held.push((labels, numbers));
            }
        }
    }
    let cells: Vec<CellView<'_>> =
        held.iter().map(|(labels, summary)| CellView { labels: labels.clone(), law: None, summary }).collect();
    of_sweep(&SweepView {
        registry: &Registry::standard(),
        title: "Utilization and queue from 155 Mbit/s to 10 Gbit/s",
        cells: &cells,
        scenario_text: SCENARIO,
        command: "penstock sweep scenarios/capacity.toml --jobs 4",
        header: &header(),
    })
}

fn cases() -> Page {
    let cases = ["NewReno with RED", "FAST", "Lead-lag with price marking"];
    let numbers: Vec<Summary> = (0..3)
        .map(|i| {
            summary(
                "c",
                link(0.9 + 0.03 * f64::from(i), 622e6, 400.0 - 150.0 * f64::from(i)),
                vec![("ftp", group(100, 5e8, 0.97, 0.001))],
            )
        })
        .collect();
    let cell = |(case, summary): (&&str, _)| CellView {
        labels: [("case".to_owned(), (*case).to_owned())].into_iter().collect(),
        law: None,
        summary,
    };
    let cells: Vec<CellView<'_>> = cases.iter().zip(&numbers).map(cell).collect();
    of_sweep(&SweepView {
        registry: &Registry::standard(),
        title: "Three laws on one path",
        cells: &cells,
        scenario_text: "",
        command: "",
        header: &[],
    })
}

/// `k e^(-s tau) / s (1 + s/z)` along the imaginary axis.
fn loop_gain(k: f64, tau: f64, z: f64) -> Vec<(f64, f64)> {
    (0..4000)
        .map(|i| {
            let w = libm::pow(10.0, f64::from(i) / 1000.0 - 1.0);
            let size = k / w * (1.0 + w * w / (z * z)).sqrt() / (1.0 + w * w / 900.0);
            let angle = -core::f64::consts::FRAC_PI_2 - w * tau + libm::atan(w / z);
            (size * libm::cos(angle), size * libm::sin(angle))
        })
        .collect()
}

fn analysis() -> Page {
    let curve = |name: &str, colour: Option<&str>, comparison, points| CurveView {
        name: name.to_owned(),
        colour: colour.map(str::to_owned),
        comparison,
        points,
    };
    let row = EquilibriumRow::new;
    of_analysis(&AnalysisView {
        title: "Lead-lag control at 10 Gbit/s".to_owned(),
        header: header(),
        stable: Some(true),
        verdict: "Stable: the loop keeps a phase margin of 41.2\u{b0} and could wait another 38 ms; the class \u{201c}far\u{201d} limits it."
            .to_owned(),
        models: String::new(),
        equilibrium: vec![
            row("links.bottleneck", "price", 0.00312, "s"),
            row("links.bottleneck", "arrival rate", 9.88e9, "bit/s"),
            row("flows.ftp", "window of a flow", 1234.5, "packets"),
            row("flows.ftp", "round-trip time", 0.1, "s"),
        ],
        margins: vec![
            MarginRow {
                model: "paced".to_owned(),
                decides: true,
                moment: "at the equilibrium".to_owned(),
                stable: true,
                gain_margin: Some(2.31),
                phase_margin_deg: Some(41.2),
                delay_margin_s: Some(0.038),
                crossover_rad_per_s: Some(18.9),
            },
            MarginRow {
                model: "clocked by acknowledgements".to_owned(),
                decides: false,
                moment: "at the equilibrium".to_owned(),
                stable: true,
                gain_margin: None,
                phase_margin_deg: Some(63.0),
                delay_margin_s: Some(0.112),
                crossover_rad_per_s: Some(9.8),
            },
        ],
        nyquist: vec![NyquistView {
            title: "Loop gain with exact delays".to_owned(),
            caption: "The curve starts far below at low frequencies; encircling \u{2212}1 would mean instability.".to_owned(),
            curves: vec![
                curve("lead-lag", Some("#3b7d23"), false, loop_gain(8.0, 0.06, 20.0)),
                curve("NewReno with RED", Some("#c1440e"), true, loop_gain(22.0, 0.12, 1e9)),
            ],
        }],
        figures: vec![
            Figure::new("Gain", Axis::new("Frequency", "rad/s").log(), Axis::new("Gain", "").log()),
        ],
        notes: vec!["The marking estimator is read as a first-order lag.".to_owned()],
        scenario_text: SCENARIO.to_owned(),
        command: "penstock analyze scenarios/leadlag.toml".to_owned(),
    })
}

fn paper() -> Page {
    let claim = |id: &str, quotation: &str, bound: &str, measured: &str, verdict, ours| ClaimView {
        id: id.to_owned(),
        quotation: quotation.to_owned(),
        place: "section 5.2, Figure 5".to_owned(),
        bound: bound.to_owned(),
        measured: measured.to_owned(),
        verdict,
        recorded: Some(if id == "queue-empty" { Verdict::Fails } else { Verdict::Holds }),
        ours,
        unstated: false,
        certainty: String::new(),
        reason: if verdict == Verdict::Fails {
            "RED\u{2019}s average follows the queue too slowly.".to_owned()
        } else {
            String::new()
        },
        note: String::new(),
    };
    let mut sweep = sweep();
    let figures = sweep.sections.remove(0).figures;
    let mut steps = Figure::new("Rate of the constant source", Axis::new("Time", "s"), Axis::new("Rate", "bit/s"))
        .captioned("Steps every five seconds, as in the paper.");
    let levels = [50e6, 120e6, 80e6, 155e6, 20e6, 20e6];
    let points = levels.iter().enumerate().map(|(i, v)| (i as f64 * 5.0, *v)).collect();
    steps.lines.push(Line::new("offered", points).styled(Style::Steps).coloured("#7a7a7a"));
    steps.marks.push(Mark::Horizontal { at: 100e6, label: "ceiling".to_owned() });
    steps.marks.push(Mark::Vertical { at: 12.0, label: "contract changes".to_owned() });
    of_paper(&PaperView {
        title: "A New TCP/AQM for Stable Operation in Fast Networks".to_owned(),
        explained_in: "papers/fast-aqm/README.md".to_owned(),
        short: false,
        citation: "F. Paganini, Z. Wang, S. H. Low and J. C. Doyle, IEEE INFOCOM 2003".to_owned(),
        results:
            "The claims about utilization and queues hold at all capacities; the empty queue of Figure 5 does not, \
                   because packets are paced by acknowledgements."
                .to_owned(),
        header: header(),
        figures: vec![
            PaperFigure {
                id: "Figure 5".to_owned(),
                title: "Utilization as capacity grows".to_owned(),
                prose: "The paper does not give the buffer; here it is unlimited, and swept in Figure 5b.".to_owned(),
                figures: figures.into_iter().take(2).chain([steps]).collect(),
                tables: Vec::new(),
                claims: vec![
                    claim(
                        "utilization-high",
                        "achieves a utilization of nearly 100 % at all capacities",
                        "\u{2265} 0.95",
                        "0.981 to 0.987",
                        Verdict::Holds,
                        false,
                    ),
                    claim(
                        "queue-empty",
                        "the queue is essentially empty in equilibrium",
                        "\u{2264} 10 packets",
                        "50.3 packets",
                        Verdict::Fails,
                        false,
                    ),
                    claim(
                        "queue-order",
                        "queues of NewReno grow with capacity",
                        "rank correlation \u{2265} 0.9",
                        "0.4",
                        Verdict::Fails,
                        true,
                    ),
                ],
                scenario_text: SCENARIO.to_owned(),
                command: "penstock paper fast-aqm/figure-5".to_owned(),
                not_run: None,
            },
            PaperFigure {
                id: "Figure 9".to_owned(),
                title: "Across the Atlantic".to_owned(),
                claims: vec![claim(
                    "wan",
                    "sustained 95 % over 10 000 km",
                    "\u{2265} 0.9",
                    "",
                    Verdict::NotRunHere,
                    false,
                )],
                not_run: Some("it needs two hosts on a transatlantic line.".to_owned()),
                ..PaperFigure::default()
            },
        ],
    })
}
