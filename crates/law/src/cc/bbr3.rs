//! BBR, version 3: version 1 with bounds that losses set, and probes for bandwidth that keep them few.
//!
//! Source: draft-ietf-ccwg-bbr, its repository at commit 4ce5e87 of August 2026, after version 06. The constants of
//! `preset = "linux-v3"` are those of `net/ipv4/tcp_bbr.c` in google/bbr.
//! Differs: packets for bytes. The draft's order of work holds; where it is silent, or contradicts itself:
//! - State is saved once in an episode of recovery. The draft saves it at the first loss of each round trip, so that a loss
//!   after the bounds came down would make the lower ones those to come back to.
//! - A precautionary probe ends when no whole packet more fits below the long-term bound before the acknowledgement, as in
//!   Linux. The flight after it never reaches a bound that the window keeps.
//! - The flight when losses crossed the threshold is never less than that before the packet that crossed it.
//! - The pacing rate of the beginning is set again with the first round-trip time. The draft sets it at initialisation alone.
//! - An acknowledgement without a sound rate sample does not count rounds.
//! - The preset has the constants of Linux. It has neither its ECN, nor its growth of the full-pipe baseline within a round, nor
//!   its response to losses at acknowledgements.

mod extra;
mod least;
mod parameters;
mod phase;
mod pipe;
mod probing;
mod recovery;
mod signals;

use alloc::string::String;

use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, Spared, Timing,
    Transmission,
};
use crate::estimate::WindowedMax;
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;
use crate::quantity::Time;

use extra::Extra;
use least::LeastRtt;
use parameters::{Constants, PARAMETERS};
use phase::{Dip, Phase, Probe, Rounds};
use pipe::{Pipe, Ranges};
use probing::{LongTerm, Wait};
use recovery::Recovery;
use signals::{Sample, Signals};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "bbr3",
    title: "BBR, version 3: sends at the measured bandwidth, within bounds that losses set",
    source: "draft-ietf-ccwg-bbr; google/bbr, net/ipv4/tcp_bbr.c",
    colour: "#b3702e",
    parameters: PARAMETERS,
    observables: Observables::of::<Bbr3>(),
    linearisation: Linearisation::Unsupported(
        "its rate is the largest of samples, and its phases depend on time and on chance",
    ),
    real: &build::<f64, Bbr3>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// The bandwidth before the first round trip is the initial window in this time [s] (InitPacingRate).
const FIRST_RTT_S: f64 = 1e-3;
/// A send quantum is the data paced in this time [s], and has no more bytes than this and no fewer packets (SetSendQuantum).
const QUANTUM_S: f64 = 1e-3;
const QUANTUM_BYTES: f64 = 65_536.0;
const QUANTUM_PACKETS: f64 = 2.0;
/// Packets that the window has more while probing (QuantizationBudget).
const PROBE_PACKETS: f64 = 2.0;
/// The bandwidth is the largest sample of so many cycles (MaxBwFilterLen).
const CYCLES: u64 = 2;

