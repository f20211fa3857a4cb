//! BBR once more, from the text of draft-ietf-ccwg-bbr and in datagrams: Startup, Drain, and ProbeBW up to its first probe.
//!
//! Names and order are the draft's: section 5.2.3 for the work on an acknowledgement.

use std::collections::BTreeMap;

use super::driver::Stack;
use super::sequences::{DATAGRAM, INITIAL};

const SIZE: f64 = DATAGRAM as f64;
const WINDOW: f64 = (INITIAL / DATAGRAM) as f64;
/// RFC 9002, section 7.2.
const LEAST: f64 = 2.0;
/// BBRMinPipeCwnd.
const MIN_PIPE: f64 = 4.0;
const LOSS_THRESHOLD: f64 = 0.02;

#[derive(PartialEq, Clone, Copy)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
}

/// What a packet carries from its transmission (section 4.1.2.2).
struct Packet {
    number: u64,
    delivered: f64,
    delivered_time: f64,
    first_sent: f64,
    sent: f64,
    in_flight: f64,
    lost: f64,
}

pub(crate) struct BbrDraft {
    packets: BTreeMap<u64, Packet>,
    sent: u64,
    delivered: f64,
    delivered_time: f64,
    first_sent: f64,
    lost: f64,
    in_flight: f64,
    cwnd: f64,
    pacing: f64,
    mode: Mode,
    full: bool,
    full_bw: f64,
    full_count: u32,
    /// The largest sample of each cycle.
    max_bw: BTreeMap<u64, f64>,
    cycle: u64,
    min_rtt: Option<f64>,
    bw: f64,
    next_round: f64,
    rounds: u64,
    drain_round: u64,
    stopping: bool,
    /// Of round trips, the most that acknowledgements brought beyond the bandwidth.
    extra: BTreeMap<u64, f64>,
    extra_time: f64,
    extra_delivered: f64,
    bw_latest: f64,
    inflight_latest: f64,
    bw_short: f64,
    inflight_short: f64,
    inflight_long: f64,
    loss_round: f64,
    loss_in_round: bool,
    ranges: u32,
    last_lost: Option<u64>,
    recovery_us: Option<u64>,
    /// `delivered` when fast recovery began.
    recovery: Option<f64>,
    prior: f64,
    /// RFC 9002, section 7.6.2.
    limit: f64,
    /// Slips, to see that a file would notice them: a loss is ignored, or ends Startup.
    slip: Slip,
}

/// What a stack may get wrong about losses in Startup.
#[derive(PartialEq, Clone, Copy)]
pub(crate) enum Slip {
    None,
    LossesIgnored,
    FirstLossEnds,
}

impl BbrDraft {
    pub(crate) fn new(slip: Slip) -> Self {
        Self {
            packets: BTreeMap::new(),
            sent: 0,
            delivered: 0.0,
            delivered_time: 0.0,
            first_sent: 0.0,
            lost: 0.0,
            in_flight: 0.0,
            cwnd: WINDOW,
            // InitPacingRate: a round trip of 1 ms without a sample.
            pacing: 2.77 * WINDOW / 1e-3,
            mode: Mode::Startup,
            full: false,
            full_bw: 0.0,
            full_count: 0,
            max_bw: BTreeMap::new(),
            cycle: 0,
            min_rtt: None,
            bw: 0.0,
            next_round: 0.0,
            rounds: 0,
            drain_round: 0,
            stopping: false,
            extra: BTreeMap::new(),
            extra_time: 0.0,
            extra_delivered: 0.0,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            bw_short: f64::INFINITY,
            inflight_short: f64::INFINITY,
            inflight_long: f64::INFINITY,
            loss_round: 0.0,
            loss_in_round: false,
            ranges: 0,
            last_lost: None,
            recovery_us: None,
            recovery: None,
            prior: 0.0,
            limit: f64::INFINITY,
            slip,
        }
    }

    /// QuantizationBudget, with the offload budget of QUIC: one send quantum (section 5.5.8.2).
    fn budget(&self, inflight: f64) -> f64 {
        let quantum = (self.pacing * 1e-3).min(65_536.0 / SIZE).floor().max(2.0);
        inflight.max(quantum).max(MIN_PIPE)
    }

    fn bdp(&self, bw: f64) -> f64 {
        self.min_rtt.map_or(WINDOW, |rtt| bw * rtt)
    }

