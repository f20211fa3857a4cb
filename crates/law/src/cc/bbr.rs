//! BBR, version 1: it sends at the bandwidth that it measures, and keeps in flight the data of that bandwidth over the smallest round trip.
//!
//! Source: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; and Linux, `net/ipv4/tcp_bbr.c`, for every constant and for the parts that
//! the paper leaves open: packet conservation, restart from idle, aggregation of acknowledgements, policers.
//! Differs: packets for bytes, and real numbers for 24 bits behind the point. The maximum of bandwidth is that of all rounds of
//! its window, where Linux keeps three samples. A round trip that a delayed acknowledgement made longer counts as any other.
//! The host holds packets back itself, so that none in flight has yet to leave.

mod aggregation;
mod parameters;
mod policer;

use alloc::string::String;

use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, Spared, Timing,
};
use crate::estimate::{WindowedMax, WindowedMin};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;
use crate::quantity::Time;

use aggregation::Aggregation;
use parameters::PARAMETERS;
use policer::Policer;

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "bbr",
    title: "BBR, version 1: sends at the measured bandwidth",
    source: "Cardwell et al., ACM Queue 14(5), 2016; Linux, net/ipv4/tcp_bbr.c",
    colour: "#6b4423",
    parameters: PARAMETERS,
    observables: Observables::of::<Bbr>(),
    linearisation: Linearisation::Unsupported(
        "its rate is the largest of samples, and its phases depend on time and on chance",
    ),
    real: &build::<f64, Bbr>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// Phases of ProbeBW; the first two probe and drain (Linux: CYCLE_LEN).
const PHASES: u32 = 8;
/// The first phase is none of those that the cycle may begin with: the one that drains is left out (Linux: bbr_cycle_rand).
const STARTS: f64 = 7.0;
/// The bandwidth before the first round trip is the initial window in this time [s] (Linux: bbr_init_pacing_rate_from_rtt).
const FIRST_RTT_S: f64 = 1e-3;
/// A send quantum is the data paced in this time [s] (Linux: sk_pacing_shift of 10), and has no more bytes than
/// this (GSO_LEGACY_MAX_SIZE without its header), nor packets than the second (bbr_tso_segs_goal).
const QUANTUM_S: f64 = 1.0 / 1024.0;
const QUANTUM_BYTES: f64 = 65_535.0 - 320.0;
const QUANTUM_PACKETS: f64 = 127.0;
/// Below this rate a quantum may be one packet; otherwise two [bit/s] (Linux: bbr_min_tso_rate).
const SLOW: f64 = 1.2e6;
/// Aggregation adds no more than the bandwidth in this time [s] (Linux: bbr_extra_acked_max_us).
const AGGREGATION_MOST_S: f64 = 0.1;

#[derive(Debug)]
struct Bbr {
    startup_gain: f64,
    drain_gain: f64,
    up_gain: f64,
    down_gain: f64,
    window_gain: f64,
    bandwidth_window: u64,
    min_rtt_window: f64,
    probe_rtt_time: Time,
    min_window: f64,
    full_growth: f64,
    full_rounds: u32,
    /// One without the pacing margin.
    paced: f64,
    aggregation_gain: f64,
    aggregation_window: u32,
    policer: bool,
    initial_window: f64,
    /// Bits of a packet.
    bits: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The sender's response to losses, as in Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Recovery {
    Open,
    Fast,
    AfterTimeout,
}

