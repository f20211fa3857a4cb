//! NADA: a rate for real-time media that follows from one signal, in which delay, losses and marks are added up.
//!
//! Source: RFC 8698 (Zhu, Pan, Ramalho, Mena), equations (1) to (7) and its list of parameters. Symbols: `rate` is r_ref, `signal`
//! x_curr, `loss` and `mark` are p_loss and p_mark. An application that follows it sends at r_ref; the greedy application here is
//! a video encoder that takes each rate at once, so that the shaping buffer of section 4.3 stays empty.
//! Differs: there is no report: the sender is called for each packet and computes both ends' parts, once in `delta` and with an
//! acknowledgement, as the authors' simulator does. The delay is that of the round trip, for hosts do not measure the one-way
//! delay: a queue on the way back counts too. Lost packets are sent again instead of new ones. After a retransmission timeout,
//! which the RFC leaves out, the rate is the lowest. The end of warping is immediate. The average loss interval is that of RFC
//! 5348, section 5.4; losses within a round trip are one event.

use alloc::format;
use alloc::string::String;

use super::newreno::ECN;
use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Marks, NO_WINDOW, Observation, Output,
    Requirements, Spared,
};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "nada",
    title: "NADA: a rate for real-time media, from one signal of delay, losses and marks",
    source: "RFC 8698",
    colour: "#3d7d6c",
    parameters: &[
        Parameter::number(
            "min_rate",
            Unit::BitPerSecond,
            150e3,
            [1.0, 1e12],
            "RMIN, lowest rate of the application, on the wire; it begins with that",
            "RFC 8698, section 4.1",
        ),
        Parameter::number(
            "max_rate",
            Unit::BitPerSecond,
            1.5e6,
            [1.0, 1e12],
            "RMAX, highest rate of the application, on the wire",
            "RFC 8698, section 4.1",
        ),
        Parameter::number(
            "priority",
            Unit::One,
            1.0,
            [1e-3, 1e3],
            "PRIO, weight of the flow: rates on one line are in its proportion",
            "RFC 8698, section 4.1",
        ),
        Parameter::number(
            "x_ref",
            Unit::Seconds,
            0.01,
            [1e-6, 10.0],
            "XREF, signal at which a flow of weight 1 has its highest rate",
            "RFC 8698, section 4.1",
        ),
        Parameter::number(
            "kappa",
            Unit::One,
            0.5,
            [1e-6, 100.0],
            "KAPPA, gain of the gradual update",
            "RFC 8698, equation (7)",
        ),
        Parameter::number(
            "eta",
            Unit::One,
            2.0,
            [0.0, 100.0],
            "ETA, weight of a change of the signal",
            "RFC 8698, equation (7)",
        ),
        Parameter::number(
            "tau",
            Unit::Seconds,
            0.5,
            [1e-3, 100.0],
            "TAU, upper bound of the round-trip time in the gradual update",
            "RFC 8698, equation (7)",
        ),
        Parameter::number(
            "delta",
            Unit::Seconds,
            0.1,
            [1e-4, 10.0],
            "DELTA, time between two updates",
            "RFC 8698, section 4.1",
        ),
        Parameter::number(
            "log_window",
            Unit::Seconds,
            0.5,
            [1e-4, 100.0],
            "LOGWIN, time in which packets are counted: the rate received, losses, marks, delays above `q_eps`",
            "RFC 8698, section 4.1",
        ),
        Parameter::number(
            "q_eps",
            Unit::Seconds,
            0.01,
            [0.0, 10.0],
            "QEPS, queueing delay up to which the rate ramps up",
            "RFC 8698, section 4.2",
        ),
        Parameter::number(
            "filter",
            Unit::Seconds,
            0.12,
            [0.0, 10.0],
            "DFILT, bound of the filtering delay: the queueing delay is the smallest of 15 samples, none older than this",
            "RFC 8698, equation (3) and section 5.1.1",
        ),
        Parameter::number(
            "gamma_max",
            Unit::One,
            0.5,
            [0.0, 10.0],
            "GAMMA_MAX, upper bound of the increase in one ramp-up step",
            "RFC 8698, equation (3)",
        ),
        Parameter::number(
            "q_bound",
            Unit::Seconds,
            0.05,
            [0.0, 10.0],
            "QBOUND, upper bound of the delay that ramping up causes",
            "RFC 8698, equation (3)",
        ),
        Parameter::number(
            "multiloss",
            Unit::One,
            7.0,
            [0.0, 1e6],
            "MULTILOSS, average loss intervals for which delay is warped after a loss",
            "RFC 8698, section 4.2",
        ),
        Parameter::number(
            "q_th",
            Unit::Seconds,
            0.05,
            [1e-6, 10.0],
            "QTH, queueing delay above which delay is warped",
            "RFC 8698, equation (1)",
        ),
        Parameter::number(
            "lambda",
            Unit::One,
            0.5,
            [0.0, 100.0],
            "LAMBDA, exponent of the warping",
            "RFC 8698, equation (1)",
        ),
        Parameter::number(
            "loss_ref",
            Unit::One,
            0.01,
            [1e-9, 1.0],
            "PLRREF, reference share of lost packets",
            "RFC 8698, equation (2)",
        ),
        Parameter::number(
            "mark_ref",
            Unit::One,
            0.01,
            [1e-9, 1.0],
            "PMRREF, reference share of marked packets",
            "RFC 8698, equation (2)",
        ),
        Parameter::number(
            "loss_delay",
            Unit::Seconds,
            0.01,
            [0.0, 10.0],
            "DLOSS, delay that the reference share of losses counts for",
            "RFC 8698, equation (2)",
        ),
        Parameter::number(
            "mark_delay",
            Unit::Seconds,
            0.002,
            [0.0, 10.0],
            "DMARK, delay that the reference share of marks counts for",
            "RFC 8698, equation (2)",
        ),
        Parameter::number(
            "alpha",
            Unit::One,
            0.1,
            [1e-6, 1.0],
            "ALPHA, weight of an update in the shares of losses and marks",
            "RFC 8698, section 5.1",
        ),
        ECN,
    ],
    observables: Observables::of::<Nada>(),
    linearisation: Linearisation::Unsupported("its signal is made of samples of the last half second"),
    real: &build::<f64, Nada>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// Taps of the minimum filter of queueing delays (section 5.1.1).
