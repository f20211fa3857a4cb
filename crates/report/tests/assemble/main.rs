//! Pages from data: what is drawn across, what is a line, what is a band, what is left out.

mod show;

use indexmap::IndexMap;
use penstock_law::Registry;
use penstock_report::assemble::{
    AnalysisView, CellView, CurveView, NyquistView, PaperFigure, PaperView, RunView, SweepView, of_analysis, of_paper,
    of_run, of_sweep,
};
use penstock_report::page::Tone;
use penstock_report::page::Verdict::{Fails, Holds, NotRunHere};
use penstock_report::{ClaimView, Figure, Mark, Page, Scale, Style, html, text};
use penstock_scenario::summary::{Finding, Summary};
use penstock_scenario::world::{Cells, Column, Kind, Table};

fn summary(utilization: f64, drops: f64) -> Summary {
    let text = format!(
        r#"{{ "title": "t", "world": "packets", "seed": 1, "measured_s": 40.0,
             "links": {{ "up": {{ "utilization": {utilization}, "throughput_bit_per_s": 1e8, "queue_mean_packets": 50.5,
                "queue_sd_packets": 1.0, "queue_p99_packets": 60.0, "queue_max_packets": 61.0,
                "arrivals": 12345, "departures": 12345, "drops": 0, "marks": 0 }},
               "up/back": {{ "utilization": 0.04, "throughput_bit_per_s": 1e6, "queue_mean_packets": 0.0,
                "queue_sd_packets": 0.0, "queue_p99_packets": 0.0, "queue_max_packets": 1.0,
                "arrivals": 12345, "departures": 12345, "drops": 0, "marks": 0 }} }},
             "groups": {{ "ftp": {{ "count": 10, "goodput_bit_per_s": 9.6e7, "throughput_packets_per_s": 12500.0,
                "loss_rate": {drops}, "mark_rate": 0.0, "retransmits": 0, "timeouts": 0 }} }},
             "engine": {{ "events": 1, "packets": 1 }} }}"#
    );
    serde_json::from_str(&text).expect("a summary is read back")
}

fn labels(pairs: &[(&str, &str)]) -> IndexMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

fn sweep(cells: &[(IndexMap<String, String>, Summary)]) -> Page {
    let cells: Vec<CellView<'_>> =
        cells.iter().map(|(labels, summary)| CellView { labels: labels.clone(), law: None, summary }).collect();
    of_sweep(&SweepView {
        registry: &Registry::standard(),
        title: "t",
        cells: &cells,
        scenario_text: "",
        command: "penstock sweep t.toml",
        header: &[],
    })
}

fn figure<'a>(page: &'a Page, section: &str, title: &str) -> &'a Figure {
    let section = page.sections.iter().find(|s| s.heading == section).expect("the section is there");
    section.figures.iter().find(|f| f.title == title).expect("the figure is there")
}