numbers! {
    /// The state of BBR.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Rate at which packets are sent.
        pacing_rate: "packets/s" as "Pacing rate",
        /// Pacing gain of the phase: the pacing rate in units of the bandwidth.
        pacing_gain: "1" as "Pacing gain",
        /// Largest delivery rate of the last round trips.
        bandwidth: "packets/s" as "Bandwidth",
        /// Smallest round-trip time of the last seconds; zero before the first sample.
        min_rtt: "s" as "Smallest round-trip time",
        /// Bandwidth that Startup has to exceed for the pipe not to be full.
        full_bandwidth: "packets/s" as "Bandwidth when it last grew",
        /// Delivery rate between losses, where they are so many that it may be a policer's; otherwise zero.
        policed_bandwidth: "packets/s" as "Bandwidth under a policer",
        /// Packets that acknowledgements brought beyond the bandwidth.
        extra_acked: "packets" as "Aggregation of acknowledgements",
        /// Window before the last recovery or ProbeRTT.
        prior_window: "packets" as "Window before recovery",
    }
    frozen {
        mode: Mode,
        filter: WindowedMax<f64, 32>,
        least: WindowedMin<f64>,
        /// Round trips so far, and the deliveries after which the next begins; this acknowledgement begins one.
        rounds: u64,
        next_round: u64,
        round_start: bool,
        window_gain: f64,
        /// Phase of ProbeBW, and when it began.
        phase: u32,
        phase_began: Time,
        full_count: u32,
        full: bool,
        /// The time at which ProbeRTT may end, and true once a round trip has passed in it.
        probe_rtt_until: Option<Time>,
        probe_rtt_round: bool,
        /// ProbeRTT keeps the flow short of data: packets sent from then until so many are delivered.
        held_since: Option<Time>,
        held_until: u64,
        /// The flow was idle, and nothing was delivered since.
        idle_restart: bool,
        recovery: Recovery,
        /// The same at the last acknowledgement that delivered something.
        recovery_before: Recovery,
        conservation: bool,
        losses: u32,
        rtt_seen: bool,
        policer: Policer,
        aggregation: Aggregation,
        /// A pacing rate, and the send quantum of it: several parts of an acknowledgement ask for that.
        quantum: (f64, f64),
    }
}

impl Bbr {
    /// The bandwidth to go by [packets/s].
    fn bandwidth(s: &State<f64>) -> f64 {
        if s.policer.holds { s.policer.rate } else { s.bandwidth }
    }

    /// `gain` bandwidth-delay products, in whole packets.
    fn bdp(&self, s: &State<f64>, bandwidth: f64, gain: f64) -> f64 {
        if s.least.get().is_none() { self.initial_window } else { libm::ceil(bandwidth * s.min_rtt * gain) }
    }

    /// Adds the quanta that are on their way through the hosts, in an even number of packets.
    fn quantized(&self, s: &State<f64>, packets: f64) -> f64 {
        let even = 2.0 * libm::ceil(0.5 * (packets + 3.0 * self.quantum(s)));
        if s.mode == Mode::ProbeBw && s.phase == 0 { even + 2.0 } else { even }
    }

    fn in_flight_at(&self, s: &State<f64>, bandwidth: f64, gain: f64) -> f64 {
        self.quantized(s, self.bdp(s, bandwidth, gain))
    }

    /// The send quantum [packets].
    fn quantum(&self, s: &State<f64>) -> f64 {
        let (rate, quantum) = s.quantum;
        if rate == s.pacing_rate { quantum } else { self.quantum_at(s.pacing_rate) }
    }

    /// The same at a pacing rate [packets/s].
    fn quantum_at(&self, rate: f64) -> f64 {
        let rate = rate * self.bits;
        let bytes = Number::min(rate / 8.0 * QUANTUM_S, QUANTUM_BYTES);
        let least = if rate < SLOW { 1.0 } else { 2.0 };
        Number::min(Number::max(libm::floor(bytes * 8.0 / self.bits), least), QUANTUM_PACKETS)
    }

    fn pace(&self, s: &mut State<f64>, bandwidth: f64, gain: f64, seen: &Observation<f64>) {
        if !s.rtt_seen && seen.rtt_s > 0.0 {
            s.rtt_seen = true;
            s.pacing_rate = self.startup_gain * s.window / seen.rtt_s * self.paced;
        }
        let rate = bandwidth * gain * self.paced;
        if rate > 0.0 && (s.full || rate > s.pacing_rate) && rate != s.pacing_rate {
            s.pacing_rate = rate;
            s.quantum = (rate, self.quantum_at(rate));
        }
    }

    fn save_window(s: &mut State<f64>) {
        let keeps = s.recovery_before >= Recovery::Fast || s.mode == Mode::ProbeRtt;
        s.prior_window = if keeps { s.prior_window.max(s.window) } else { s.window };
    }