#[derive(Debug)]
struct Bbr3 {
    constants: Constants,
    initial_window: f64,
    /// Bits of a packet.
    bits: f64,
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
        /// Phase: 0 is Startup, 1 Drain, 2 ProbeBW_DOWN, 3 ProbeBW_CRUISE, 4 ProbeBW_REFILL, 5 ProbeBW_UP and 6 ProbeRTT.
        phase: "1" as "Phase",
        /// Round trips so far, in packets' time.
        round_count: "1" as "Round trips",
        /// Largest delivery rate of this cycle of probing and the one before.
        max_bandwidth: "packets/s" as "Largest bandwidth",
        /// Bandwidth that the rate goes by: the largest, or the short-term bound.
        bandwidth: "packets/s" as "Bandwidth",
        /// Smallest round-trip time of the last seconds; zero before the first sample.
        min_rtt: "s" as "Smallest round-trip time",
        /// Packets that may be in flight by what probing found; zero without such a bound.
        inflight_longterm: "packets" as "Long-term bound in flight",
        /// Packets that may be in flight by recent losses; zero without such a bound.
        inflight_shortterm: "packets" as "Short-term bound in flight",
        /// Bandwidth by recent losses; zero without such a bound.
        bandwidth_shortterm: "packets/s" as "Short-term bound of the bandwidth",
        /// Packets that acknowledgements brought beyond the bandwidth.
        extra_acked: "packets" as "Aggregation of acknowledgements",
        /// Window before the last recovery or ProbeRTT.
        prior_window: "packets" as "Window before recovery",
    }
    frozen {
        mode: Phase,
        filter: WindowedMax<f64, 2>,
        /// BBR.cycle_count.
        cycle: u64,
        least: LeastRtt,
        signals: Signals,
        pipe: Pipe,
        ranges: Ranges,
        wait: Wait,
        long: LongTerm,
        extra: Extra,
        rounds: Rounds,
        /// BBR.drain_start_round.
        drain_round: u64,
        probe: Probe,
        dip: Dip,
        /// The flow was idle, and nothing was delivered since.
        idle_restart: bool,
        recovery: Recovery,
        /// Losses that the law was called for, one by one.
        lost: u64,
        rtt_seen: bool,
        /// A pacing rate, and the send quantum of it: three parts of an acknowledgement ask for that.
        quantum: (f64, f64),
    }
}

impl Bbr3 {
    /// BDPMultiple: `gain` bandwidth-delay products [packets].
    fn bdp(&self, s: &State<f64>, bandwidth: f64, gain: f64) -> f64 {
        s.least.get().map_or(self.initial_window, |min_rtt| gain * bandwidth * min_rtt)
    }

    /// QuantizationBudget: at least what offload needs, and delayed acknowledgements.
    fn quantized(&self, s: &State<f64>, packets: f64) -> f64 {
        let budget = self.constants.offload_quanta * self.quantum(s);
        let most = Number::max(Number::max(packets, budget), self.constants.min_window);
        if s.mode == Phase::Up { most + PROBE_PACKETS } else { most }
    }

    /// The send quantum [packets].
    fn quantum(&self, s: &State<f64>) -> f64 {
        let (rate, quantum) = s.quantum;
        if rate == s.pacing_rate { quantum } else { self.quantum_at(s.pacing_rate) }
    }

    /// The same at a pacing rate [packets/s].
    fn quantum_at(&self, rate: f64) -> f64 {
        let bits = Number::min(rate * self.bits * QUANTUM_S, QUANTUM_BYTES * 8.0);
        Number::max(libm::floor(bits / self.bits), QUANTUM_PACKETS)
    }

    /// TargetInflight: the bandwidth-delay product, unless congestion cut the window.
    fn target(&self, s: &State<f64>) -> f64 {
        Number::min(self.bdp(s, s.bandwidth, 1.0), s.window)
    }

    /// SetPacingRateWithGain: before the pipe is full the rate does not fall.
    fn pace(&self, s: &mut State<f64>, gain: f64) {
        let rate = gain * s.bandwidth * self.constants.paced;
        if rate > 0.0 && (s.pipe.reached || rate > s.pacing_rate) && rate != s.pacing_rate {
            s.pacing_rate = rate;
            s.quantum = (rate, self.quantum_at(rate));
        }
    }

    /// InitPacingRate, again with the first round trip: the rate of a millisecond would hold for as long as the pipe is not full.
    fn first_pace(&self, s: &mut State<f64>, seen: &Observation<f64>) {
        if !s.rtt_seen && seen.rtt_s > 0.0 {
            s.rtt_seen = true;
            s.pacing_rate = self.constants.startup_gain * self.initial_window / seen.rtt_s;
        }
    }