#[test]
fn a_sweep_has_the_swept_number_across_and_a_line_a_case() {
    let mut cells = Vec::new();
    for (case, base) in [("FAST", 0.9), ("NewReno/RED", 0.6)] {
        for (rate, more) in [("622 Mbit/s", 0.0), ("155 Mbit/s", 0.02), ("10 Gbit/s", 0.04)] {
            for (seed, wobble) in [("1", -0.01), ("2", 0.01)] {
                let labels = labels(&[("seed", seed), ("links.up.rate", rate), ("case", case)]);
                cells.push((labels, summary(base + more + wobble, 0.0)));
            }
        }
    }
    let page = sweep(&cells);
    let utilization = figure(&page, "Link up", "Utilization");
    assert_eq!((utilization.x.label.as_str(), utilization.x.unit.as_str()), ("Up rate", "bit/s"));
    assert_eq!(utilization.x.scale, Scale::Log);
    assert_eq!(utilization.x.ticks.iter().map(|t| t.at).collect::<Vec<_>>(), [155e6, 622e6, 10e9]);
    assert_eq!(utilization.lines.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["FAST", "NewReno/RED"]);
    assert_eq!(utilization.lines[0].colour, "#0b6e99", "a law has one colour everywhere");
    let (fast, band) = (&utilization.lines[0].points, utilization.lines[0].band.as_ref().expect("two seeds"));
    // Two seeds at 0.91 and 0.93: t(0.975, 1) = 12.7062 times 0.01414 over the root of two.
    assert!((fast[0].1 - 0.92).abs() < 1e-12 && (band[0].1 - (0.92 - 0.127_062)).abs() < 1e-6);
    assert!((band[0].2 - (0.92 + 0.127_062)).abs() < 1e-6, "the interval of the mean, not least and largest");
    assert!(utilization.caption.contains("95 % confidence interval"), "{}", utilization.caption);
    let means = &page.sections.iter().find(|s| s.heading == "Numbers").expect("the section is there").tables[0];
    assert!(means.caption.ends_with("mean over 2 seeds \u{b1} half of its 95 % confidence interval"));
    assert!(means.rows.iter().flatten().any(|cell| cell == "0.92 \u{b1} 0.13"), "{:?}", means.rows);
    assert!(page.sections.iter().all(|s| s.heading != "Link up/back"), "the way back is not the story");
    let flows = page.sections.iter().find(|s| s.heading == "Flows ftp").expect("the section is there");
    assert_eq!(flows.prose, "Not drawn, because zero everywhere: loss rate, mark rate.");
    let numbers = page.sections.iter().find(|s| s.heading == "Numbers").expect("the section is there");
    assert_eq!(numbers.tables[0].rows.len(), 6, "a row a cell without its seed");
    assert_eq!(numbers.tables.iter().filter(|t| t.folded).map(|t| t.rows.len()).collect::<Vec<_>>(), [12, 12]);
}

#[test]
fn a_sweep_of_cases_only_has_a_place_a_case() {
    let cells: Vec<_> = ["FAST", "CUBIC <new>"].iter().map(|c| (labels(&[("case", c)]), summary(0.9, 0.1))).collect();
    let page = sweep(&cells);
    let utilization = figure(&page, "Link up", "Utilization");
    let names: Vec<_> = utilization.x.ticks.iter().map(|t| t.label.as_deref()).collect();
    assert_eq!(names, [Some("FAST"), Some("CUBIC <new>")]);
    assert!(utilization.lines.iter().all(|l| l.style == Style::Points && l.band.is_none()));
    html::write(&page);
}

#[test]
fn a_sweep_of_two_numbers_has_the_longer_one_across() {
    let mut cells = Vec::new();
    for rtt in ["50 ms", "100 ms"] {
        for count in ["10", "20", "30"] {
            cells.push((labels(&[("flows.ftp.rtt", rtt), ("flows.ftp.count", count)]), summary(0.9, 0.0)));
        }
    }
    let page = sweep(&cells);
    let utilization = figure(&page, "Link up", "Utilization");
    assert_eq!(utilization.x.label, "Ftp count");
    assert_eq!(utilization.lines.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["50 ms", "100 ms"]);
}

#[test]
fn an_empty_sweep_is_a_page_too() {
    assert!(html::write(&sweep(&[])).contains("A sweep of 0 runs"));
    let one = sweep(&[(labels(&[]), summary(0.5, 0.0))]);
    assert!(html::write(&one).contains("A sweep of 1 run<"));
}

