//! The reaction of quinn's own controllers and of our laws to one lost datagram, to one mark, and to a time without data.
//!
//! A controller with a threshold crosses a line that never fills: 100 Mbit/s and 100 ms hold 833 packets, more than its window has, but
//! that of quinn's CUBIC after a pause of a minute. So the round-trip time is constant, and only losses and marks reduce the window.
//! Datagram 500 is lost and ends slow start, with a window of about 510. CUBIC with a window of 500 and 100 ms is in its own region, not in Reno's. BBR crosses a line of 20 Mbit/s and
//! 40 ms, which hold 83 packets, with a buffer that never overflows. Its window follows from the line.

use std::fmt::Write;
use std::time::Duration;

use penstock_law::Registry;
use penstock_quinn::LawConfig;

use crate::conformance::controllers;
use crate::laboratory::watch::Deed::{self, Loses, Marks};
use crate::laboratory::watch::{Plan, Watched, watch};
use crate::laboratory::{Line, Makes, makes};

/// No line here drops packets of its own.
const ENDLESS: f64 = 1e6;

fn is_bbr(name: &str) -> bool {
    name.to_lowercase().contains("bbr")
}

fn line(name: &str) -> Line {
    let line = if is_bbr(name) {
        Line::new(20e6, Duration::from_millis(40), ENDLESS)
    } else {
        Line::new(100e6, Duration::from_millis(100), ENDLESS)
    };
    Line { marks: true, ..line }
}

/// [ms]
fn round_trip(name: &str) -> u64 {
    line(name).rtt.as_millis() as u64
}

/// Packets that the line holds.
fn holds(name: &str) -> f64 {
    let line = line(name);
    line.rate_bit_per_s * line.rtt.as_secs_f64() / 8.0 / 1200.0
}

fn plan<'a>(name: &str) -> Plan<'a> {
    Plan { first: if is_bbr(name) { 0 } else { 500 }, ..Plan::default() }
}

fn factory(name: &str) -> Makes {
    controllers().into_iter().find(|(one, _)| *one == name).unwrap().1
}

/// A flow for so long that these befall \[ms\].
fn befalls(name: &str, deeds: &[(u64, Deed)], lasts: u64) -> Watched {
    watch(line(name), factory(name), Plan { deeds, lasts, ..plan(name) })
}

/// What a window does after a time at which something befalls a datagram.
#[derive(Debug, Clone, Copy)]
struct Fall {
    /// The window before it falls [packets].
    before: f64,
    /// The least window of the next two round trips, over that before.
    ratio: f64,
    /// When the window has this share of the one before again, after the fall [s].
    back_s: f64,
}

fn fall(name: &str, flow: &Watched, from: u64, share: f64) -> Fall {
    let from = from as usize;
    let next = &flow.windows[from..=from + 3 * round_trip(name) as usize];
    let at = (0..next.len()).min_by(|a, b| next[*a].total_cmp(&next[*b])).unwrap();
    let before = next[..=at].iter().copied().fold(0.0, f64::max);
    let back = flow.windows[from + at..].iter().position(|window| *window >= share * before);
    Fall { before, ratio: next[at] / before, back_s: back.map_or(f64::INFINITY, |ms| ms as f64 / 1e3) }
}

/// Bytes that came from one time to another \[ms\].
fn came(flow: &Watched, from: u64, to: u64) -> f64 {
    (flow.taken[to as usize] - flow.taken[from as usize]) as f64
}

/// When something befalls a datagram \[ms\]: CUBIC is then beyond W_max.
const LATE: u64 = 10_000;
/// The same with CUBIC below W_max.
const EARLY: u64 = 4_000;

/// The share of the old window to come back to. Near W_max the curve is flat, and a packet more or less is a second.
const BACK: f64 = 0.95;