    fn on_ack(&self, s: &mut State<f64>, d: &Delivery, ack: &AckSample, seen: &Observation<f64>) {
        let sample = ack.rate.map(|rate| Sample::of(&rate, d, s.dip.held(&rate.then)));
        let sample = sample.as_ref();
        let acked = f64::from(ack.packets);
        s.lost = d.lost;
        s.signals.take(sample, d.delivered);
        Self::update_bandwidth(s, d, sample);
        s.signals.adapt(s.mode.accelerates(), s.max_bandwidth, s.window, self.constants.beta);
        self.update_extra(s, d, acked);
        if let Some(sample) = sample.filter(|sample| s.rounds.start && !sample.limited) {
            s.pipe.take(sample.rate, self.constants.full_growth, self.constants.full_rounds);
        }
        self.update_startup(s, sample);
        if s.mode == Phase::Drain {
            self.update_drain(s, d);
        }
        if s.pipe.reached && ack.packets > 0 {
            self.update_cycle(s, d, ack, sample);
        }
        let rtt = ack.rtt.map(Time::seconds);
        s.least.take(d.now, rtt, self.constants.probe_rtt_interval, self.constants.min_rtt_window);
        self.update_probe_rtt(s, d, sample.is_some());
        s.signals.advance(sample);
        s.bandwidth = Number::min(s.max_bandwidth, s.signals.bandwidth);
        let (pacing_gain, window_gain) = s.mode.gains(&self.constants);
        self.first_pace(s, seen);
        self.pace(s, pacing_gain);
        self.update_window(s, d, acked, window_gain);
    }

    /// UpdateMaxBw and UpdateRound.
    fn update_bandwidth(s: &mut State<f64>, d: &Delivery, sample: Option<&Sample>) {
        s.rounds.take(sample.map(|sample| sample.before), d);
        s.wait.rounds += u64::from(s.rounds.start);
        let Some(sample) = sample else { return };
        if sample.rate >= s.max_bandwidth || !sample.limited {
            s.filter.take(s.cycle, sample.rate, CYCLES);
            s.max_bandwidth = s.filter.get();
        }
    }

    /// In Startup one round is enough: the rate grows from round to round.
    fn update_extra(&self, s: &mut State<f64>, d: &Delivery, acked: f64) {
        let rounds = if s.pipe.reached { self.constants.aggregation_window } else { 1 };
        s.extra_acked = s.extra.take(d.now, (acked, s.bandwidth), s.window, (s.rounds.count, rounds));
    }

    /// CheckStartupDone, and CheckStartupHighLoss: a round trip in fast recovery with more losses than the threshold, in
    /// several ranges.
    fn update_startup(&self, s: &mut State<f64>, sample: Option<&Sample>) {
        if s.mode != Phase::Startup {
            return;
        }
        if let Some(sample) = sample.filter(|_| s.signals.round_over) {
            let long = s.recovery.fast_from.is_some_and(|from| sample.before >= from);
            if long
                && s.ranges.count >= self.constants.startup_losses
                && self.is_too_high(sample.lost, sample.in_flight)
            {
                s.recovery.ends(Phase::Startup);
                s.pipe.fill();
                s.long.bound = self.bdp(s, s.bandwidth, 1.0).max(s.signals.delivered);
            }
            s.ranges = Ranges::default();
        }
        if s.pipe.reached {
            s.mode = Phase::Drain;
            s.drain_round = s.rounds.count;
        }
    }

    /// CheckDrainDone.
    fn update_drain(&self, s: &mut State<f64>, d: &Delivery) {
        let drained = d.in_flight as f64 <= self.quantized(s, self.bdp(s, s.bandwidth, 1.0));
        if drained || (s.rounds.count - s.drain_round) as f64 > self.constants.drain_rounds {
            self.start_down(s, d);
        }
    }

    /// IsInflightTooHigh.
    fn is_too_high(&self, lost: f64, in_flight: f64) -> bool {
        lost > in_flight * self.constants.loss_threshold
    }

