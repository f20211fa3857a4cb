//! A run in steps, for a caller that steers senders from outside.

use penstock_law::quantity::{Bytes, Time};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{GoesOn, Run, RunError};

use crate::engine::Engine;
use crate::measure::{Measure, received, told};
use crate::plan;
use crate::report;
use crate::traffic::Now;

/// A run that stands still between steps.
///
/// A run in steps has the bits of [`Packets`](crate::Packets), whatever the steps. While it stands still, its caller
/// reads the counters of a flow, and changes the state of a law.
pub struct Simulation {
    scenario: Scenario,
    engine: Engine,
    measure: Box<Measure>,
    /// The index of the pause on the agenda.
    pause: u32,
    over: bool,
}

/// Counters of both ends of a flow since the start of the run, whichever end knows them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counters {
    /// Data packets sent, those sent again included.
    pub sent_packets: u64,
    /// Data packets sent again.
    pub resent_packets: u64,
    /// Data packets that were dropped or lost on the way. The sender learns of them later.
    pub lost_packets: u64,
    /// Data packets that came to the receiver, copies included.
    pub arrived_packets: u64,
    /// Those of them that were marked (CE).
    pub marked_packets: u64,
    /// User data that came in order.
    pub delivered: Bytes,
    /// User data that came, in order or not, each byte once.
    pub received: Bytes,
    /// Segments that the sender knows to have come, all before the first one missing.
    pub acknowledged_packets: u64,
    /// Round trips, summed [s], and how many.
    pub rtt_sum_s: f64,
    /// Number of those samples of the round trip.
    pub rtts: u64,
    /// Congestion events: losses or echoes with a response of the law, at most one a round.
    pub congestion_events: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets in flight now, as the sender counts them.
    pub in_flight_packets: u64,
    /// The window now [packets].
    pub window_packets: f64,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now()).field("over", &self.over).finish_non_exhaustive()
    }
}

impl Simulation {
    /// A run of `scenario` at time zero, before the first event.
    ///
    /// # Errors
    /// As [`World::run`](penstock_scenario::world::World::run) of a scenario that cannot run.
    pub fn new(scenario: Scenario) -> Result<Self, RunError> {
        let mut engine = plan::build(&scenario)?;
        engine.rare.push(Now::Pause);
        engine.agenda.extend();
        let pause = engine.numbering.rare + engine.rare.len() as u32 - 1;
        let measure = engine.start(false);
        Ok(Self { scenario, engine, measure, pause, over: false })
    }

    /// Has a step end with [`RunError::Stopped`] once `goes_on` is false: it is asked every millisecond or two. Nothing follows a
    /// step that ended so.
    pub fn stop_unless(&mut self, goes_on: GoesOn) {
        self.engine.goes_on = Some(goes_on);
    }

    /// The time that it has come to.
    pub fn now(&self) -> Time {
        Time(self.engine.now)
    }

    /// When it ends, at the latest.
    pub fn end(&self) -> Time {
        Time(self.engine.end)
    }

    /// Whether nothing is left to run.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The number of flows. They are counted over all groups, in the order of the scenario.
    pub fn flows(&self) -> usize {
        self.engine.flows.len()
    }