    /// Section 5.3.1.3, and 5.3.1.2 with the first sample of a round.
    fn check_startup(&mut self, packet: &Packet, loss_round_over: bool) {
        if loss_round_over {
            let long = self.recovery.is_some_and(|from| packet.delivered >= from);
            let high = self.lost - packet.lost > LOSS_THRESHOLD * packet.in_flight;
            if self.mode == Mode::Startup && !self.full && long && self.ranges >= 6 && high {
                self.full = true;
                self.inflight_long = self.bdp(self.bw).max(self.inflight_latest);
            }
            (self.ranges, self.last_lost) = (0, None);
        }
        if self.mode == Mode::Startup && self.full {
            (self.mode, self.drain_round) = (Mode::Drain, self.rounds);
        }
    }

    /// Section 5.3.3, up to the first probe.
    fn cycle_phase(&mut self, packet: &Packet, max_bw: f64, round_start: bool) {
        if !self.full {
            return;
        }
        if self.stopping && round_start {
            self.stopping = false;
            self.cycle += 1;
        }
        if self.lost - packet.lost <= LOSS_THRESHOLD * packet.in_flight && self.inflight_long.is_finite() {
            self.inflight_long = self.inflight_long.max(packet.in_flight);
        }
        if self.mode == Mode::Down && self.in_flight <= self.budget(self.bdp(max_bw)).min(self.with_headroom()) {
            self.mode = Mode::Cruise;
        }
    }

    fn with_headroom(&self) -> f64 {
        let headroom = (0.15 * self.inflight_long).max(1.0);
        if self.inflight_long.is_finite() { (self.inflight_long - headroom).max(MIN_PIPE) } else { f64::INFINITY }
    }

    /// Section 5.6.
    fn control(&mut self) {
        let gain = match self.mode {
            Mode::Startup => 2.77,
            Mode::Drain => 0.5,
            Mode::Down => 0.9,
            Mode::Cruise => 1.0,
        };
        let rate = gain * self.bw * 0.99;
        if self.full || rate > self.pacing {
            self.pacing = rate;
        }
        let extra = self.extra.values().fold(0.0, |most: f64, each| most.max(*each));
        let most = self.budget(2.0 * self.bdp(self.bw) + extra);
        if self.full {
            self.cwnd = (self.cwnd + 1.0).min(most);
        } else if self.cwnd < most || self.delivered < WINDOW {
            self.cwnd += 1.0;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE);
        let bound = match self.mode {
            Mode::Down => self.inflight_long,
            Mode::Cruise => self.with_headroom(),
            Mode::Startup | Mode::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(bound.min(self.inflight_short).max(MIN_PIPE));
    }
}

impl Stack for BbrDraft {
    fn sent(&mut self, at_us: u64, _: u64) {
        let at = at_us as f64 * 1e-6;
        if self.in_flight == 0.0 {
            (self.first_sent, self.delivered_time) = (at, at);
        }
        self.in_flight += 1.0;
        let packet = Packet {
            number: self.sent,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            sent: at,
            in_flight: self.in_flight,
            lost: self.lost,
        };
        self.packets.insert(at_us, packet);
        self.sent += 1;
    }