const TAPS: usize = 15;
/// Updates that a window of time has at the most.
const UPDATES: usize = 64;
/// Weights of the last loss intervals (RFC 5348, section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

#[derive(Debug)]
struct Nada {
    least: f64,
    most: f64,
    /// PRIO XREF RMAX [s bit/s].
    aim: f64,
    kappa: f64,
    eta: f64,
    tau: f64,
    delta: f64,
    log_window: f64,
    q_eps: f64,
    filter: f64,
    gamma_max: f64,
    q_bound: f64,
    multiloss: f64,
    q_th: f64,
    lambda: f64,
    loss_ref: f64,
    mark_ref: f64,
    loss_delay: f64,
    mark_delay: f64,
    alpha: f64,
    ecn: bool,
    packet_bits: f64,
}

/// The counts between two updates.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counts {
    since_s: f64,
    delivered: f64,
    marked: f64,
    lost: f64,
    /// The largest queueing delay [s].
    delay_s: f64,
}

impl Counts {
    const NONE: Self = Self { since_s: 0.0, delivered: 0.0, marked: 0.0, lost: 0.0, delay_s: 0.0 };

    fn plus(self, other: &Self) -> Self {
        Self {
            since_s: self.since_s,
            delivered: self.delivered + other.delivered,
            marked: self.marked + other.marked,
            lost: self.lost + other.lost,
            delay_s: Number::max(self.delay_s, other.delay_s),
        }
    }
}

/// The counts of the last time, an update each, the oldest first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Log {
    kept: [Counts; UPDATES],
    len: usize,
}

impl Log {
    const START: Self = Self { kept: [Counts::NONE; UPDATES], len: 0 };

    /// One more update; all that was counted in the last `window_s`, and what was counted together with some of that.
    fn take(&mut self, counts: Counts, now_s: f64, window_s: f64) -> Counts {
        let ends = self.kept[..self.len].iter().skip(1).map(|kept| kept.since_s).chain([counts.since_s]);
        // What ends a window ago is over, however times were rounded.
        let over = ends.take(self.len).take_while(|end_s| now_s - end_s > window_s - 1e-9).count();
        let over = core::cmp::max(over, (self.len + 1).saturating_sub(UPDATES));
        self.kept.copy_within(over..self.len, 0);
        self.len -= over;
        self.kept[self.len] = counts;
        self.len += 1;
        self.kept[1..self.len].iter().fold(self.kept[0], Counts::plus)
    }
}