    /// UpdateProbeBWCyclePhase.
    fn update_cycle(&self, s: &mut State<f64>, d: &Delivery, ack: &AckSample, sample: Option<&Sample>) {
        if self.adapt_longterm(s, d, f64::from(ack.packets), sample) {
            return;
        }
        let rate = sample.map_or(0.0, |sample| sample.rate);
        match s.mode {
            Phase::Down | Phase::Cruise
                if s.wait.is_over(d.now, Number::min(self.target(s), self.constants.probe_rounds)) =>
            {
                Self::start_refill(s, d);
            }
            Phase::Down => {
                let bdp = self.quantized(s, self.bdp(s, s.max_bandwidth, 1.0));
                if d.in_flight as f64 <= Number::min(bdp, s.long.with_headroom(&self.constants)) {
                    s.mode = Phase::Cruise;
                }
            }
            Phase::Refill if s.rounds.start => {
                s.probe.sample = true;
                s.mode = Phase::Up;
                s.rounds.begin(d.delivered);
                s.pipe.look(rate);
                s.long.steepen(s.window);
            }
            Phase::Up => self.go_on(s, d, ack.in_flight_before as f64, rate),
            _ => {}
        }
    }

    /// AdaptLongTermModel; true if it chose the phase.
    fn adapt_longterm(&self, s: &mut State<f64>, d: &Delivery, acked: f64, sample: Option<&Sample>) -> bool {
        if s.probe.stopping && s.rounds.start {
            s.probe.sample = false;
            s.probe.stopping = false;
            if s.mode.is_probe_bw() {
                s.cycle += u64::from(sample.is_some_and(|sample| !sample.limited));
                if s.probe.precautionary && !s.probe.too_high {
                    Self::start_refill(s, d);
                    return true;
                }
            }
        }
        if sample.is_some_and(|sample| self.is_too_high(sample.lost, sample.in_flight)) || s.long.bound.is_infinite() {
            return false;
        }
        s.long.bound = sample.map_or(s.long.bound, |sample| Number::max(s.long.bound, sample.in_flight));
        if s.mode == Phase::Up && s.rounds.window_limited() && s.window >= s.long.bound {
            s.long.grow(acked, s.window, s.rounds.start);
        }
        false
    }

    /// True if ProbeBW_UP ends: IsTimeToGoDown. So many packets were in flight before this acknowledgement.
    fn go_on(&self, s: &mut State<f64>, d: &Delivery, in_flight: f64, rate: f64) {
        let risky = self.constants.precaution && s.probe.too_high && in_flight + 1.0 > s.long.bound;
        let bounded = s.rounds.window_limited() && s.window >= s.long.bound;
        s.probe.precautionary |= risky;
        if risky || s.pipe.now && !bounded {
            s.probe.too_high = false;
            self.start_down(s, d);
        } else if bounded {
            s.pipe.look(rate);
        }
    }

    /// StartProbeBW_DOWN.
    fn start_down(&self, s: &mut State<f64>, d: &Delivery) {
        s.signals.forget();
        s.long.stop();
        s.wait.pick(d.now, d.uniform, self.constants.probe_wait);
        s.probe.stopping = true;
        s.rounds.begin(d.delivered);
        s.mode = Phase::Down;
    }

    /// StartProbeBW_REFILL.
    fn start_refill(s: &mut State<f64>, d: &Delivery) {
        s.signals.unbound();
        s.long.begin();
        s.probe.precautionary = false;
        s.probe.stopping = false;
        s.rounds.begin(d.delivered);
        s.mode = Phase::Refill;
    }

    /// CheckProbeRTT; whether the acknowledgement had a rate sample.
    fn update_probe_rtt(&self, s: &mut State<f64>, d: &Delivery, sampled: bool) {
        if s.mode != Phase::ProbeRtt && s.least.expired && !s.idle_restart {
            Self::save_window(s);
            s.mode = Phase::ProbeRtt;
            s.probe.stopping = true;
            s.rounds.begin(d.delivered);
            s.dip.begin(d.now);
        }
        if s.mode == Phase::ProbeRtt {
            let window = self.probe_rtt_window(s);
            if s.dip.take(d, &mut s.rounds, window, self.constants.probe_rtt_time) {
                self.leave_probe_rtt(s, d);
            }
        }
        s.idle_restart &= !sampled;
    }