    fn acked(&mut self, at_us: u64, sent_us: u64, _: u64, _: u64, _: u64, _: bool) {
        let at = at_us as f64 * 1e-6;
        let packet = self.packets.remove(&sent_us).expect("a packet that was sent then");
        // Section 4.1.2.3.
        self.delivered += 1.0;
        self.delivered_time = at;
        self.in_flight -= 1.0;
        self.first_sent = packet.sent;
        let interval = (packet.sent - packet.first_sent).max(at - packet.delivered_time);
        let (delivered, rtt) = (self.delivered - packet.delivered, at - packet.sent);
        let rate = delivered / interval;
        // Persistent congestion began no recovery.
        if self.recovery.is_some() && self.recovery_us.is_none() {
            self.recovery = None;
            self.cwnd = self.cwnd.max(self.prior);
        }
        // Section 5.5.10.3: the latest signals, and the round trip of losses.
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(delivered);
        let loss_round_over = packet.delivered >= self.loss_round;
        if loss_round_over {
            self.loss_round = self.delivered;
        }
        // Sections 5.5.1 and 5.5.5.
        let round_start = packet.delivered >= self.next_round;
        if round_start {
            self.next_round = self.delivered;
            self.rounds += 1;
        }
        let of_cycle = self.max_bw.entry(self.cycle).or_default();
        *of_cycle = of_cycle.max(rate);
        let recent = self.max_bw.range(self.cycle.saturating_sub(1)..);
        let max_bw = recent.fold(0.0, |most: f64, (_, each)| most.max(*each));
        if loss_round_over {
            if self.loss_in_round && self.mode != Mode::Startup {
                let bw = if self.bw_short.is_finite() { self.bw_short } else { max_bw };
                let inflight = if self.inflight_short.is_finite() { self.inflight_short } else { self.cwnd };
                self.bw_short = self.bw_latest.max(0.7 * bw);
                self.inflight_short = self.inflight_latest.max(0.7 * inflight);
            }
            self.loss_in_round = false;
        }
        // Section 5.5.9.
        let expected = self.bw * (at - self.extra_time);
        let expected = if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_time) = (0.0, at);
            0.0
        } else {
            expected
        };
        self.extra_delivered += 1.0;
        let length = if self.full { 10 } else { 1 };
        self.extra.retain(|round, _| round + length > self.rounds);
        let of_round = self.extra.entry(self.rounds).or_default();
        *of_round = of_round.max((self.extra_delivered - expected).min(self.cwnd));
        // Section 5.3.1.2.
        if round_start && !self.full {
            if rate >= 1.25 * self.full_bw {
                (self.full_bw, self.full_count) = (rate, 0);
            } else {
                self.full_count += 1;
                self.full = self.full_count >= 3;
            }
        }
        self.check_startup(&packet, loss_round_over);
        // Section 5.3.2.
        let drained = self.in_flight <= self.budget(self.bdp(self.bw)) || self.rounds > self.drain_round + 3;
        if self.mode == Mode::Drain && drained {
            (self.loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
            (self.next_round, self.stopping, self.mode) = (self.delivered, true, Mode::Down);
        }
        self.cycle_phase(&packet, max_bw, round_start);
        let first = self.min_rtt.is_none();
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        if loss_round_over {
            (self.bw_latest, self.inflight_latest) = (rate, delivered);
        }
        self.bw = max_bw.min(self.bw_short);
        if first {
            self.pacing = 2.77 * WINDOW / rtt;
        }
        self.control();
        if self.recovery.is_some() && self.recovery_us.is_some_and(|start| sent_us > start) {
            self.recovery = None;
            self.cwnd = self.cwnd.max(self.prior);
        }
        self.limit += 1.0;
        if self.limit >= self.cwnd {
            self.limit = f64::INFINITY;
        }
    }

    fn lost(&mut self, at_us: u64, sent_us: u64, bytes: u64, persistent: bool) {
        for _ in 0..bytes / DATAGRAM {
            let (&oldest, _) = self.packets.range(..=sent_us).next().expect("packets that were sent by then");
            // Of one packet, it is the one that was sent then.
            let which = if bytes == DATAGRAM { sent_us } else { oldest };
            let packet = self.packets.remove(&which).expect("a packet that was sent then");
            self.in_flight -= 1.0;
            if self.slip == Slip::LossesIgnored {
                continue;
            }
            self.lost += 1.0;
            if !self.loss_in_round {
                self.loss_round = self.delivered;
            }
            self.loss_in_round = true;
            self.ranges += u32::from(self.last_lost.is_none_or(|last| packet.number != last + 1));
            self.last_lost = Some(packet.number);
        }
        if self.slip == Slip::FirstLossEnds {
            self.full = true;
        }
        // Section 5.6.4.4.
        if persistent {
            self.prior = self.cwnd;
            self.cwnd = self.in_flight + 1.0;
            (self.recovery_us, self.recovery, self.limit) = (None, Some(f64::INFINITY), LEAST);
        } else if self.recovery_us.is_none_or(|start| sent_us > start) {
            if self.recovery.is_none() {
                self.prior = self.cwnd;
                self.recovery = Some(self.delivered);
            }
            self.recovery_us = Some(at_us);
        }
    }

    fn echo(&mut self, _: u64, _: u64) {}

    fn outputs(&self) -> [Option<f64>; 3] {
        let window = (self.cwnd.min(self.limit).max(LEAST) * SIZE).floor();
        [Some(window), None, Some(8.0 * SIZE * self.pacing)]
    }
}
