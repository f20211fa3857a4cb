//! Unresponsive sources: datagrams at a rate, with its steps, its pauses, and its irregularity.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::socket::{MsgFlags, send};
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_machine::clock::Clock;
use penstock_machine::scheduling::prefer_this_thread;
use penstock_path::packet::Direction;
use penstock_scenario::model::{Packet, Scenario, Span};
use penstock_scenario::seed::Stream;

use super::plan::{FlowPlan, Source};
use super::socket;

/// Sending times of one source: the grid of the packets world, where late packets do not shift later ones.
#[derive(Debug)]
struct Pace {
    /// A packet on the wire.
    packet: Bytes,
    gap: Time,
    /// When the next packet is due.
    next: Time,
    stop: Time,
    /// Still to be sent [packets].
    left: u64,
    /// Rates to come, and from when on.
    steps: VecDeque<(Time, Rate)>,
    /// Sending and silence, when the next of them begins, and which it is now.
    on_off: Option<(Span, Span)>,
    turn: Time,
    silent: bool,
    turns: Stream,
    /// Gaps are drawn within this share of those of the rate.
    jitter: f64,
    spacings: Stream,
}

impl Pace {
    fn of(scenario: &Scenario, flow: &FlowPlan, index: usize, rates: &[(Time, Rate)]) -> Self {
        let (name, group) = scenario.groups.get_index(flow.group).expect("a flow is of a group");
        let stream = |what: &str| scenario.seed.stream(&format!("flows.{name}/{what}/{index}"));
        let Packet { wire: packet, payload, .. } = group.packet(scenario.packet);
        let mut turns = stream("on_off");
        let turn = group.on_off.map_or(Time::NEVER, |(on, _)| flow.start + on.draw(&mut turns).max(Time(1)));
        Self {
            packet,
            gap: rates.first().map_or(Time::NEVER, |(_, rate)| rate.time_for(packet)),
            next: flow.start,
            stop: flow.stop,
            left: flow.bytes.map_or(u64::MAX, |bytes| bytes.0.div_ceil(payload.0)),
            steps: rates.iter().skip(1).copied().collect(),
            on_off: group.on_off,
            turn,
            silent: false,
            turns,
            jitter: group.spacing_jitter,
            spacings: stream("spacing"),
        }
    }

    /// When the next packet is due, with all that changes before it; never if none is.
    fn due(&mut self) -> Time {
        loop {
            if self.left == 0 {
                return Time::NEVER;
            }
            let packet = if self.silent { Time::NEVER } else { self.next };
            let step = self.steps.front().map_or(Time::NEVER, |(at, _)| *at);
            // What changes at the moment of a packet changes before it.
            if step <= packet && step <= self.turn && step != Time::NEVER {
                self.step();
            } else if self.turn <= packet && self.turn != Time::NEVER && self.turn < self.stop {
                self.change_over();
            } else {
                return if packet < self.stop { packet } else { Time::NEVER };
            }
        }
    }

    /// Another gap from now on, also before the packet that is due next.
    fn step(&mut self) {
        let Some((at, rate)) = self.steps.pop_front() else { return };
        let gap = rate.time_for(self.packet);
        if at <= self.next {
            self.next = (Time(self.next.0.saturating_sub(self.gap.0)) + gap).max(at);
        }
        self.gap = gap;
    }

    /// Falls silent, or speaks again; no packet was missed in between.
    fn change_over(&mut self) {
        let Some((on, off)) = self.on_off else { return };
        let now = self.turn;
        self.silent = !self.silent;
        self.turn = now + (if self.silent { off } else { on }).draw(&mut self.turns).max(Time(1));
        self.next = self.next.max(now);
    }

    /// The packet that was due is sent.
    fn sent(&mut self) {
        self.left -= 1;
        let by =
            if self.jitter > 0.0 { self.gap.0 as f64 * self.jitter * (2.0 * self.spacings.unit() - 1.0) } else { 0.0 };
        self.next = Time((self.next + self.gap).0.saturating_add_signed(by as i64));
    }
}

/// Headers of IP and UDP.
const HEADERS: u64 = 28;
/// A caller that ends it waits for so long at most.
const LONGEST_SLEEP: Time = Time(20_000_000_000);