    fn probe_rtt_window(&self, s: &State<f64>) -> f64 {
        self.bdp(s, s.bandwidth, self.constants.probe_rtt_gain).max(self.constants.min_window)
    }

    /// CheckProbeRTTDone and ExitProbeRTT.
    fn leave_probe_rtt(&self, s: &mut State<f64>, d: &Delivery) {
        if !s.dip.is_over(d.now) {
            return;
        }
        s.least.renew(d.now);
        Self::restore_window(s);
        s.signals.unbound();
        if s.pipe.reached {
            self.start_down(s, d);
            s.mode = Phase::Cruise;
        } else {
            s.mode = Phase::Startup;
        }
    }

    /// SetCwnd.
    fn update_window(&self, s: &mut State<f64>, d: &Delivery, acked: f64, gain: f64) {
        let extra = Number::min(s.extra_acked, s.bandwidth * self.constants.aggregation_most_s);
        let most = self.quantized(s, self.bdp(s, s.bandwidth, gain) + extra);
        if s.pipe.reached {
            s.window = Number::min(s.window + acked, most);
        } else if s.window < most || (d.delivered as f64) < self.initial_window {
            s.window += acked;
        }
        s.window = Number::max(s.window, self.constants.min_window);
        if s.mode == Phase::ProbeRtt {
            s.window = s.window.min(self.probe_rtt_window(s));
        }
        // BoundCwndForModel.
        let cap = match s.mode {
            Phase::Down | Phase::Refill | Phase::Up => s.long.bound,
            Phase::Cruise | Phase::ProbeRtt => s.long.with_headroom(&self.constants),
            Phase::Startup | Phase::Drain => f64::INFINITY,
        };
        let bound = Number::max(Number::min(cap, s.signals.in_flight), self.constants.min_window);
        s.window = Number::min(s.window, bound);
    }

    fn save_window(s: &mut State<f64>) {
        let keeps = s.recovery.goes_on || s.mode == Phase::ProbeRtt;
        s.prior_window = if keeps { Number::max(s.prior_window, s.window) } else { s.window };
    }

    /// SaveStateUponLoss, once in an episode.
    fn save(s: &mut State<f64>) {
        Self::save_window(s);
        s.recovery.save([s.signals.bandwidth, s.signals.in_flight, s.long.bound]);
    }

    /// HandleLostPacket.
    fn on_lost(&self, s: &mut State<f64>, d: &Delivery, then: &Transmission) {
        s.lost = (s.lost + 1).min(d.lost);
        s.signals.lose(d.delivered);
        Self::save(s);
        s.ranges.lose(then.delivered + then.lost + then.in_flight);
        if !s.probe.sample {
            return;
        }
        let (in_flight, lost) = (then.in_flight as f64, s.lost.saturating_sub(then.lost) as f64);
        if !self.is_too_high(lost, in_flight) {
            return;
        }
        // HandleInflightTooHigh.
        s.probe.too_high = true;
        s.probe.sample = false;
        if !then.app_limited && !s.dip.held(then) {
            let at = probing::in_flight_at_loss(in_flight, lost, self.constants.loss_threshold);
            s.long.bound = Number::max(at, self.target(s) * self.constants.beta);
        }
        if s.mode == Phase::Up {
            s.recovery.ends(Phase::Up);
            self.start_down(s, d);
        }
    }

    fn on_timeout(s: &mut State<f64>, d: &Delivery) {
        Self::save(s);
        (s.recovery.goes_on, s.recovery.fast_from) = (true, None);
        s.window = d.in_flight as f64 + 1.0;
    }

    /// RestoreCwnd, where a recovery ends.
    fn restore_window(s: &mut State<f64>) {
        s.window = s.window.max(s.prior_window);
    }