    fn on_ack(&self, s: &mut State<f64>, d: &Delivery, ack: &AckSample, seen: &Observation<f64>) {
        let losses = core::mem::take(&mut s.losses);
        let limited =
            ack.rate.is_some_and(|rate| rate.then.app_limited || Self::held(s, rate.then.sent, rate.then.delivered));
        self.update_bandwidth(s, d, ack, losses, limited);
        self.update_aggregation(s, d, ack);
        if s.mode == Mode::ProbeBw && self.phase_is_over(s, d.now, ack.in_flight_before as f64, losses) {
            s.phase = (s.phase + 1) % PHASES;
            s.phase_began = d.now;
        }
        self.update_full(s, limited);
        self.update_drain(s, d);
        self.update_min_rtt(s, d, ack);
        self.update_gains(s);
        let bandwidth = Self::bandwidth(s);
        self.pace(s, bandwidth, s.pacing_gain, seen);
        self.update_window(s, d, ack, losses, bandwidth);
    }

    /// True if ProbeRTT held the flow back when the packet was sent.
    fn held(s: &State<f64>, sent: Time, delivered: u64) -> bool {
        s.held_since.is_some_and(|since| sent >= since && delivered <= s.held_until)
    }

    fn update_bandwidth(&self, s: &mut State<f64>, d: &Delivery, ack: &AckSample, losses: u32, limited: bool) {
        s.round_start = false;
        let Some(rate) = ack.rate else { return };
        if rate.then.delivered >= s.next_round {
            s.next_round = d.delivered;
            s.rounds += 1;
            s.round_start = true;
            s.conservation = false;
        }
        self.look_for_policer(s, d, losses, limited);
        let sample = rate.packets_per_s();
        s.filter.forget(s.rounds, self.bandwidth_window);
        if !limited || sample >= s.filter.get() {
            s.filter.take(s.rounds, sample, self.bandwidth_window);
        }
        s.bandwidth = s.filter.get();
    }

    fn look_for_policer(&self, s: &mut State<f64>, d: &Delivery, losses: u32, limited: bool) {
        if !self.policer {
            return;
        }
        if !s.policer.holds {
            s.policer.take(d, losses, limited, s.round_start, self.bits);
        } else if s.mode == Mode::ProbeBw && s.round_start && s.policer.is_old() {
            s.policer.forget(d);
            Self::probe_bandwidth(s, d);
        }
        s.policed_bandwidth = s.policer.rate;
    }

    fn update_aggregation(&self, s: &mut State<f64>, d: &Delivery, ack: &AckSample) {
        if self.aggregation_gain == 0.0 || ack.packets == 0 || ack.rate.is_none() {
            return;
        }
        if s.round_start {
            s.aggregation.round(self.aggregation_window);
        }
        s.aggregation.take(d.now, f64::from(ack.packets), Self::bandwidth(s), s.window);
        s.extra_acked = s.aggregation.most();
    }

    /// True if a phase of ProbeBW ends; `before` packets were in flight before this acknowledgement.
    fn phase_is_over(&self, s: &State<f64>, now: Time, before: f64, losses: u32) -> bool {
        let long = now.since(s.phase_began).seconds() > s.min_rtt;
        let gain = self.phase_gain(s);
        if gain > 1.0 {
            let reached = before + self.quantum(s) >= self.in_flight_at(s, s.bandwidth, gain);
            return long && (losses > 0 || reached);
        }
        if gain < 1.0 { long || before <= self.in_flight_at(s, s.bandwidth, 1.0) } else { long }
    }

    fn phase_gain(&self, s: &State<f64>) -> f64 {
        match s.phase {
            _ if s.policer.holds => 1.0,
            0 => self.up_gain,
            1 => self.down_gain,
            _ => 1.0,
        }
    }

    fn update_full(&self, s: &mut State<f64>, limited: bool) {
        if s.full || !s.round_start || limited {
            return;
        }
        if s.bandwidth >= self.full_growth * s.full_bandwidth {
            (s.full_bandwidth, s.full_count) = (s.bandwidth, 0);
            return;
        }
        s.full_count += 1;
        s.full = s.full_count >= self.full_rounds;
    }

    fn update_drain(&self, s: &mut State<f64>, d: &Delivery) {
        if s.mode == Mode::Startup && s.full {
            s.mode = Mode::Drain;
        }
        if s.mode == Mode::Drain && d.in_flight as f64 <= self.in_flight_at(s, s.bandwidth, 1.0) {
            Self::probe_bandwidth(s, d);
        }
    }