#[test]
fn a_run_draws_whatever_was_recorded() {
    let number = |name: &str, kind, values: &[f64]| Column {
        name: name.to_owned(),
        kind,
        values: Cells::Number(values.to_vec()),
    };
    let table = Table {
        name: "groups".to_owned(),
        columns: vec![
            number("time_s", Kind::Key, &[0.1, 0.1, 0.2, 0.2]),
            Column {
                name: "group".to_owned(),
                kind: Kind::Key,
                values: Cells::Name { names: vec!["ftp".into(), "web".into()], rows: vec![0, 1, 0, 1] },
            },
            number("window_packets", Kind::Average, &[1.0, 2.0, 3.0, 4.0]),
            number("base_rtt_s", Kind::Instant, &[0.1, f64::NAN, 0.1, f64::NAN]),
            number("timeouts", Kind::Average, &[0.0; 4]),
        ],
    };
    let summary = summary(0.97, 0.0);
    let page = of_run(&RunView {
        registry: &Registry::standard(),
        summary: &summary,
        series: &[table],
        scenario_text: "format = 1",
        header: &[],
        laws: &[("web".to_owned(), "fast".to_owned())],
    });
    let window = figure(&page, "Groups over time", "Window");
    assert_eq!(window.lines[1].points, [(0.1, 2.0), (0.2, 4.0)]);
    assert_eq!(window.lines[1].colour, "#0b6e99");
    assert_ne!(window.lines[0].colour, window.lines[1].colour);
    assert_eq!(figure(&page, "Groups over time", "Base RTT").lines.len(), 1);
    assert_eq!(window.warm_up, None);
    let text = text::page(&page);
    for needed in [
        "Utilization                0.97     0.04\n",
        "Arrivals                 12 345   12 345\n",
        "Goodput [Mbit/s]                   96\n",
    ] {
        assert!(text.contains(needed), "{needed}\n{text}");
    }
}

/// Of a link with several queues each queue has curves of its own: its delay in the overview, once and not again, and the rest in
/// a section. A queue of a group has the group's colour. A record of a version without such series has the link's delay.
#[test]
fn a_link_with_several_queues_shows_each() {
    let column = |name: &str, kind, values: &[f64]| Column {
        name: name.to_owned(),
        kind,
        values: Cells::Number(values.to_vec()),
    };
    let names = |of: &[&str], rows: &[u32]| Cells::Name {
        names: of.iter().map(|name| (*name).to_owned()).collect(),
        rows: rows.to_vec(),
    };
    let key = |name: &str, values| Column { name: name.to_owned(), kind: Kind::Key, values };
    let links = Table {
        name: "links".to_owned(),
        columns: vec![
            column("time_s", Kind::Key, &[1.0, 2.0]),
            key("link", names(&["up"], &[0, 0])),
            column("throughput_bit_per_s", Kind::Average, &[1e8, 1e8]),
            column("queue_mean_packets", Kind::Average, &[50.0, 60.0]),
            column("drops_per_s", Kind::Average, &[4.0, 0.0]),
            column("marks_per_s", Kind::Average, &[2.0, 3.0]),
        ],
    };
    let queues = Table {
        name: "queues".to_owned(),
        columns: vec![
            column("time_s", Kind::Key, &[1.0, 1.0, 2.0, 2.0]),
            key("queue", names(&["up/ftp", "up/fast lane"], &[0, 1, 0, 1])),
            column("throughput_packets_per_s", Kind::Average, &[3.0, 1.0, 3.0, 1.0]),
            column("queueing_delay_s", Kind::Average, &[0.02, 0.001, 0.03, f64::NAN]),
            column("queue_packets", Kind::Instant, &[7.0, 1.0, 9.0, 0.0]),
            column("drops_per_s", Kind::Average, &[4.0, 0.0, 0.0, 0.0]),
            column("marks_per_s", Kind::Average, &[1.0, 1.0, 2.0, 1.0]),
        ],
    };
    let mut summary = summary(0.97, 0.0);
    let up = &mut summary.whole.links["up"];
    up.queueing_delay_mean_s = Some(0.02);
    for (queue, p99) in [("ftp", 0.04), ("fast lane", 0.002)] {
        let text = format!(
            r#"{{ "throughput_bit_per_s": 1e6, "queueing_delay_p99_s": {p99}, "arrivals": 9, "departures": 9, "drops": 0, "marks": 0 }}"#
        );
        up.queues.insert(queue.to_owned(), serde_json::from_str(&text).expect("a queue"));
    }
    let page = |series: &[Table]| {
        of_run(&RunView {
            registry: &Registry::standard(),
            summary: &summary,
            series,
            scenario_text: "format = 1",
            header: &[],
            laws: &[("ftp".to_owned(), "cubic".to_owned())],
        })
    };
    let both = page(&[links.clone(), queues]);
    let delay = figure(&both, "Delay and shares", "Queueing delay");
    let lines: Vec<&str> = delay.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(lines, ["up/ftp", "up/fast lane"]);
    assert_eq!(delay.lines[0].points, [(1.0, 0.02), (2.0, 0.03)]);
    assert_eq!(delay.lines[0].colour, "#2456c4", "that of the group's law");
    assert!(delay.caption.starts_with("The mean wait of the packets"), "{}", delay.caption);
    let shares = figure(&both, "Delay and shares", "Distribution of the queueing delay");
    assert_eq!(shares.lines[0].points, [(0.02, 0.5), (0.03, 1.0)]);
    let marks: Vec<f64> = shares
        .marks
        .iter()
        .filter_map(|mark| if let Mark::Vertical { at, .. } = mark { Some(*at) } else { None })
        .collect();
    assert_eq!(marks, [0.04, 0.002]);
    let section = both.sections.iter().find(|section| section.heading == "Queues over time").expect("a section");
    let titles: Vec<&str> = section.figures.iter().map(|figure| figure.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Throughput of queues", "Queue", "Marks"],
        "the delay is in the overview, the drops are those of the link"
    );
    assert_eq!(section.figures[1].lines[1].points, [(1.0, 1.0), (2.0, 0.0)]);
    let before = page(&[links]);
    let delay = figure(&before, "Delay and shares", "Queueing delay");
    assert!(delay.lines[0].name == "up" && delay.caption.contains("Little"), "{}", delay.caption);
}

