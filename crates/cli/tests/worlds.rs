//! Fluid against packets: Fig. 8 of fast-aqm in its stages, and PI on both sides of its boundary. The long ones run by
//! hand, in release: `cargo test --release -p penstock-cli --test worlds -- --ignored --nocapture`.
#![allow(unreachable_pub, missing_docs)]

use penstock_fluid::{Clocking, Fluid, Method, Options, Verdict, analyze};
use penstock_law::cc::{Allowance, CONTROLLERS, Event, Needs, Path, Sender, Site};
use penstock_law::law::{Linearises, find};
use penstock_law::{Entry, Instances, Values};
use penstock_packets::Packets;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::summary::Measured;
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

/// The lead-lag protocol without a limit to what is in flight: four windows. Its pace alone times its packets.
static PACED: Entry<Sender> = Entry {
    name: "leadlag-paced",
    title: "the lead-lag protocol, paced only",
    source: "a test",
    colour: "#000000",
    parameters: &[],
    linearises: Linearises::ByItself,
    real: paced,
    dual: None,
    fixed: None,
};

struct Paced(Box<dyn Instances<f64, Sender>>);

fn paced(values: &Values, site: &Site) -> Result<Box<dyn Instances<f64, Sender>>, String> {
    let entry = find(CONTROLLERS, "leadlag").unwrap();
    Ok(Box::new(Paced((entry.real)(values, site)?)))
}

fn widened(said: Allowance<f64>) -> Allowance<f64> {
    Allowance { window: 4.0 * said.window, ..said }
}

impl Instances<f64, Sender> for Paced {
    fn add(&mut self) -> usize {
        self.0.add()
    }
    fn restart(&mut self, at: usize) {
        self.0.restart(at);
    }
    fn on(&mut self, at: usize, event: Event, seen: &Path<f64>) -> Allowance<f64> {
        widened(self.0.on(at, event, seen))
    }
    fn says(&self, at: usize, seen: &Path<f64>) -> Allowance<f64> {
        widened(self.0.says(at, seen))
    }
    fn says_on_average(&self, at: usize, seen: &Path<f64>) -> Allowance<f64> {
        widened(self.0.says_on_average(at, seen))
    }
    fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.0.names()
    }
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut f64)) {
        self.0.each(at, f);
    }
    fn needs(&self) -> Needs {
        self.0.needs()
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
        assert!(rate < rate_bound && price.abs() < price_bound, "{name}: {rate} {price}");
    }
}

/// The window-limited host that is the default: rates within 4 %, the price within 10 %.
#[test]
#[ignore = "tens of millions of packets; run in release"]
fn fig_8_in_packets_is_the_fluid() {
    stages(&scenario("fast-aqm-fig8.toml", &[("defaults.flows.cc.taubar", "\"500 ms\"")]), 0.04, 0.10);
}

/// Paced only, as the equations have it: both within 3 %.
#[test]
#[ignore = "tens of millions of packets; run in release"]
fn fig_8_paced_only_is_the_fluid() {
    let mut scenario = scenario("fast-aqm-fig8.toml", &[("defaults.flows.cc.taubar", "\"500 ms\"")]);
    for group in scenario.groups.values_mut() {
        group.cc.law = &PACED;
    }
    stages(&scenario, 0.03, 0.03);
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

/// NewReno under PI: where the analysis calls it stable both worlds hold the queue at its reference, and what swings in
/// packets is noise; where it does not, both swing at one frequency, by as much, far below the reference.
#[test]
fn newreno_with_pi_agrees_on_both_sides_of_the_boundary() {
    let stable = scenario("newreno-pi-stable.toml", &[]);
    let unstable = scenario("newreno-pi-unstable.toml", &[]);
    for (scenario, verdict) in [(&stable, Verdict::Stable), (&unstable, Verdict::Unstable)] {
        assert_eq!(analyze(scenario, &Options::default()).unwrap().verdict, verdict);
    }
    let both = |scenario: &Scenario| (run(&Packets, scenario), run(&Fluid::default(), scenario));
    let link = |run: &Run| run.summary.whole.links["bottleneck"].clone();
    let (packets, fluid) = both(&unstable);
    let hz = ups(&queue(&fluid));
    let shares = [share_near(&queue(&packets), hz), share_near(&queue(&fluid), hz)];
    let (p, f) = (link(&packets), link(&fluid));
    let noisy = ups(&queue(&packets));
    println!("unstable, {hz:.2} Hz ({noisy:.2} in packets): {shares:?}");
    for l in [&p, &f] {
        println!("queue {:.1} +- {:.1}", l.queue_mean_packets, l.queue_sd_packets);
        assert!(l.queue_mean_packets < 100.0, "{l:?}");
    }
    assert!((p.queue_sd_packets / f.queue_sd_packets - 1.0).abs() < 0.25);
    assert!((noisy / hz - 1.0).abs() < 0.25, "{noisy} {hz}");
    let (packets, fluid) = both(&stable);
    let (p, f) = (link(&packets), link(&fluid));
    let share = share_near(&queue(&packets), hz);
    println!("stable: queues {:.1} and {:.1}, {share:.4} near {hz:.2} Hz", p.queue_mean_packets, f.queue_mean_packets);
    assert!((p.queue_mean_packets / 200.0 - 1.0).abs() < 0.05 && (f.queue_mean_packets / 200.0 - 1.0).abs() < 0.01);
    // Packets are noisy on either side; the swing's frequency has the more of it where there is a swing.
    assert!(f.queue_sd_packets < 1.0 && shares[0] > share, "{f:?} {shares:?} {share}");
}

/// The options of the fluid's method, each of which changes what it is told to and nothing else.
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
    ];
    for method in different {
        assert!(window(method.clone()) != usual, "{method:?}");
    }
    assert!((window(Method { step_s: Some(0.001), ..Method::default() }) / usual - 1.0).abs() < 0.01);
}