/// RFC 9002, section 7.3.2, halves the window, and RFC 9438, section 4.6, leaves 0.7 of it. An echo is as a loss (RFC 9002, section
/// 7.1). At most one reduction a round trip: two losses half a round trip apart reduce once, as does an echo beside a loss. Two losses
/// three round trips apart reduce twice.
///
/// The window then has 95 % of the one before again: of Reno after as many round trips as packets are missing, of CUBIC by W_cubic(t)
/// (RFC 9438, section 4.2).
#[test]
#[ignore = "takes minutes; make nightly runs it"]
fn a_loss_and_a_mark_reduce_windows() {
    for (name, beta) in [("quinn's NewReno", 0.5), ("newreno", 0.5), ("quinn's CUBIC", 0.7), ("cubic", 0.7)] {
        let rtt = round_trip(name);
        let back_ms = if beta == 0.5 { 17_500 } else { 5_000 };
        let one = befalls(name, &[(LATE, Loses)], LATE + back_ms);
        let lost = fall(name, &one, LATE, BACK);
        let of = |deeds: &[(u64, Deed)]| fall(name, &befalls(name, deeds, LATE + 1_000), LATE, BACK);
        let marked = of(&[(LATE, Marks)]);
        let twice = of(&[(LATE, Loses), (LATE + rtt / 2, Loses)]);
        let both = of(&[(LATE, Loses), (LATE + rtt / 2, Marks)]);
        let apart = befalls(name, &[(LATE, Loses), (LATE + 3 * rtt, Loses)], LATE + 1_000);
        let apart = fall(name, &apart, LATE + 3 * rtt, BACK).ratio * lost.ratio;
        println!(
            "| {name} | {:.1} | {:.3} | {:.2} s | {:.3} | {:.3} | {:.3} | {apart:.3} |",
            lost.before, lost.ratio, lost.back_s, marked.ratio, twice.ratio, both.ratio
        );
        // A datagram of 500 is one in the last place.
        for (ratio, wanted) in
            [(lost.ratio, beta), (marked.ratio, beta), (twice.ratio, beta), (both.ratio, beta), (apart, beta * beta)]
        {
            assert!((ratio / wanted - 1.0).abs() < 0.01, "{name}: {ratio} for {wanted}");
        }
        let rtt_s = rtt as f64 / 1e3;
        let climb_s = if beta == 0.5 {
            (BACK - beta) * lost.before * rtt_s
        } else {
            let [below, above] = [1.0 - beta, 1.0 - BACK].map(|share| libm::cbrt(share * lost.before / 0.4));
            below - above
        };
        // Recovery takes a round trip, and half of it passes before the first packet leaves. NewReno counts whole windows. CUBIC has its
        // target a round trip ahead.
        let late_s = lost.back_s - climb_s;
        let slack = if beta == 0.5 { 0.0..=4.0 * rtt_s } else { -2.0 * rtt_s..=2.0 * rtt_s };
        assert!(slack.contains(&late_s), "{name}: {lost:?}, by the document {climb_s} s");
    }
}

/// A loss below W_max: fast convergence (RFC 9438, section 4.7) sets W_max to (1 + beta)/2 of the window. Then K = cbrt((W_max -
/// cwnd_epoch) / C), by figure 2. K of RFC 8312 is cbrt(0.3 W_max / C): there the curve begins below the window, which so waits for it.
#[test]
fn fast_convergence_of_quinn_waits_for_its_curve() {
    let back_s = |name: &str| {
        let flow = befalls(name, &[(EARLY, Loses)], EARLY + 13_500);
        let fall = fall(name, &flow, EARLY, 1.0);
        println!("{name}, a loss below W_max: {fall:?}");
        (fall.before, fall.back_s)
    };
    let ((before, ours), (_, quinns)) = (back_s("cubic"), back_s("quinn's CUBIC"));
    let (origin, epoch) = (0.85 * before, 0.7 * before);
    let beyond_s = libm::cbrt((before - origin) / 0.4);
    let [k, k_of_8312] = [origin - epoch, 0.3 * origin].map(|depth| libm::cbrt(depth / 0.4));
    println!("by figure 2: {:.2} s, by RFC 8312: {:.2} s", k + beyond_s, k_of_8312 + beyond_s);
    assert!((ours - k - beyond_s).abs() < 0.2, "{ours}");
    assert!((quinns - k_of_8312 - beyond_s).abs() < 0.2, "{quinns}");
    assert!(k_of_8312 - k > 0.8, "the two must differ by more than the tolerance");
}

/// In Reno's region quinn's CUBIC is ours with `friendly_catches_up = false` and `hystart = false`: W_est goes on to grow by 9/17 packets
/// a round trip beyond cwnd_prior, where RFC 9438, section 4.3, has one packet. After a loss at 70 packets and six seconds of 40 ms,
/// that is 49 + 150 * 9/17 = 128 for 70 + 110 = 180. A packet and the round trip of recovery are 2 %.
#[test]
fn the_switches_of_cubic_make_w_est_that_of_quinn() {
    let ours = |set: &[(&str, f64)]| {
        let law = LawConfig::new(&Registry::standard(), "cubic").unwrap();
        makes(set.iter().fold(law, |law, (key, value)| law.set(key, *value).unwrap()).build().unwrap())
    };
    let [quinns, with, without] =
        [factory("quinn's CUBIC"), ours(&[("friendly_catches_up", 0.0), ("hystart", 0.0)]), ours(&[("hystart", 0.0)])]
            .map(|flow| {
                let line = Line::new(100e6, Duration::from_millis(40), ENDLESS);
                let flow = watch(line, flow, Plan { first: 60, lasts: 7_000, ..Plan::default() });
                let reduced =
                    (1..flow.windows.len()).find(|ms| flow.windows[*ms] < 0.8 * flow.windows[ms - 1]).unwrap();
                flow.windows[reduced + 6_000]
            });
    println!("after six seconds: quinn's CUBIC {quinns:.1}, cubic with the switches {with:.1}, without {without:.1}");
    assert!((with / quinns - 1.0).abs() < 0.03, "{with}, {quinns}");
    assert!(without / quinns > 1.3, "{without}, {quinns}");
}