    /// ProbeBW begins, with any phase but the one that drains.
    fn probe_bandwidth(s: &mut State<f64>, d: &Delivery) {
        s.mode = Mode::ProbeBw;
        let back = libm::floor(d.uniform * STARTS).min(STARTS - 1.0) as u32;
        s.phase = (PHASES - back) % PHASES;
        s.phase_began = d.now;
    }

    fn update_min_rtt(&self, s: &mut State<f64>, d: &Delivery, ack: &AckSample) {
        let now_s = d.now.seconds();
        let over = s.least.is_over(now_s, self.min_rtt_window);
        if let Some(rtt) = ack.rtt {
            s.least.take(now_s, rtt.seconds(), self.min_rtt_window);
            s.min_rtt = s.least.get().unwrap_or(0.0);
        }
        if over && !s.idle_restart && s.mode != Mode::ProbeRtt {
            Self::save_window(s);
            s.mode = Mode::ProbeRtt;
            s.probe_rtt_until = None;
        }
        if s.mode == Mode::ProbeRtt {
            s.held_since.get_or_insert(d.now);
            s.held_until = (d.delivered + d.in_flight).max(1);
            if s.probe_rtt_until.is_some() {
                s.probe_rtt_round |= s.round_start;
                if s.probe_rtt_round {
                    Self::leave_probe_rtt(s, d);
                }
            } else if d.in_flight as f64 <= self.min_window {
                s.probe_rtt_until = Some(d.now + self.probe_rtt_time);
                s.probe_rtt_round = false;
                s.next_round = d.delivered;
            }
        } else if d.delivered > s.held_until {
            s.held_since = None;
        }
        if ack.rate.is_some() {
            s.idle_restart = false;
        }
    }

    /// ProbeRTT ends if its time is over.
    fn leave_probe_rtt(s: &mut State<f64>, d: &Delivery) {
        if s.probe_rtt_until.is_none_or(|until| d.now <= until) {
            return;
        }
        s.least.renew(d.now.seconds());
        s.window = s.window.max(s.prior_window);
        if s.full {
            Self::probe_bandwidth(s, d);
        } else {
            s.mode = Mode::Startup;
        }
    }