/// Loss intervals, as RFC 5348 has them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Intervals {
    /// Packets between two loss events, the latest first, and how many there were.
    closed: [f64; WEIGHTS.len()],
    len: usize,
    /// Packets since the last event.
    open: f64,
    /// The time of that; none before the first.
    last_s: Option<f64>,
}

impl Intervals {
    const START: Self = Self { closed: [0.0; WEIGHTS.len()], len: 0, open: 0.0, last_s: None };

    fn lose(&mut self, now_s: f64, rtt_s: f64) {
        if self.last_s.is_some_and(|last_s| now_s - last_s < rtt_s) {
            return;
        }
        self.last_s = Some(now_s);
        self.closed.rotate_right(1);
        self.closed[0] = self.open;
        self.len = core::cmp::min(self.len + 1, WEIGHTS.len());
        self.open = 0.0;
    }

    /// The average interval, without the open one; zero before the first loss [packets].
    fn average(&self) -> f64 {
        let weighed = self.closed[..self.len].iter().zip(WEIGHTS).map(|(interval, weight)| interval * weight);
        weighed.sum::<f64>() / Number::max(WEIGHTS[..self.len].iter().sum::<f64>(), 1.0)
    }

    /// True if the last loss is no longer ago than so many average intervals.
    fn recent(&self, multiloss: f64) -> bool {
        self.len > 0 && self.open < multiloss * self.average()
    }
}

numbers! {
    /// The state of NADA.
    struct State {
        /// r_ref of RFC 8698: the rate at which the application sends, on the wire.
        rate: "bit/s" as "Reference rate, r_ref",
        /// x_curr of RFC 8698: queueing delay, with what losses and marks count for.
        signal: "s" as "Congestion signal, x_curr",
        /// Queueing delay, the smallest of the last samples.
        delay: "s" as "Queueing delay, d_queue",
        /// Smoothed share of lost packets.
        loss: "1" as "Share of lost packets, p_loss",
        /// Smoothed share of marked packets.
        mark: "1" as "Share of marked packets, p_mark",
        /// Rate at which packets were delivered in the last time.
        received: "bit/s" as "Receiving rate, r_recv",
    }
    frozen {
        /// The last samples of the queueing delay with their times, the index of the next one, and how many there are.
        samples: [(f64, f64); TAPS],
        next: usize,
        len: usize,
        /// Since the last update, and before.
        counts: Counts,
        log: Log,
        intervals: Intervals,
        /// True after the first packet.
        began: bool,
    }
}

impl State<f64> {
    fn sample(&mut self, now_s: f64, delay_s: f64) {
        self.samples[self.next] = (now_s, delay_s);
        self.next = (self.next + 1) % TAPS;
        self.len = core::cmp::min(self.len + 1, TAPS);
        self.counts.delay_s = Number::max(self.counts.delay_s, delay_s);
    }

    /// The smallest of the last samples, none older than `filter_s` but the latest.
    fn filtered(&self, filter_s: f64) -> f64 {
        let (latest_s, latest) = self.samples[(self.next + TAPS - 1) % TAPS];
        let young = self.samples[..self.len].iter().filter(|(at_s, _)| latest_s - at_s <= filter_s);
        young.fold(latest, |least, (_, delay_s)| Number::min(least, *delay_s))
    }
}

impl Nada {
    /// Equation (1) [s].
    fn warped(&self, delay_s: f64) -> f64 {
        if delay_s < self.q_th {
            delay_s
        } else {
            self.q_th * libm::exp(-self.lambda * (delay_s - self.q_th) / self.q_th)
        }
    }

    /// Equation (2), of a delay that is warped where it is to be [s].
    fn signal(&self, delay_s: f64, loss: f64, mark: f64) -> f64 {
        let (loss, mark) = (loss / self.loss_ref, mark / self.mark_ref);
        delay_s + self.mark_delay * mark * mark + self.loss_delay * loss * loss
    }

    /// Equation (3).
    fn gamma(&self, rtt_s: f64) -> f64 {
        Number::min(self.gamma_max, self.q_bound / (rtt_s + self.delta + self.filter))
    }

    /// Equations (5) to (7): the rate after `passed_s` with the signal `now`, and `before` the update before.
    fn gradual(&self, rate: f64, passed_s: f64, now: f64, before: f64) -> f64 {
        let (offset, change) = (now - self.aim / rate, now - before);
        rate - self.kappa * (passed_s / self.tau) * (offset / self.tau) * rate
            - self.kappa * self.eta * (change / self.tau) * rate
    }