/// The colours of a group and a link do not swap from figure to figure, and the warm-up is shaded.
#[test]
fn a_run_has_a_colour_for_each_thing_and_shades_the_warm_up() {
    let names =
        |names: &[&str]| Cells::Name { names: names.iter().map(|n| (*n).to_owned()).collect(), rows: vec![0, 1] };
    let table = |name: &str, key: &str, things: &[&str]| Table {
        name: name.to_owned(),
        columns: vec![
            Column { name: "time_s".to_owned(), kind: Kind::Key, values: Cells::Number(vec![1.0, 1.0]) },
            Column { name: key.to_owned(), kind: Kind::Key, values: names(things) },
            Column { name: "x_s".to_owned(), kind: Kind::Average, values: Cells::Number(vec![1.0, 2.0]) },
        ],
    };
    let mut summary = summary(0.9, 0.1);
    let group = summary.whole.groups["ftp"].clone();
    summary.whole.groups = ["there", "back"].map(|name| (name.to_owned(), group.clone())).into_iter().collect();
    let page = of_run(&RunView {
        registry: &Registry::standard(),
        summary: &summary,
        series: &[table("links", "link", &["up", "up/back"]), table("groups", "group", &["there", "back"])],
        scenario_text: "format = 1\nwarmup = \"20 s\"",
        header: &[],
        laws: &[("there".to_owned(), "cubic".to_owned()), ("back".to_owned(), "cubic".to_owned())],
    });
    let lines = ["Links over time", "Groups over time"].map(|section| figure(&page, section, "X").lines.clone());
    let colours: std::collections::BTreeSet<String> = lines.iter().flatten().map(|l| l.colour.clone()).collect();
    assert_eq!(colours.len(), 4, "{colours:?}");
    assert_eq!(lines[1][0].colour, "#2456c4", "CUBIC's");
    assert_eq!(figure(&page, "Links over time", "X").warm_up, Some(20.0));
}

