//! Fluid against packets: Fig. 8 of fast-aqm in its stages, and PI on both sides of its boundary. The long ones run by
//! hand, in release: `cargo test --release -p penstock-cli --test suite worlds -- --ignored --nocapture`.
#![allow(unreachable_pub, missing_docs)]

use penstock_fluid::{Clocking, Fluid, Method, Options, Verdict, analyze};
use penstock_law::cc::{self, CONTROLLERS, Controller, Event, Marks};
use penstock_law::law::{Linearisation, find};
use penstock_law::quantity::Time;
use penstock_law::{Entry, Instances, Observables, Values};
use penstock_packets::Packets;
use penstock_scenario::model::{Scenario, Start};
use penstock_scenario::read::Document;
use penstock_scenario::summary::{LinkSummary, Measured};
use penstock_scenario::world::{Cells, Run, World};

fn scenario(file: &str, set: &[(&str, &str)]) -> Scenario {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let mut document = Document::parse(&std::fs::read_to_string(path).unwrap(), file).unwrap();
    for (key, value) in set {
        document.set(key, value).unwrap();
    }
    document.cells().unwrap().remove(0).scenario
}

fn run(world: &dyn World, scenario: &Scenario) -> Run {
    world.run(scenario, &mut |_| true).unwrap()
}

const fn entry(name: &'static str, real: penstock_law::law::Build<f64, Controller>) -> Entry<Controller> {
    Entry {
        name,
        title: "a law of a test",
        source: "a test",
        colour: "#000000",
        parameters: &[],
        observables: Observables::NONE,
        linearisation: Linearisation::Automatic,
        real,
        dual: None,
        fixed: None,
        kernel: None,
    }
}

/// The lead-lag protocol without a limit to what is in flight: four windows. Its pace alone times its packets.
static PACED: Entry<Controller> = entry("leadlag-paced", &|values, site| paced(values, site, false));

/// The same, and every flow of a group gets the mean of the prices that all its flows read from their marks: as much
/// delay, and hardly any noise.
static QUIET: Entry<Controller> = entry("leadlag-quiet", &|values, site| paced(values, site, true));

struct Paced {
    law: Box<dyn Instances<f64, Controller>>,
    quiet: bool,
    /// The last price of each flow, and the sum [s].
    prices_s: Vec<f64>,
    sum_s: f64,
}

fn paced(values: &Values, site: &cc::Context, quiet: bool) -> Result<Box<dyn Instances<f64, Controller>>, String> {
    let law = (find(CONTROLLERS, "leadlag").unwrap().real)(values, site)?;
    Ok(Box::new(Paced { law, quiet, prices_s: Vec::new(), sum_s: 0.0 }))
}

fn widened(said: cc::Output<f64>) -> cc::Output<f64> {
    cc::Output { window: 4.0 * said.window, ..said }
}

impl Instances<f64, Controller> for Paced {
    fn add(&mut self) -> usize {
        self.prices_s.push(0.0);
        self.law.add()
    }
    fn restart(&mut self, at: usize) {
        self.law.restart(at);
    }
    fn keep(&mut self, at: usize) {
        self.law.keep(at);
    }
    fn bring_back(&mut self, at: usize) {
        self.law.bring_back(at);
    }
    fn copy(&mut self, at: usize) -> usize {
        self.prices_s.push(self.prices_s[at]);
        self.law.copy(at)
    }
    fn on_event(&mut self, at: usize, event: Event, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        if !self.quiet {
            return widened(self.law.on_event(at, event, seen));
        }
        self.sum_s += seen.price_s - self.prices_s[at];
        self.prices_s[at] = seen.price_s;
        let price_s = self.sum_s / self.prices_s.len() as f64;
        widened(self.law.on_event(at, event, &cc::Observation { price_s, ..*seen }))
    }
    fn output(&self, at: usize, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        widened(self.law.output(at, seen))
    }
    fn mean_output(&self, at: usize, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        widened(self.law.mean_output(at, seen))
    }
    fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.law.names()
    }
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut f64)) {
        self.law.each(at, f);
    }
    fn requirements(&self) -> cc::Requirements {
        self.law.requirements()
    }
}