    /// HandleSpuriousLossDetection.
    fn on_spurious(s: &mut State<f64>, d: &Delivery) {
        Self::restore_window(s);
        s.signals.not_lost();
        s.pipe.look(0.0);
        let Some(undo) = s.recovery.leave() else { return };
        let [bandwidth, in_flight, long] = undo.bounds;
        s.signals.bandwidth = s.signals.bandwidth.max(bandwidth);
        s.signals.in_flight = s.signals.in_flight.max(in_flight);
        s.long.bound = s.long.bound.max(long);
        match undo.phase {
            Some(Phase::Startup) if s.mode != Phase::Startup => {
                s.pipe.reached = false;
                if s.mode != Phase::ProbeRtt {
                    s.mode = Phase::Startup;
                }
            }
            Some(Phase::Up) if !matches!(s.mode, Phase::Up | Phase::ProbeRtt) => Self::start_refill(s, d),
            _ => {}
        }
    }

    /// HandleRestartFromIdle.
    fn on_idle_restart(&self, s: &mut State<f64>, d: &Delivery) {
        s.idle_restart = true;
        s.extra.restart(d.now);
        if s.mode.is_probe_bw() {
            self.pace(s, 1.0);
        } else if s.mode == Phase::ProbeRtt {
            self.leave_probe_rtt(s, d);
        }
    }

    /// The part of the state that series show.
    fn show(&self, s: &mut State<f64>) {
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        s.pacing_gain = s.mode.gains(&self.constants).0;
        s.phase = f64::from(s.mode as u8);
        s.round_count = s.rounds.count as f64;
        s.min_rtt = s.least.get().unwrap_or(0.0);
        s.inflight_longterm = finite(s.long.bound);
        s.inflight_shortterm = finite(s.signals.in_flight);
        s.bandwidth_shortterm = finite(s.signals.bandwidth);
    }
}

impl Law<f64> for Bbr3 {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let constants = Constants::compile(values);
        Ok(Self { constants, initial_window: context.initial_window, bits: context.packet.bits() })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: self.initial_window,
            pacing_rate: self.constants.startup_gain * self.initial_window / FIRST_RTT_S,
            pacing_gain: self.constants.startup_gain,
            phase: 0.0,
            round_count: 0.0,
            max_bandwidth: 0.0,
            bandwidth: 0.0,
            min_rtt: 0.0,
            inflight_longterm: 0.0,
            inflight_shortterm: 0.0,
            bandwidth_shortterm: 0.0,
            extra_acked: 0.0,
            prior_window: 0.0,
            mode: Phase::Startup,
            filter: WindowedMax::default(),
            cycle: 0,
            least: LeastRtt::default(),
            signals: Signals::default(),
            pipe: Pipe::default(),
            ranges: Ranges::default(),
            wait: Wait::default(),
            long: LongTerm::default(),
            extra: Extra::default(),
            rounds: Rounds::default(),
            drain_round: 0,
            probe: Probe::default(),
            dip: Dip::default(),
            idle_restart: false,
            recovery: Recovery::default(),
            lost: 0,
            rtt_seen: false,
            quantum: (0.0, 0.0),
        }
    }

    /// All that BBR wants to know comes in detail.
    fn on_event(&self, _: &mut State<f64>, _: Event, _: &Observation<f64>) {}

    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, seen: &Observation<f64>) {
        match &delivery.event {
            DeliveryEvent::Ack(ack) => self.on_ack(s, delivery, ack, seen),
            DeliveryEvent::Lost(then) => self.on_lost(s, delivery, then),
            DeliveryEvent::RecoveryEntered => {
                Self::save(s);
                (s.recovery.goes_on, s.recovery.fast_from) = (true, Some(delivery.delivered));
            }
            DeliveryEvent::RecoveryLeft => {
                Self::restore_window(s);
                s.recovery.leave();
            }
            DeliveryEvent::RecoveryUndone | DeliveryEvent::TimeoutUndone => Self::on_spurious(s, delivery),
            DeliveryEvent::Timeout => Self::on_timeout(s, delivery),
            DeliveryEvent::IdleRestart => self.on_idle_restart(s, delivery),
            DeliveryEvent::RecoveryRenewed | DeliveryEvent::Timer => {}
        }
        self.show(s);
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