/// BBR of version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.4) keeps in flight what is there for the round trip
/// of recovery, and then has its window again. Its rate stays. Version 3 (draft-ietf-ccwg-bbr) reduces its long-term bound only where
/// more than 2 % of a round trip are lost; one packet of 83 is less. Outside of probing the short-term bounds come down to what the last
/// round trip delivered. On a full line that is the line's rate. So a loss leaves the rate, and no long-term bound.
///
/// The drafts have no response to an echo. RFC 9002, section 7.1, has one: that to a loss.
#[test]
fn a_loss_and_a_mark_leave_the_rate_of_bbr() {
    for name in ["quinn's BBR", "bbr", "bbr3"] {
        let rtt = round_trip(name);
        let at = 6_000;
        let [none, lost, marked] =
            [&[][..], &[(at, Loses)], &[(at, Marks)]].map(|deeds| befalls(name, deeds, at + 2_000));
        let (mut row, mut ratios) = (String::new(), Vec::new());
        for flow in [&lost, &marked] {
            let recovery = at as usize..(at + 3 * rtt) as usize;
            let ratio = recovery.clone().map(|ms| flow.windows[ms] / none.windows[ms]).fold(f64::INFINITY, f64::min);
            let least = flow.windows[recovery].iter().copied().fold(f64::INFINITY, f64::min);
            // Three cycles of eight round trips: a loss may change when the next phase begins.
            let mean =
                |flow: &Watched| flow.windows[(at + 5 * rtt) as usize..][..24 * rtt as usize].iter().sum::<f64>();
            let after = mean(flow) / mean(&none);
            let rate = came(flow, at, at + 1_000) / came(&none, at, at + 1_000);
            write!(row, " {least:.1} | {ratio:.4} | {after:.3} | {rate:.3} |").unwrap();
            ratios.push((least, ratio, after, rate));
        }
        println!("| {name} | {:.1} |{row}", none.windows[at as usize]);
        assert_eq!((lost.events, marked.events), (none.events + 1, none.events + 1), "{name}");
        let long_term = |flow: &Watched| flow.number("inflight_longterm");
        assert_eq!((long_term(&lost), long_term(&marked)), (long_term(&none), long_term(&none)), "{name}");
        // In recovery what is in flight stays so, which on a full line is at least what the line holds.
        for (least, _, after, rate) in &ratios {
            assert!(*least > 0.95 * holds(name), "{name}: {ratios:?}");
            assert!((after - 1.0).abs() < 0.03 && (rate - 1.0).abs() < 0.03, "{name}: {ratios:?}");
        }
        let ([loss, mark], said) = ([ratios[0].1, ratios[1].1], format!("{name}: {ratios:?}"));
        match name {
            // A deviation: for a mark nothing happens.
            "quinn's BBR" => assert!(loss < 0.999 && mark > 0.9999, "{said}"),
            _ => assert!(loss < 0.999 && mark < 0.999, "{said}"),
        }
    }
}

/// Bytes before the pause: about ten seconds of data over the line of 100 ms, and 3.4 over that of 40 ms, so that BBR is in ProbeBW.
fn data(name: &str) -> u64 {
    if is_bbr(name) { 8_000_000 } else { 36_000_000 }
}

/// What a flow does once it has data again.
#[derive(Debug, Clone, Copy)]
struct Restart {
    /// The window as the data came [packets].
    window: f64,
    /// The rate that the controller wants then, over that of the line.
    rate: Option<f64>,
    /// Datagrams that left at once.
    burst: usize,
    /// Datagrams that left in the first round trip without queue.
    first: usize,
    /// The window after ten round trips [packets].
    after_ten: f64,
    /// The least window until then [packets].
    least: f64,
}