    fn update(&self, s: &mut State<f64>, now_s: f64, rtt_s: f64) {
        let passed_s = now_s - s.counts.since_s;
        let counts = core::mem::replace(&mut s.counts, Counts { since_s: now_s, ..Counts::NONE });
        let all = s.log.take(counts, now_s, self.log_window);
        let packets = all.delivered + all.lost;
        if packets > 0.0 {
            s.loss += self.alpha * (all.lost / packets - s.loss);
            s.mark += self.alpha * (all.marked / packets - s.mark);
        }
        s.received = all.delivered * self.packet_bits / (now_s - all.since_s);
        s.delay = s.filtered(self.filter);
        let delay = if s.intervals.recent(self.multiloss) { self.warped(s.delay) } else { s.delay };
        let before = core::mem::replace(&mut s.signal, self.signal(delay, s.loss, s.mark));
        let rate = if all.lost == 0.0 && all.delay_s < self.q_eps {
            Number::max(s.rate, (1.0 + self.gamma(rtt_s)) * s.received) // (4)
        } else {
            self.gradual(s.rate, passed_s, s.signal, before)
        };
        s.rate = Number::clamp(rate, self.least, self.most);
    }

    fn on_ack(&self, s: &mut State<f64>, now_s: f64, ack: &AckSample, seen: &Observation<f64>) {
        if let Some(rtt) = ack.rtt {
            s.sample(now_s, rtt.seconds() - seen.base_rtt_s);
        }
        s.intervals.open += f64::from(ack.packets);
        if !s.began {
            // What came before it is not known, so that it belongs to no interval.
            (s.began, s.counts.since_s) = (true, now_s);
            return;
        }
        s.counts.delivered += f64::from(ack.packets);
        s.counts.marked += f64::from(ack.marked);
        if s.len > 0 && now_s - s.counts.since_s >= self.delta {
            self.update(s, now_s, seen.rtt_s);
        }
    }
}

impl Law<f64> for Nada {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (least, most) = (values.number("min_rate"), values.number("max_rate"));
        if least > most {
            return Err(format!("`min_rate`, {least} bit/s, must not exceed `max_rate`, {most} bit/s"));
        }
        let (delta, log_window) = (values.number("delta"), values.number("log_window"));
        if log_window < delta || log_window > delta * (UPDATES - 1) as f64 {
            return Err(format!("`log_window` is {log_window} s; it must be 1 to {} times `delta`", UPDATES - 1));
        }
        Ok(Self {
            least,
            most,
            aim: values.number("priority") * values.number("x_ref") * most,
            kappa: values.number("kappa"),
            eta: values.number("eta"),
            tau: values.number("tau"),
            delta,
            log_window,
            q_eps: values.number("q_eps"),
            filter: values.number("filter"),
            gamma_max: values.number("gamma_max"),
            q_bound: values.number("q_bound"),
            multiloss: values.number("multiloss"),
            q_th: values.number("q_th"),
            lambda: values.number("lambda"),
            loss_ref: values.number("loss_ref"),
            mark_ref: values.number("mark_ref"),
            loss_delay: values.number("loss_delay"),
            mark_delay: values.number("mark_delay"),
            alpha: values.number("alpha"),
            ecn: values.switch("ecn"),
            packet_bits: context.packet.bits(),
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            rate: self.least,
            signal: 0.0,
            delay: 0.0,
            loss: 0.0,
            mark: 0.0,
            received: 0.0,
            samples: [(0.0, 0.0); TAPS],
            next: 0,
            len: 0,
            counts: Counts::NONE,
            log: Log::START,
            intervals: Intervals::START,
            began: false,
        }
    }

    fn on_event(&self, s: &mut State<f64>, event: Event, _: &Observation<f64>) {
        if event == Event::Timeout {
            s.rate = self.least;
        }
    }

    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, seen: &Observation<f64>) {
        let now_s = delivery.now.seconds();
        match &delivery.event {
            DeliveryEvent::Ack(ack) => self.on_ack(s, now_s, ack, seen),
            DeliveryEvent::Lost(_) => {
                s.counts.lost += 1.0;
                s.intervals.lose(now_s, seen.rtt_s);
            }
            _ => {}
        }
    }

    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: NO_WINDOW, gap_s: self.packet_bits / s.rate }
    }

    fn requirements(&self) -> Requirements {
        let marks = if self.ecn { Marks::Counted } else { Marks::Ignored };
        let spared = Spared { transmissions: true, uniform: true, acks: true, timing: true };
        Requirements { marks, delivery: true, spared, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests;