/// NewReno past slow start whose cuts are shared: one takes `1/2n` of the window of each of the group's `n` flows. Windows
/// stay alike, as in the fluid, where halving one of them spreads them.
static SHARED: Entry<Controller> =
    entry("newreno-shared", &|_, site| Ok(Box::new(Shared { windows: Vec::new(), initial: site.initial_window })));

struct Shared {
    windows: Vec<f64>,
    initial: f64,
}

impl Instances<f64, Controller> for Shared {
    fn add(&mut self) -> usize {
        self.windows.push(self.initial);
        self.windows.len() - 1
    }
    fn restart(&mut self, at: usize) {
        self.windows[at] = self.initial;
    }
    fn keep(&mut self, _: usize) {}
    fn bring_back(&mut self, _: usize) {}
    fn copy(&mut self, at: usize) -> usize {
        self.windows.push(self.windows[at]);
        self.windows.len() - 1
    }
    fn on_event(&mut self, at: usize, event: Event, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        match event {
            Event::Ack { packets, marked } => {
                self.windows[at] += f64::from(packets - marked) / self.windows[at];
            }
            Event::Congestion => {
                let kept = 1.0 - 0.5 / self.windows.len() as f64;
                self.windows.iter_mut().for_each(|w| *w *= kept);
            }
            Event::Timeout | Event::Tick | Event::Round => {}
        }
        self.output(at, seen)
    }
    fn output(&self, at: usize, _: &cc::Observation<f64>) -> cc::Output<f64> {
        cc::Output { window: self.windows[at], gap_s: 0.0 }
    }
    fn mean_output(&self, at: usize, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        self.output(at, seen)
    }
    fn names(&self) -> &'static [(&'static str, &'static str)] {
        &[("window", "packets")]
    }
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut f64)) {
        f(&mut self.windows[at]);
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements { marks: Marks::Congestion, ..cc::Requirements::LEAST }
    }
}

/// The largest relative differences of a rate and of the price, stage by stage.
fn apart(packets: &Measured, fluid: &Measured) -> (f64, f64) {
    let rates = packets
        .groups
        .iter()
        .filter(|(_, g)| g.throughput_packets_per_s > 0.0)
        .map(|(name, g)| (fluid.groups[name].throughput_packets_per_s / g.throughput_packets_per_s - 1.0).abs());
    let price = |m: &Measured| m.links["bottleneck"].price_mean.unwrap();
    (rates.fold(0.0, f64::max), price(fluid) / price(packets) - 1.0)
}

fn stages(scenario: &Scenario, rate_bound: f64, price_bound: f64) {
    let (packets, fluid) = (run(&Packets, scenario), run(&Fluid::default(), scenario));
    for ((name, p), (_, f)) in packets.summary.windows.iter().zip(&fluid.summary.windows) {
        let (rate, price) = apart(p, f);
        println!("{name}: rates within {:.2} %, price {:+.2} %", 100.0 * rate, 100.0 * price);
        for (group, g) in p.groups.iter().filter(|(_, g)| g.throughput_packets_per_s > 0.0) {
            let off = f.groups[group].throughput_packets_per_s / g.throughput_packets_per_s - 1.0;
            println!("    {group}: {:+.2} %", 100.0 * off);
        }
        assert!(rate < rate_bound && price.abs() < price_bound, "{name}: {rate} {price}");
    }
}

/// The window-limited host that is the default: rates within 4 %, the price within 10 %.
#[test]
#[ignore = "tens of millions of packets; run in release"]
fn fig_8_in_packets_is_the_fluid() {
    stages(&scenario("fast-aqm-fig8.toml", &[("defaults.flows.cc.taubar", "\"500 ms\"")]), 0.04, 0.10);
}

/// Paced only, as the equations have it: both within 3 %. It **fails** in stage 5: the group of 40 ms, whose windows are of 19
/// packets and noisy, has 4.3 % more in packets (one seed); docs/validation/fluid.md says why.
#[test]
#[ignore = "tens of millions of packets; fails in stage 5, where one group is 4.3 % off"]
fn fig_8_paced_only_is_the_fluid() {
    let mut scenario = scenario("fast-aqm-fig8.toml", &[("defaults.flows.cc.taubar", "\"500 ms\"")]);
    for group in scenario.groups.values_mut() {
        group.cc.law = &PACED;
    }
    stages(&scenario, 0.03, 0.03);
}