#[test]
fn an_analysis_shows_the_critical_point_however_large_the_gain() {
    let points = vec![(-3e6, -4e9), (-2.0, -2.0), (-0.4, 0.1), (0.0, 0.0), (f64::NAN, 0.0)];
    let curve = CurveView { name: "loop".to_owned(), points, ..CurveView::default() };
    let view = AnalysisView {
        title: "t".to_owned(),
        stable: Some(false),
        nyquist: vec![NyquistView { curves: vec![curve], ..NyquistView::default() }],
        ..AnalysisView::default()
    };
    let page = of_analysis(&view);
    assert_eq!(page.sections[0].callout.as_ref().map(|c| c.tone), Some(Tone::Bad));
    let nyquist = &page.sections[1].figures[0];
    assert!(nyquist.equal_aspect);
    assert!(nyquist.marks.iter().any(|m| matches!(m, Mark::Point { x, y, .. } if (*x, *y) == (-1.0, 0.0))));
    let range = nyquist.x.range.expect("the neighbourhood of the critical point");
    assert!(range.0 < -1.0 && range.0 > -4.0 && range.1 > 0.0, "{range:?}");
    html::write(&page);
}

#[test]
fn a_known_failure_is_no_alarm_and_a_new_one_is() {
    let claim = |verdict, recorded| ClaimView {
        id: "c".to_owned(),
        quotation: String::new(),
        place: String::new(),
        bound: String::new(),
        measured: String::new(),
        verdict,
        recorded,
        ours: false,
        unstated: false,
        certainty: String::new(),
        reason: String::new(),
        note: String::new(),
    };
    let page = |claims: Vec<ClaimView>| {
        of_paper(&PaperView { figures: vec![PaperFigure { claims, ..PaperFigure::default() }], ..PaperView::default() })
    };
    let surprises = |claims: Vec<ClaimView>| page(claims).sections[0].tally.map(|tally| tally.surprises());
    assert_eq!(surprises(vec![claim(Holds, Some(Holds)), claim(Fails, Some(Fails))]), Some(false));
    assert_eq!(surprises(vec![claim(Holds, Some(Holds)), claim(Fails, Some(Holds))]), Some(true));
    assert_eq!(surprises(vec![claim(Holds, None), claim(Fails, None)]), Some(true));
    assert_eq!(
        surprises(vec![claim(Holds, Some(Fails))]),
        Some(true),
        "also a change for the better has to be recorded"
    );
    assert_eq!(surprises(vec![claim(NotRunHere, Some(Holds))]), Some(false));
    assert_eq!(surprises(vec![]), None);

    // That verdicts are as recorded does not make a claim that fails good.
    let html = html::write(&page(vec![claim(Holds, Some(Holds)), claim(Fails, Some(Fails))]));
    assert!(!html.contains("callout good"));
    assert!(html.contains("2 claims: 1 holds, 1 fails.</p>") && html.contains("Every verdict is as recorded.</p>"));
    assert!(html.contains("<span class=\"fails w1\">"), "a bar shows how many");
    assert!(html.contains(".w1 { flex-grow: 1; }"), "and its parts are as wide");
}

#[test]
fn a_paper_says_why_claims_fail_and_lets_a_reader_find_them() {
    let claim = |id: &str, verdict, reason: &str| ClaimView {
        id: id.to_owned(),
        quotation: String::new(),
        place: String::new(),
        bound: String::new(),
        measured: String::new(),
        verdict,
        recorded: Some(verdict),
        ours: false,
        unstated: false,
        certainty: String::new(),
        reason: reason.to_owned(),
        note: String::new(),
    };
    let figure = |id: &str, title: &str, claims| PaperFigure {
        id: id.to_owned(),
        title: title.to_owned(),
        claims,
        ..PaperFigure::default()
    };
    let page = of_paper(&PaperView {
        title: "A paper".to_owned(),
        explained_in: "papers/a/README.md".to_owned(),
        short: true,
        figures: vec![
            figure("figure 5", "Utilization", vec![claim("A.fig5.a/x", Fails, "The queue swings.")]),
            figure("table I", "Times", vec![claim("A.table1.b", Fails, ""), claim("A.table1.c", Holds, "")]),
            figure("figure 6", "Delay", vec![claim("A.fig6.a", Holds, "")]),
        ],
        ..PaperView::default()
    });
    assert_eq!(page.title, "A paper: short runs");
    let html = html::write(&page);
    assert!(
        html.contains("<b>Why it fails:</b> The queue swings.")
            && html.contains("<b>Why it fails:</b> Not explained yet.")
    );
    assert_eq!(html.matches("Why it fails").count(), 2, "only of claims that fail");
    assert!(html.contains("papers/a/README.md has more"));
    // The contents: a line a figure, and the claims that fail with links to them.
    assert!(html.contains("<li><a href=\"#figure-5-utilization\">Fig. 5 \u{2014} Utilization</a> <span class=\"count\">1 fails</span></li>"));
    assert!(
        html.contains("<a href=\"#claim-a-fig5-a-x\">A.fig5.a/x</a>")
            && html.contains("<tr id=\"claim-a-fig5-a-x\" class=\"failing\">")
    );
    assert!(html.contains("<section id=\"figure-6-delay\" class=\"kept\">"));
    assert!(html.contains("<section id=\"table-i-times\" class=\"failing\">"));
}

