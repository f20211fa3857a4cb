//! The cost of size: run by hand, in release,
//! `cargo test --release -p penstock-fluid --test suite large -- --ignored --nocapture`.

use crate::scenarios::{aqm, cc, dumbbell, fig8, group};
use penstock_fluid::{Fluid, Options, Part, analyze};
use penstock_law::quantity::{Rate, Time};
use penstock_scenario::model::{Group, Rtt, Scenario, Start};
use penstock_scenario::world::{RunError, World};

/// The most memory this process has held [MB], where the system says so.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

/// Processor time of this process [s]: its 14th and 15th numbers, in hundredths of a second.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    after.split_whitespace().skip(11).take(2).filter_map(|x| x.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// A sequence that looks random and is always the same (Knuth's MMIX generator, its upper bits).
fn draws() -> impl FnMut(u64) -> usize {
    let mut state = 1_u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below) as usize
    }
}

/// `classes` classes of one lead-lag flow each, over one to three of `links` links, chosen at random.
fn network(classes: usize, links: usize, law: &str, queue: &str) -> Scenario {
    let mut draw = draws();
    let mut scenario = dumbbell(1e9, 1000, &aqm(queue, &[]), Vec::new());
    let link = scenario.links["bottleneck"].clone();
    scenario.links.clear();
    // A class crosses two links on average; a thousand packets a second for each is a price of 50 ms a link.
    let rate = Rate((2.0 * classes as f64 / links as f64 * 1000.0 * 8000.0) as u64);
    for l in 0..links {
        scenario.links.insert(format!("l{l}"), penstock_scenario::model::Link { rate, ..link.clone() });
    }
    let one = group(1, 0.1, cc(law, &[]));
    for c in 0..classes {
        let (first, hops) = (draw(links as u64), 1 + draw(3));
        let forward = (0..hops).map(|k| format!("l{}", (first + 1 + k * 7) % links)).collect();
        let rtt = Rtt::Each(Time::from_seconds(0.1 + 0.001 * draw(200) as f64));
        scenario.groups.insert(format!("c{c}"), Group { forward, backward: Vec::new(), rtt, ..one.clone() });
    }
    scenario
}

fn timed(name: &str, scenario: &Scenario, cells: f64) -> f64 {
    let begun = cpu_s();
    let mut told = 0.0;
    let mut watcher = |share: f64| {
        if share >= told + 0.05 {
            told = share;
            println!(
                "{name}: {:.0} % after {:.0} CPU s, peak {:.0} MB",
                100.0 * share,
                cpu_s() - begun,
                peak_mb().unwrap_or(f64::NAN)
            );
        }
        true
    };
    let run = Fluid::default().run(scenario, &mut watcher).unwrap();
    let seconds = cpu_s() - begun;
    println!(
        "{name}: {seconds:.2} CPU s, {:.0} ns a class and step, peak {:.0} MB, {} events",
        seconds / cells * 1e9,
        peak_mb().unwrap_or(f64::NAN),
        run.summary.engine.events
    );
    seconds
}

/// A small one of the same kind, in every run of the tests: all links come to their load, whoever crosses them.
#[test]
fn a_sparse_network_fills_every_link() {
    let mut scenario = network(300, 10, "leadlag", "price");
    scenario.duration = Time::from_seconds(40.0);
    scenario.warmup = Time::from_seconds(30.0);
    scenario.sample = Time::from_seconds(10.0);
    let run = Fluid::default().run(&scenario, &mut |_| true).unwrap();
    for (name, link) in &run.summary.whole.links {
        assert!((link.utilization - 0.95).abs() < 0.02, "{name}: {link:?}");
    }
}

/// 100 s of Fig. 8 of fast-aqm: under a second of processor time, whether the flows of a group start at once or over a
/// second, each round trip being eight streams then.
#[test]
#[ignore = "a measurement; run in release"]
fn a_hundred_seconds_of_fig_8() {
    let mut scenario = fig8(&cc("leadlag", &[]), &aqm("price", &[]));
    scenario.duration = Time::from_seconds(200.0);
    let together = timed("200 s of Fig. 8", &scenario, 5.0 * 1e5);
    for group in scenario.groups.values_mut() {
        let Start::At(start) = group.start else { continue };
        group.start = Start::Uniform(start, Time(start.0 + Time::from_seconds(1.0).0));
    }
    let spread = timed("200 s of Fig. 8, starts over a second", &scenario, 40.0 * 1e5);
    assert!(together < 2.0 && spread < 2.0, "{together} {spread}");
}