/// Fig. 8 with all its groups from the start, as in stage 5.
fn stage_5(n: u32, seed: u32, law: &'static Entry<Controller>) -> Scenario {
    let (n, seed) = (format!("\"{n} packets\""), format!("{seed}"));
    let taubar = ("defaults.flows.cc.taubar", "\"500 ms\"");
    let mut scenario = scenario("fast-aqm-fig8.toml", &[taubar, ("defaults.flows.cc.N", &n), ("seed", &seed)]);
    for group in scenario.groups.values_mut() {
        group.start = Start::Uniform(Time::ZERO, Time::from_seconds(1.0));
        group.cc.law = law;
    }
    scenario.windows.clear();
    scenario.duration = Time::from_seconds(60.0);
    scenario.warmup = Time::from_seconds(40.0);
    scenario
}

/// Where the 4.3 % of stage 5 come from: from the noise of a price that is read from the last N marks. It goes when all flows
/// of a group are told the mean of what they read, which is as late and hardly noisy, and with marks that are read over twice as
/// many packets. Neither the stages nor chance has a part in it: it is the same from a start of all groups at once, whatever
/// the seed.
#[test]
#[ignore = "a hundred million packets; run in release"]
fn the_surplus_of_short_round_trips_is_the_noise_of_their_registers() {
    let apart = |n: u32, seed: u32, law: &'static Entry<Controller>| -> Vec<f64> {
        let scenario = stage_5(n, seed, law);
        let (packets, fluid) = (run(&Packets, &scenario), run(&Fluid::default(), &scenario));
        let price = |run: &Run| bottleneck(run).price_mean.unwrap();
        let groups = packets.summary.whole.groups.iter();
        let off: Vec<f64> = groups
            .map(|(name, g)| {
                fluid.summary.whole.groups[name].throughput_packets_per_s / g.throughput_packets_per_s - 1.0
            })
            .collect();
        let percent: Vec<String> = off.iter().map(|x| format!("{:+.2}", 100.0 * x)).collect();
        let price = 100.0 * (price(&fluid) / price(&packets) - 1.0);
        println!("{}, N {n}, seed {seed}: rates {percent:?} %, price {price:+.2} %", law.name);
        off
    };
    let seeds: Vec<f64> = (1..=5).map(|seed| apart(31, seed, &PACED)[0]).collect();
    let mean = seeds.iter().sum::<f64>() / 5.0;
    let sd = (seeds.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 4.0).sqrt();
    // Student's t of four degrees of freedom.
    let within = 2.776 * sd / 5.0_f64.sqrt();
    println!("40 ms over five seeds: {:+.2} +- {:.2} % (95 %)", 100.0 * mean, 100.0 * within);
    for off in [apart(31, 1, &QUIET), apart(62, 1, &PACED)].concat() {
        assert!(off.abs() < 0.03, "{off}");
    }
}

/// A tenth of Fig. 8's first two stages, in every run of the tests: a tenth of the capacity and of the flows.
#[test]
fn two_small_stages_in_packets_are_the_fluid() {
    let mut small = scenario("fast-aqm-fig8.toml", &[("defaults.flows.cc.taubar", "\"500 ms\"")]);
    small.links.values_mut().for_each(|l| l.rate = penstock_law::quantity::Rate(200_000_000));
    small.groups.retain(|name, _| name == "rtt40" || name == "rtt80");
    small.groups.values_mut().for_each(|g| g.count = 4);
    small.windows.retain(|name, _| name == "stage1" || name == "stage2");
    small.duration = penstock_law::quantity::Time::from_seconds(80.0);
    stages(&small, 0.04, 0.10);
    small.groups.values_mut().for_each(|g| g.cc.law = &PACED);
    stages(&small, 0.03, 0.03);
}

fn queue(run: &Run) -> Vec<f64> {
    let table = run.series.iter().find(|t| t.name == "links").unwrap();
    let (values, time) = (table.number("queue_packets").unwrap(), table.number("time_s").unwrap());
    let Some(Cells::Name { names, rows }) = table.columns.iter().find(|c| c.name == "link").map(|c| &c.values) else {
        panic!("links have names")
    };
    let wanted = names.iter().position(|n| n == "bottleneck").unwrap();
    let rows = rows.iter().zip(values.iter().zip(time));
    rows.filter(|(r, (_, t))| **r as usize == wanted && **t > 100.0).map(|(_, (q, _))| *q).collect()
}