fn restart(name: &str, pause_ms: u64) -> Restart {
    let lasts = 12 * round_trip(name);
    let flow = watch(line(name), factory(name), Plan { pause: Some((data(name), pause_ms)), lasts, ..plan(name) });
    let again = flow.again.unwrap() as usize;
    let from_s = again as f64 / 1e3;
    let within = |s: f64| flow.left.iter().filter(|left| (from_s..from_s + s).contains(&left.at_s)).count();
    let ten = again + 10 * round_trip(name) as usize;
    let restart = Restart {
        // The first packets have left, and nothing has come back.
        window: flow.windows[again + 1],
        rate: flow.rates[again + 1].map(|rate| rate as f64 / line(name).rate_bit_per_s),
        burst: within(1e-6),
        first: within(line(name).rtt.as_secs_f64()),
        after_ten: flow.windows[ten],
        least: flow.windows[again + 1..=ten].iter().copied().fold(f64::INFINITY, f64::min),
    };
    println!(
        "| {name} | {} s | {:.1} | {} | {} | {} | {:.1} | {:.1} |",
        pause_ms / 1000,
        restart.window,
        restart.rate.map_or_else(String::new, |rate| format!("{rate:.2}")),
        restart.burst,
        restart.first,
        restart.least,
        restart.after_ten
    );
    restart
}

/// RFC 9002 lets a window stay as it is that is not used, and not grow (section 7.8). Bursts have at most an initial window, here ten
/// datagrams, and the rest is paced (section 7.7): at 1.25 windows a round trip the whole window leaves in the first one. quinn's pacer
/// sends what was left of its bucket before the pause, and then a full bucket: up to twenty. NewReno then
/// has a packet more each round trip. In RFC 9438, section 5.8, CUBIC's clock stands still meanwhile, so its window grows as if there had
/// been no pause.
#[test]
#[ignore = "takes minutes; make nightly runs it"]
fn idleness_leaves_windows() {
    for name in ["quinn's NewReno", "newreno", "quinn's CUBIC", "cubic"] {
        let [short, long] = [1_000, 60_000].map(|pause| restart(name, pause));
        for restart in [short, long] {
            assert!((10..=20).contains(&restart.burst), "{name}: {restart:?}");
            assert!((restart.first as f64 - restart.window).abs() <= 2.0, "{name}: {restart:?}");
            assert!(restart.least >= restart.window, "{name}: {restart:?}");
        }
        assert!((short.window - long.window).abs() < 1.0, "{name}: {short:?}, {long:?}");
        let [by_short, by_long] = [short, long].map(|restart| restart.after_ten - restart.window);
        match name {
            "quinn's NewReno" | "newreno" => {
                assert!((8.0..=10.5).contains(&by_short) && (8.0..=10.5).contains(&by_long), "{short:?}, {long:?}");
            }
            "cubic" => assert!((by_short - by_long).abs() < 0.5, "{short:?}, {long:?}"),
            // A deviation: the pause counts as time.
            _ => assert!(by_long > 10.0 * long.window && by_short < 3.0, "{short:?}, {long:?}"),
        }
    }
}

/// BBR wants its bandwidth as the rate when it has data again (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.4.4;
/// draft-ietf-ccwg-bbr, "Restarting From Idle"). No ProbeRTT begins by a pause, though the smallest round trip is old: the queue was
/// empty. ProbeRTT leaves four packets or half of what the line holds, and no phase of ProbeBW less than three quarters.
///
/// quinn spaces packets at 1.25 windows in a smoothed round-trip time, which is older than the pause. Of every BBR the first round trip
/// so has up to 1.25 times what the line holds, and the burst.
#[test]
fn idleness_leaves_the_rate_of_bbr() {
    for name in ["quinn's BBR", "bbr", "bbr3"] {
        let [short, long] = [1_000, 60_000].map(|pause| restart(name, pause));
        let said = format!("{name}: {short:?}, {long:?}");
        for restart in [short, long] {
            let most = 1.25 * holds(name) + restart.burst as f64;
            assert!((0.9 * holds(name)..=most).contains(&(restart.first as f64)), "{said}");
            assert!((10..=20).contains(&restart.burst), "{said}");
        }
        match name {
            "bbr" | "bbr3" => {
                for restart in [short, long] {
                    assert!(restart.rate.is_some_and(|rate| (0.95..=1.02).contains(&rate)), "{said}");
                    assert!(restart.least > 0.6 * holds(name), "{said}");
                }
            }
            // Deviations: the window is twice what the line holds, and ProbeRTT begins.
            _ => {
                assert!(short.window > 1.9 * holds(name) && long.window > 1.9 * holds(name), "{said}");
                assert!(short.least >= short.window && long.least < 0.8 * holds(name), "{said}");
            }
        }
    }
}