/// Sends on the calling thread, which is in the senders' namespace, until `stop`. Gives how far behind it was then.
pub(super) fn emit(scenario: &Scenario, flows: &[FlowPlan], clock: Clock, stop: &AtomicBool) -> io::Result<Time> {
    let mut emitters: Vec<(OwnedFd, Pace)> = Vec::new();
    let mut index = 0;
    for (number, flow) in flows.iter().enumerate() {
        index = if number > 0 && flows[number - 1].group == flow.group { index + 1 } else { 0 };
        if let Source::Datagrams(rates) = &flow.source {
            let socket = socket::datagrams(Direction::Reverse, number as u32)?;
            emitters.push((socket, Pace::of(scenario, flow, index, rates)));
        }
    }
    prctl::set_timerslack(1)?;
    // A source at a rate waits for nobody; one that waits for a processor sends in lumps.
    prefer_this_thread();
    clock.sleep_until_start();
    let content = vec![0; scenario.packet.wire.0.saturating_sub(HEADERS) as usize];
    while !stop.load(Ordering::Relaxed) {
        let due = emitters.iter_mut().enumerate().map(|(at, (_, pace))| (pace.due(), at)).min();
        let (due, at) = due.unwrap_or((Time::NEVER, 0));
        let now = clock.now();
        if due > now {
            clock.sleep_until(due.min(now + LONGEST_SLEEP));
            continue;
        }
        let (socket, pace) = &mut emitters[at];
        let content = &content[..pace.packet.0.saturating_sub(HEADERS) as usize];
        match send(socket.as_raw_fd(), content, MsgFlags::empty()) {
            // Nobody listening yet is no matter for a source without congestion control.
            Ok(_) | Err(Errno::ECONNREFUSED | Errno::EINTR | Errno::ENOBUFS) => {}
            Err(error) => return Err(error.into()),
        }
        pace.sent();
    }
    let now = clock.now();
    Ok(emitters.iter_mut().map(|(_, pace)| now.since(pace.due())).max().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use penstock_scenario::read::Document;

    use super::super::generator::Generator;
    use super::super::plan::Plan;
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// When a source of 1000 B packets sends.
    fn sent(flow: &str) -> Vec<u64> {
        let text = format!(
            r#"format = 1
            duration = "10 s"
            packet = {{ wire = "1000 B", payload = "960 B" }}
            links.l = {{ from = "a", to = "b", rate = "80 Mbit/s", delay = "5 ms", buffer = "90 packets" }}
            flows.f = {{ from = "a", to = "b", start = "0 s", {flow} }}"#
        );
        let cells = Document::parse(&text, "test.toml").and_then(|document| document.cells()).unwrap();
        let plan = Plan::of(&cells[0].scenario, Generator::Own).unwrap();
        let Source::Datagrams(rates) = &plan.flows[0].source else { panic!("{:?}", plan.flows) };
        let mut pace = Pace::of(&cells[0].scenario, &plan.flows[0], 0, rates);
        let mut times = Vec::new();
        while pace.due() < Time(10_000 * MS) {
            times.push(pace.due().0);
            pace.sent();
        }
        times
    }

    #[test]
    fn steps_count_from_their_moment() {
        let times =
            sent(r#"cc = { law = "cbr", rate = [["0 s", "1 Mbit/s"], ["20 ms", "8 Mbit/s"]] }, stop = "24 ms""#);
        assert_eq!(times, [0, 8, 16, 20, 21, 22, 23].map(|ms| ms * MS), "8 ms a packet, then 1 ms");
        let times = sent(r#"cc = { law = "cbr", rate = "8 Mbit/s" }, size = "2000 B""#);
        assert_eq!(times, [0, MS, 2 * MS], "three packets of 960 B");
    }

    /// 5 ms of sending, 7 ms of silence: five packets, then again five that keep the grid of their own time.
    #[test]
    fn silence_sends_nothing_and_catches_nothing_up() {
        let times =
            sent(r#"cc = { law = "cbr", rate = "8 Mbit/s" }, on_off = { on = "5 ms", off = "7 ms" }, stop = "24 ms""#);
        assert_eq!(times, [0, 1, 2, 3, 4, 12, 13, 14, 15, 16].map(|ms| ms * MS));
    }

    #[test]
    fn gaps_stray_by_their_share_and_keep_the_rate() {
        let times = sent(r#"cc = { law = "cbr", rate = "8 Mbit/s", spacing_jitter = 0.5 }"#);
        assert!((9950..10_050).contains(&times.len()), "{}", times.len());
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64 / MS as f64).collect();
        assert!(gaps.iter().all(|gap| (0.499..1.501).contains(gap)));
        assert!(gaps.iter().any(|gap| *gap < 0.55) && gaps.iter().any(|gap| *gap > 1.45));
    }
}