    /// The flows of a group, by its index in the scenario.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn flows_of(&self, group: usize) -> std::ops::Range<usize> {
        let (first, last) = self.engine.groups[group].flows;
        first as usize..last as usize
    }

    /// Runs until `time`, with all its events, or to the end.
    ///
    /// # Errors
    /// The output of a law is no valid number.
    pub fn run_until(&mut self, time: Time) -> Result<(), RunError> {
        if self.over || time.0 <= self.engine.now {
            return Ok(());
        }
        if time.0 > self.engine.end {
            return self.advance(|_| false);
        }
        self.engine.paused = false;
        self.engine.schedule(self.pause, time.0);
        self.advance(|engine| engine.paused)
    }

    /// Runs until each of these flows has come to the end of a round outside recovery, where laws get that event
    /// ([`Event::Round`](penstock_law::cc::Event::Round)), or to a timeout; or to the end. Nobody waits for a flow that has
    /// not begun or has nothing to send, unless this is so of all. Of a law that requires deliveries only timeouts count: it gets no rounds.
    ///
    /// # Errors
    /// As [`Simulation::run_until`].
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn run_round(&mut self, flows: &[usize]) -> Result<(), RunError> {
        if self.over {
            return Ok(());
        }
        let mut waiting: Vec<Waiting> = flows.iter().map(|at| Waiting::of(&self.engine, *at)).collect();
        let all = waiting.len();
        self.advance(|engine| {
            waiting.retain_mut(|flow| !flow.has_ended(engine));
            waiting.len() < all && waiting.iter().all(|flow| flow.is_idle(engine))
        })
    }

    fn advance(&mut self, stop: impl FnMut(&mut Engine) -> bool) -> Result<(), RunError> {
        let goes_on = self.engine.goes_on.clone();
        let mut watch = |_: f64| goes_on.as_ref().is_none_or(|goes_on| goes_on());
        self.over = self.engine.advance(&mut self.measure, &mut watch, stop)?;
        Ok(())
    }

    /// The counters of a flow.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn counters(&self, flow: usize) -> Counters {
        let all = told(&self.engine, flow);
        let data = &self.engine.flows[flow].data;
        Counters {
            sent_packets: all.sent.packets,
            resent_packets: all.sent.again,
            lost_packets: all.sent.lost,
            arrived_packets: all.got.packets,
            marked_packets: all.got.marked,
            delivered: Bytes(all.delivered),
            received: Bytes(received(&self.engine, flow)),
            acknowledged_packets: data.una,
            rtt_sum_s: all.sent.rtt as f64 * 1e-12,
            rtts: all.sent.rtts,
            congestion_events: all.sent.cuts,
            timeouts: u64::from(all.sent.timeouts),
            in_flight_packets: data.in_flight(),
            window_packets: self.engine.flows[flow].window,
        }
    }

    /// The numbers of the state of a flow's law, in the order of
    /// [`Instances::names`](penstock_law::law::Instances::names). The round-trip time that the law observes, the smallest one
    /// [s] and the price [s] follow.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn observables(&mut self, flow: usize) -> Vec<f64> {
        let Engine { flows, groups, .. } = &mut self.engine;
        let flow = &flows[flow];
        groups[flow.group as usize].windows.observables(flow.index as usize)
    }

    /// Shows the numbers of the state of a flow's law to `f`, one after the other, in the order of
    /// [`Instances::names`](penstock_law::law::Instances::names). `f` may change them. The flow then does what its law allows
    /// in that state, now.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn steer(&mut self, flow: usize, mut f: impl FnMut(&mut f64)) {
        self.engine.steer(flow, &mut f);
    }

    /// Runs to the end, and returns the results of the run.
    ///
    /// # Errors
    /// As [`World::run`](penstock_scenario::world::World::run).
    pub fn finish(mut self) -> Result<Run, RunError> {
        if !self.over {
            self.advance(|_| false)?;
        }
        let taken = self.engine.conclude(self.measure)?;
        report::report(&self.scenario, &self.engine, taken)
    }
}

/// A flow whose round is waited for, as it was when it was last looked at.
struct Waiting {
    at: usize,
    round: u64,
    timeouts: u32,
}

impl Waiting {
    fn of(engine: &Engine, at: usize) -> Self {
        let flow = &engine.flows[at];
        Self { at, round: flow.round, timeouts: flow.sent.timeouts }
    }

    /// A round has just ended outside recovery, or the timer has expired.
    fn has_ended(&mut self, engine: &Engine) -> bool {
        let flow = &engine.flows[self.at];
        if flow.round == self.round {
            return flow.sent.timeouts != self.timeouts;
        }
        // In recovery its law hears of no round.
        self.round = flow.round;
        !flow.data.recovering() && engine.groups[flow.group as usize].windows.known(flow.index as usize)
    }

    fn is_idle(&self, engine: &Engine) -> bool {
        let flow = &engine.flows[self.at];
        let more = flow.data.una < flow.data.limit && engine.now < flow.until;
        engine.now < flow.start || flow.data.idle() && !more
    }
}

impl Engine {
    fn steer(&mut self, at: usize, f: &mut dyn FnMut(&mut f64)) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let mut allowed = group.windows.change(flow.index as usize, f);
        if group.by_time {
            allowed = flow.by_time(Some(allowed)).unwrap_or(allowed);
        }
        if !allowed.is_sound() {
            return self.refuse(at, allowed);
        }
        if self.now < flow.start {
            // The window is counted from the start on.
            (flow.window, flow.window_since) = (allowed.window, flow.start);
        }
        if !flow.allow(allowed, group.paced, self.now) {
            return self.refuse(at, allowed);
        }
        if self.now > flow.start {
            self.send(at);
        }
    }
}