/// 512 round trips from 50 to 150 ms: FAST both ways of one line, 256 each, which are taken together eight by eight as one
/// group's are; and NewReno over RED one way, in groups of 32 that are not. Under five seconds of processor time each.
#[test]
#[ignore = "a measurement; run in release"]
fn the_analysis_of_512_round_trips() {
    let trip = |k: u32| Time::from_seconds(0.05 + 0.1 * f64::from(k) / 512.0);
    let fast = group(256, 0.1, cc("fast", &[("alpha", 50.0)]));
    let way = |first: u32, link: &str| Group {
        rtt: Rtt::List((0..256).map(|i| trip(2 * i + first)).collect()),
        forward: vec![link.into()],
        ..fast.clone()
    };
    let both = vec![way(0, "bottleneck"), way(1, "bottleneck/back")];
    let newreno = group(32, 0.1, cc("newreno", &[("ecn", 1.0)]));
    let trips = |g: u32| Rtt::List((0..32).map(|i| trip(16 * i + g)).collect());
    let one = (0..16).map(|g| Group { rtt: trips(g), ..newreno.clone() }).collect();
    for (name, queue, groups, classes) in [
        ("FAST both ways", aqm("droptail", &[]), both, 64),
        ("NewReno over RED", aqm("red", &[("ecn", 1.0)]), one, 512),
    ] {
        let begun = cpu_s();
        let found = analyze(&dumbbell(2e9, 1000, &queue, groups), &Options::default()).unwrap();
        let seconds = cpu_s() - begun;
        println!("{name}: {} classes, {:?}, {seconds:.2} CPU s", found.classes.len(), found.verdict);
        assert_eq!(found.classes.len(), classes, "{name}");
        assert!(seconds < 5.0, "{name}: {seconds}");
    }
}

/// A step is a twentieth of the shortest round trip, 100 ms.
fn classes(classes: usize, links: usize, steps: f64) {
    let mut scenario = network(classes, links, "leadlag", "price");
    scenario.duration = Time::from_seconds(steps * 0.005);
    scenario.sample = scenario.duration;
    timed(&format!("{classes} classes, {links} links, {steps} steps"), &scenario, classes as f64 * steps);
}

/// 100,000 classes, 1,000 links, 10,000 steps.
#[test]
#[ignore = "ten minutes; run in release"]
fn a_hundred_thousand_classes() {
    classes(100_000, 1000, 10_000.0);
}

/// A tenth of each.
#[test]
#[ignore = "a measurement; run in release"]
fn a_tenth_of_it_all() {
    classes(10_000, 100, 1000.0);
}

/// A network of which each half has work for a thread, with flows that take marks, flows that end on them, and flows that do not.
fn for_threads() -> Scenario {
    let mut scenario = network(6000, 20, "leadlag", "price");
    for (at, group) in scenario.groups.values_mut().enumerate() {
        match at % 4 {
            0 => group.cc = cc("newreno", &[]),
            1 => group.cc = cc("fast", &[("alpha", 20.0)]),
            _ => {}
        }
    }
    for link in scenario.links.values_mut() {
        link.delay = Time::from_seconds(0.01);
        // Overloaded by far, so that prices rise at once.
        link.rate = Rate(link.rate.0 / 100);
    }
    scenario.duration = Time::from_seconds(0.3);
    scenario.warmup = Time::ZERO;
    scenario.sample = scenario.duration;
    scenario
}

/// Senders in parts come to the bits of senders in one, on threads or the last part first. Six thousand of them have work for as many
/// threads as there are parts.
#[test]
fn senders_in_parts_come_to_the_same_bits() {
    let scenario = for_threads();
    let whole = Fluid::default().run(&scenario, &mut |_| true).unwrap();
    assert!(whole.summary.whole.links.values().all(|link| link.marks > 0 && link.drops > 0));
    let whole = format!("{whole:?}");
    for (parts, threads) in [(2, false), (2, true), (5, true)] {
        let mut calls = [0; 2];
        let mut crew = |parts: &mut [Part<'_>]| {
            calls[0] += 1;
            calls[1] = calls[1].max(parts.len());
            if threads {
                std::thread::scope(|scope| parts.iter_mut().for_each(|part| _ = scope.spawn(|| part.advance())));
            } else {
                parts.iter_mut().rev().for_each(Part::advance);
            }
        };
        let divided = Fluid::default().run_in_parts(&scenario, &mut |_| true, parts, &mut crew).unwrap();
        // Steps of senders in blocks, and of arrivals behind the first links in shorter ones.
        assert!(calls[0] > 12, "{calls:?}");
        assert_eq!(calls[1], parts);
        assert!(whole == format!("{divided:?}"), "{parts}, {threads}");
    }
}

#[test]
fn a_run_in_parts_can_be_stopped() {
    let mut crew = |parts: &mut [Part<'_>]| parts.iter_mut().for_each(Part::advance);
    let stopped = Fluid::default().run_in_parts(&for_threads(), &mut |_| false, 3, &mut crew);
    assert!(matches!(stopped, Err(RunError::Stopped)), "{stopped:?}");
}