    fn update_gains(&self, s: &mut State<f64>) {
        (s.pacing_gain, s.window_gain) = match s.mode {
            Mode::Startup => (self.startup_gain, self.startup_gain),
            Mode::Drain => (self.drain_gain, self.startup_gain),
            Mode::ProbeBw => (self.phase_gain(s), self.window_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    fn update_window(&self, s: &mut State<f64>, d: &Delivery, ack: &AckSample, losses: u32, bandwidth: f64) {
        let acked = f64::from(ack.packets);
        if ack.packets > 0 {
            Self::recover_or_restore(s, d, acked, losses);
            if s.conservation {
                s.window = Number::max(s.window, d.in_flight as f64 + acked);
            } else {
                let mut target = self.bdp(s, bandwidth, s.window_gain);
                if s.full {
                    target += Number::min(self.aggregation_gain * s.extra_acked, bandwidth * AGGREGATION_MOST_S);
                }
                let target = self.quantized(s, target);
                if s.full {
                    s.window = Number::min(s.window + acked, target);
                } else if s.window < target || (d.delivered as f64) < self.initial_window {
                    s.window += acked;
                }
                s.window = Number::max(s.window, self.min_window);
            }
        }
        if s.mode == Mode::ProbeRtt {
            s.window = s.window.min(self.min_window);
        }
    }

    /// In the first round trip of a recovery as much is sent as is delivered; after recovery the old window returns.
    fn recover_or_restore(s: &mut State<f64>, d: &Delivery, acked: f64, losses: u32) {
        if losses > 0 {
            s.window = (s.window - f64::from(losses)).max(1.0);
        }
        if s.recovery == Recovery::Fast && s.recovery_before != Recovery::Fast {
            s.conservation = true;
            s.next_round = d.delivered;
            s.window = d.in_flight as f64 + acked;
        } else if s.recovery_before >= Recovery::Fast && s.recovery == Recovery::Open {
            s.window = s.window.max(s.prior_window);
            s.conservation = false;
        }
        s.recovery_before = s.recovery;
    }

    fn on_timeout(&self, s: &mut State<f64>, d: &Delivery) {
        Self::save_window(s);
        (s.recovery, s.recovery_before) = (Recovery::AfterTimeout, Recovery::AfterTimeout);
        (s.full_bandwidth, s.round_start, s.losses) = (0.0, true, 0);
        self.look_for_policer(s, d, 1, false);
        s.window = d.in_flight as f64 + 1.0;
    }

    fn on_idle_restart(&self, s: &mut State<f64>, d: &Delivery, seen: &Observation<f64>) {
        s.idle_restart = true;
        s.aggregation.restart(d.now);
        match s.mode {
            Mode::ProbeBw => self.pace(s, Self::bandwidth(s), 1.0, seen),
            Mode::ProbeRtt => Self::leave_probe_rtt(s, d),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_undone(s: &mut State<f64>, d: &Delivery) {
        s.recovery = Recovery::Open;
        (s.full_bandwidth, s.full_count) = (0.0, 0);
        s.policer.forget(d);
        s.policed_bandwidth = 0.0;
    }
}

impl Law<f64> for Bbr {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            startup_gain: values.number("startup_gain"),
            drain_gain: values.number("drain_gain"),
            up_gain: values.number("up_gain"),
            down_gain: values.number("down_gain"),
            window_gain: values.number("window_gain"),
            bandwidth_window: values.number("bandwidth_window") as u64,
            min_rtt_window: values.number("min_rtt_window"),
            probe_rtt_time: Time::from_seconds(values.number("probe_rtt_time")),
            min_window: values.number("min_window"),
            full_growth: values.number("full_growth"),
            full_rounds: values.number("full_rounds") as u32,
            paced: 1.0 - values.number("pacing_margin"),
            aggregation_gain: values.number("aggregation_gain"),
            aggregation_window: values.number("aggregation_window") as u32,
            policer: values.switch("policer"),
            initial_window: context.initial_window,
            bits: context.packet.bits(),
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: self.initial_window,
            pacing_rate: self.startup_gain * self.initial_window / FIRST_RTT_S * self.paced,
            pacing_gain: self.startup_gain,
            bandwidth: 0.0,
            min_rtt: 0.0,
            full_bandwidth: 0.0,
            policed_bandwidth: 0.0,
            extra_acked: 0.0,
            prior_window: 0.0,
            mode: Mode::Startup,
            filter: WindowedMax::default(),
            least: WindowedMin::default(),
            rounds: 0,
            next_round: 0,
            round_start: false,
            window_gain: self.startup_gain,
            phase: 0,
            phase_began: Time::ZERO,
            full_count: 0,
            full: false,
            probe_rtt_until: None,
            probe_rtt_round: false,
            held_since: None,
            held_until: 0,
            idle_restart: false,
            recovery: Recovery::Open,
            recovery_before: Recovery::Open,
            conservation: false,
            losses: 0,
            rtt_seen: false,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            quantum: (0.0, 0.0),
        }
    }

    /// All that BBR wants to know comes in detail, but that a recovery goes on with another cut: then Linux asks for a threshold, by
    /// which BBR saves its window.
    fn on_event(&self, s: &mut State<f64>, event: Event, _: &Observation<f64>) {
        if event == Event::Congestion && s.recovery == Recovery::Fast {
            Self::save_window(s);
        }
    }

    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, seen: &Observation<f64>) {
        match &delivery.event {
            DeliveryEvent::Ack(ack) => self.on_ack(s, delivery, ack, seen),
            DeliveryEvent::Lost(_) => s.losses += 1,
            DeliveryEvent::RecoveryEntered => {
                Self::save_window(s);
                s.recovery = Recovery::Fast;
            }
            DeliveryEvent::RecoveryLeft => s.recovery = Recovery::Open,
            DeliveryEvent::RecoveryUndone | DeliveryEvent::TimeoutUndone => Self::on_undone(s, delivery),
            DeliveryEvent::Timeout => self.on_timeout(s, delivery),
            DeliveryEvent::IdleRestart => self.on_idle_restart(s, delivery, seen),
            DeliveryEvent::RecoveryRenewed | DeliveryEvent::Timer => {}
        }
    }

    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 1.0 / s.pacing_rate }
    }

    fn timing(&self, s: &State<f64>, _: &Observation<f64>) -> Timing {
        Timing { quantum: self.quantum(s) as u32, timer: None }
    }

    fn requirements(&self) -> Requirements {
        Requirements { delivery: true, spared: Spared { acks: true, ..Spared::NOTHING }, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests;