/// A run on an emulated path says what it was off by, beside what it may be off by, and whether that is well.
#[test]
fn a_path_states_its_error() {
    let path = |within: bool, beyond: &str| {
        let text = format!(
            r#"{{ "within_bound": {within}, "lateness_bound_s": 4e-4, "lateness_p99_s": 9.2e-5, "lateness_max_s": 0.002,
                 "gap_bound_s": 0.005, "gap_max_s": 0.0071, "gaps_above_5_ms": 3, "stolen_s": 0.03, "device_drops": 0, "not_carried": 2,
                 "packets": 1234567, "scheduling": "fifo", "bottleneck": "up", "sockets": {{ "ftp": "reno, SACK" }},
                 "beyond": [{beyond}], "findings": ["no link was a bottleneck", "up/back: 3 drops, 0 marks"] }}"#
        );
        serde_json::from_str(&text).expect("a path is read back")
    };
    let page = |path| {
        let summary = Summary { path, ..summary(0.9, 0.1) };
        of_run(&RunView {
            registry: &Registry::standard(),
            summary: &summary,
            series: &[],
            scenario_text: "",
            header: &[],
            laws: &[],
        })
    };
    let has = |page: &Page| page.sections.iter().position(|section| section.heading == "Emulated path");
    assert_eq!(has(&page(None)), None, "nothing is emulated");
    let well = page(Some(path(true, "")));
    let section = &well.sections[has(&well).expect("behind the summary")];
    assert_eq!(section.callout.as_ref().map(|callout| callout.tone), Some(Tone::Good));
    let row = |name: &str| section.tables[0].rows.iter().find(|row| row[0] == name).expect(name)[1..].to_vec();
    assert_eq!(row("Lateness p99"), ["92 \u{b5}s", "400 \u{b5}s"]);
    assert_eq!(row("Longest gap"), ["7.1 ms", "5 ms"]);
    assert_eq!(row("Taken by the hypervisor"), ["30 ms", ""]);
    assert_eq!(row("Lateness, median")[0], "\u{2013}", "not measured");
    assert_eq!(section.tables[1].rows, [["ftp", "reno, SACK"]]);
    assert_eq!(section.prose, "No link was a bottleneck.\n\nup/back: 3 drops, 0 marks.");
    let ill = page(Some(path(false, r#""the emulator paused for 7.1 ms""#)));
    let callout = ill.sections[1].callout.as_ref().expect("it says so");
    assert!(callout.tone == Tone::Bad && callout.text.ends_with("the emulator paused for 7.1 ms."), "{callout:?}");
}

/// Findings stand in a box of their own, under the tables.
#[test]
fn findings_are_in_a_box() {
    let heading = |page: &Page| page.sections.iter().map(|section| section.heading.clone()).collect::<Vec<_>>();
    let of = |summary: &Summary| {
        of_run(&RunView {
            registry: &Registry::standard(),
            summary,
            series: &[],
            scenario_text: "",
            header: &[],
            laws: &[],
        })
    };
    let mut summary = summary(0.9, 1.0);
    assert!(!heading(&of(&summary)).contains(&"Findings".to_owned()));
    let (subject, text) = ("flows.web.count".to_owned(), "475 of 475 transfers waited <for> a connection".to_owned());
    summary.findings = vec![Finding { id: "transfers-wait".to_owned(), subject, text }];
    let page = of(&summary);
    assert_eq!(heading(&page)[..2], ["Findings".to_owned(), "Summary".to_owned()]);
    let written = html::write(&page);
    let shown =
        "flows.web.count: 475 of 475 transfers waited &lt;for&gt; a connection (docs/findings.md#transfers-wait).";
    assert!(written.contains(shown), "{written}");
}

/// Tables of several kinds with the same columns, as a price is of a link and in the state of a law: no
/// two panels share a title, nor the file under which the viewer saves their data.
#[test]
fn no_two_panels_of_a_page_share_a_title_or_a_file() {
    let table = |name: &str, key: &str| {
        let number = |name: &str, kind, values: [f64; 3]| Column {
            name: name.to_owned(),
            kind,
            values: Cells::Number(values.to_vec()),
        };
        let names = Cells::Name { names: vec!["up".to_owned()], rows: vec![0; 3] };
        let values = [[1.0, 5.0, 2.0], [2.0, 3.0, 9.0], [1.0, 1.5, 0.5], [7.0, 8.0, 9.0]];
        let columns = ["throughput_packets_per_s", "queue_packets", "drops_per_s", "price_s"];
        let columns = columns.into_iter().zip(values).map(|(name, values)| number(name, Kind::Average, values));
        let keys = [
            number("time_s", Kind::Key, [1.0, 2.0, 3.0]),
            Column { name: key.to_owned(), kind: Kind::Key, values: names },
        ];
        Table { name: name.to_owned(), columns: keys.into_iter().chain(columns).collect() }
    };
    let summary = summary(0.9, 0.1);
    let page = of_run(&RunView {
        registry: &Registry::standard(),
        summary: &summary,
        series: &["links", "queues", "classes", "groups", "flows"].map(|name| table(name, name.trim_end_matches('s'))),
        scenario_text: "format = 1",
        header: &[],
        laws: &[],
    });
    let titles = |html: &str| -> Vec<String> {
        let data = html.split("id=\"penstock-figures\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let drawn: Vec<String> = match data {
            Some(data) => {
                let data: serde_json::Value = serde_json::from_str(data).expect("the data of the figures");
                let figures = data["figures"].as_array().expect("a list").iter();
                figures.map(|figure| figure["title"].as_str().expect("a title").to_owned()).collect()
            }
            // Without a viewer: the drawings name themselves.
            None => html
                .split("<title")
                .skip(2)
                .filter_map(|t| Some(t.split_once('>')?.1.split_once('<')?.0.to_owned()))
                .collect(),
        };
        assert!(drawn.len() >= 15, "{drawn:?}");
        drawn
    };
    let shown = titles(&html::write(&page));
    let data: serde_json::Value = serde_json::from_str(&html::fragment(&page).figures).expect("the data");
    let fragment: Vec<&str> =
        data["figures"].as_array().expect("a list").iter().filter_map(|f| f["title"].as_str()).collect();
    assert_eq!(shown, fragment, "the page and the playground");
    let file = |title: &String| title.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let files: std::collections::BTreeSet<String> = shown.iter().map(file).collect();
    assert_eq!(files.len(), shown.len(), "{shown:?}");
    for title in ["Throughput of links", "Throughput of groups", "Queue (Links over time)", "Queue (Groups over time)"]
    {
        assert!(shown.iter().any(|shown| shown == title), "{title}: {shown:?}");
    }
}

/// An axis of cases that is named as a part of other keys is said all the same.
#[test]
fn an_axis_of_a_short_name_is_named() {
    let cells: Vec<(IndexMap<String, String>, Summary)> =
        ["red", "codel"].iter().map(|aqm| (labels(&[("aqm", aqm)]), summary(0.9, 0.0))).collect();
    assert_eq!(sweep(&cells).subtitle, "A sweep of 2 runs over AQM, 2 cases");
}