/// The share of a series' variance at frequencies within a fifth of `hz`, sampled every 20 ms.
fn share_near(x: &[f64], hz: f64) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    let (from, to) = ((0.8 * hz * n * 0.02) as u32, (1.2 * hz * n * 0.02) as u32);
    let power = |k: u32| {
        let turn = core::f64::consts::TAU * f64::from(k) / n;
        let (mut re, mut im) = (0.0, 0.0);
        for (i, v) in x.iter().enumerate() {
            let (sin, cos) = libm::sincos(turn * i as f64);
            (re, im) = (re + (v - mean) * cos, im + (v - mean) * sin);
        }
        2.0 * (re * re + im * im) / (n * n)
    };
    (from..=to).map(power).sum::<f64>() / variance
}

/// The frequency at which a series goes up through its mean [Hz].
fn ups(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.windows(2).filter(|p| p[0] < mean && p[1] >= mean).count() as f64 / (x.len() as f64 * 0.02)
}

/// One of the two scenarios of PI with `k` times the flows, the line and the reference, and gains a `k`-th of the file's:
/// the same fluid, and packets that are a `k`-th of it.
fn pi(file: &str, k: f64, set: &[(&str, &str)]) -> Scenario {
    let (a, b) = if file.contains("unstable") { (1.0932e-3, 1.0896e-3) } else { (1.822e-5, 1.816e-5) };
    let aqm = format!("{{ law = \"pi\", ecn = true, a = {}, b = {}, qref = \"{} packets\" }}", a / k, b / k, 200.0 * k);
    let (count, rate) = (format!("{}", 60.0 * k), format!("\"{} Mbit/s\"", 30.0 * k));
    let scaled = [
        ("links.bottleneck.aqm", aqm.as_str()),
        ("flows.ftp.count", count.as_str()),
        ("links.bottleneck.rate", rate.as_str()),
    ];
    scenario(file, &[&scaled, set].concat())
}

fn bottleneck(run: &Run) -> LinkSummary {
    run.summary.whole.links["bottleneck"].clone()
}

/// NewReno under PI: where the analysis calls it stable both worlds hold the queue at its reference, and what swings in
/// packets is noise; where it does not, both swing at one frequency, by as much, far below the reference.
///
/// More than half of the variance within a fifth of the fluid's frequency is asked of ten times the flows, where it is 87 %;
/// of the scenario's sixty flows it **fails** with 41 %, the rest being their noise.
#[test]
fn newreno_with_pi_agrees_on_both_sides_of_the_boundary() {
    for k in [1.0, 10.0] {
        let (stable, unstable) = (pi("newreno-pi-stable.toml", k, &[]), pi("newreno-pi-unstable.toml", k, &[]));
        for (scenario, verdict) in [(&stable, Verdict::Stable), (&unstable, Verdict::Unstable)] {
            assert_eq!(analyze(scenario, &Options::default()).unwrap().verdict, verdict);
        }
        let both = |scenario: &Scenario| (run(&Packets, scenario), run(&Fluid::default(), scenario));
        let (packets, fluid) = both(&unstable);
        let hz = ups(&queue(&fluid));
        let shares = [share_near(&queue(&packets), hz), share_near(&queue(&fluid), hz)];
        let (p, f) = (bottleneck(&packets), bottleneck(&fluid));
        let noisy = ups(&queue(&packets));
        println!("{k} x unstable, {hz:.2} Hz ({noisy:.2} in packets): {shares:.3?}");
        for l in [&p, &f] {
            println!("queue {:.1} +- {:.1}", l.queue_mean_packets, l.queue_sd_packets);
            assert!(l.queue_mean_packets < 100.0 * k, "{l:?}");
        }
        assert!((p.queue_sd_packets / f.queue_sd_packets - 1.0).abs() < 0.25);
        assert!((noisy / hz - 1.0).abs() < 0.25, "{noisy} {hz}");
        assert!(shares[1] > 0.5 && (shares[0] > 0.5 || k < 10.0), "{shares:?}");
        let (packets, fluid) = both(&stable);
        let (p, f) = (bottleneck(&packets), bottleneck(&fluid));
        let share = share_near(&queue(&packets), hz);
        println!(
            "{k} x stable: queues {:.1} +- {:.1} and {:.1}, {share:.4} near {hz:.2} Hz",
            p.queue_mean_packets, p.queue_sd_packets, f.queue_mean_packets
        );
        assert!((p.queue_mean_packets / (200.0 * k) - 1.0).abs() < 0.05);
        assert!((f.queue_mean_packets / (200.0 * k) - 1.0).abs() < 0.01 && f.queue_sd_packets < k, "{f:?}");
        assert!(share < 0.1 && shares[0] > 10.0 * share, "{shares:?} {share}");
        let marks = |run: &Run| run.summary.whole.groups["ftp"].mark_rate;
        println!("marks {:.5} and {:.5}", marks(&packets), marks(&fluid));
        assert!((marks(&packets) / marks(&fluid) - 1.0).abs() < 0.1);
    }
}

/// Why the scenarios of PI have the timeout of RFC 6298: with 200 ms packets that are only late are sent again, and windows
/// that start over need half the marks.
#[test]
fn timers_that_fire_early_take_the_place_of_marks() {
    let of = |rto: &str| {
        let packets = run(&Packets, &scenario("newreno-pi-stable.toml", &[("flows.ftp.sender.min_rto", rto)]));
        let ftp = packets.summary.whole.groups["ftp"].clone();
        println!("{rto}: {} timeouts, {} sent again, marks {:.5}", ftp.timeouts, ftp.retransmits, ftp.mark_rate);
        ftp
    };
    let (early, late) = (of("\"200 ms\""), of("\"1 s\""));
    assert!(early.timeouts > 1000 && early.retransmits > 10 * early.timeouts, "{early:?}");
    assert!(late.timeouts == 0 && late.retransmits == 0 && late.mark_rate > 1.8 * early.mark_rate, "{late:?}");
}

/// Where the queue of packets lies above the fluid's outside the boundary: halved one by one, windows spread, and a mark hits a
/// large one the likelier. With the same cuts shared among all flows the mean is the fluid's; the swing is slower than
/// either, which this does not explain.
#[test]
#[ignore = "a measurement"]
fn windows_that_stay_alike_have_the_queue_of_the_fluid() {
    let scenario = pi("newreno-pi-unstable.toml", 10.0, &[]);
    let mut shared = scenario.clone();
    shared.groups.values_mut().for_each(|g| g.cc.law = &SHARED);
    let counted = Fluid { method: Method { one_cut_a_round: true, ..Method::default() } };
    let runs =
        [run(&Fluid::default(), &scenario), run(&Packets, &scenario), run(&Packets, &shared), run(&counted, &scenario)];
    let [fluid, packets, alike, _] = runs.map(|run| {
        let l = bottleneck(&run);
        println!("{:.1} +- {:.1}, {:.2} Hz", l.queue_mean_packets, l.queue_sd_packets, ups(&queue(&run)));
        l.queue_mean_packets
    });
    assert!((alike / fluid - 1.0).abs() < 0.25 * (packets / fluid - 1.0), "{alike} {packets} {fluid}");
}

/// The options of the fluid's method, each of which changes its own part and nothing else.
#[test]
fn every_option_of_the_method_does_what_it_says() {
    let scenario = scenario("newreno-pi-stable.toml", &[("duration", "\"30 s\""), ("warmup", "\"15 s\"")]);
    let window =
        |method: Method| run(&Fluid { method }, &scenario).summary.whole.groups["ftp"].window_mean_packets.unwrap();
    let usual = window(Method::default());
    let different = [
        Method { frozen_delays: true, ..Method::default() },
        Method { clocking: Some(Clocking::Paced), ..Method::default() },
        Method { step_s: Some(0.001), ..Method::default() },
        Method { one_cut_a_round: true, ..Method::default() },
    ];
    for method in different {
        assert!(window(method.clone()) != usual, "{method:?}");
    }
    assert!((window(Method { step_s: Some(0.001), ..Method::default() }) / usual - 1.0).abs() < 0.01);
}
