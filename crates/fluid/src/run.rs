//! The fluid world over time: the scenario's laws, hosted by flows of fluid with every delay in place.
//!
//! The sent packets of a flow are a curve `N(t)`. A packet sent at `a` is acknowledged at `t = a + D(a)`, with the waits that it
//! met in `D`; so `N(a(t))` is acknowledged at `t`, and a sender that its window limits obeys `N(t) = w(t) + N(a(t))`,
//! which is `x = s w / (1 - exp(-s tau))` near an equilibrium. The effect of packets on a law is the mean over outcomes, as in
//! the linearisation; periods and rounds are events of the law itself, at their own times. Queues and prices stop at zero
//! exactly.
//!
//! Steps are short against every way back, so that within one all signals that arrive are known. Curves are straight
//! within a step: the order is two. A group's flows of one round trip are a few cohorts by their start. A cohort whose steps fit
//! several times into every way back goes so many in a row before the queues follow: one that is taken from memory once for ten
//! steps costs a fraction of one that is taken ten times.
//!
//! Where customers enter, conditioners colour packets, and the queue of each colour leaves in proportion to it.
//! A law that estimates its bottleneck knows it as it is, and begins past slow start.
//!
//! It **does not** count acknowledgements as load, the one cut that a host lets through in a round, slow start's
//! overshoot within a step, or the timing of single packets.

mod arithmetic;
mod cohort;
mod conditioner;
mod estimates;
mod further;
mod host;
mod incoming;
mod part;
mod queue;
mod report;
mod sent;
mod state;
mod way;

use penstock_law::Values;
use penstock_law::aqm::{self, AQMS};
use penstock_law::quantity::Time;
use penstock_scenario::model::{
    Arithmetic, Buffer, Chosen, EcnOnLine, Group, Limit, LossSpacing, Pacing, Scenario, Scheduler, Service,
};
use penstock_scenario::world::{Run, RunError, Watcher, World, with_one_flow_each};

use crate::source::Clocking;
use cohort::{Cohort, Fault};
use conditioner::Conditioner;
use further::Further;
use host::Host;
use incoming::Incoming;
pub use part::Part;
use part::{Phase, Senders, Task};
use queue::Queue;
use way::Ways;

/// Where scenarios run as fluid.
#[derive(Debug, Clone, Default)]
pub struct Fluid {
    /// The method of integration.
    pub method: Method,
}

/// The method of a run over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// The step at most [s]; none is a twentieth of the shortest round trip.
    pub step_s: Option<f64>,
    /// Whether delays are those of propagation alone, as in fast-aqm (1) and (2), and not also the waits that a packet
    /// meets.
    pub frozen_delays: bool,
    /// Whether laws observe estimates (the marks of the last packets, an average of round trips, the smallest round trip so
    /// far) or the truth.
    pub estimators: bool,
    /// Clocking of packets. None is as hosts do it: at the law's gap, and never more in flight than its window.
    pub clocking: Option<Clocking>,
    /// Whether the one cut that a host lets through in a round is counted: of marks and losses that come with a chance `p`
    /// a packet, `p / (1 + w p)` are cuts then. The linearisation has all of them, and so has the usual run.
    pub one_cut_a_round: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self { step_s: None, frozen_delays: false, estimators: true, clocking: None, one_cut_a_round: false }
    }
}

/// Steps a shortest round trip.
const STEPS_A_TRIP: f64 = 20.0;

/// More steps than that are refused.
const MOST_STEPS: f64 = 1e8;

/// Cohorts of flows with one round trip at most, and round trips of one group beyond which neighbours are averaged.
const COHORTS: usize = 8;
const ROUND_TRIPS: usize = 64;

/// Steps of cohorts between two words to the watcher, or one block: a tenth of a second or so.
const STEPS_UNWATCHED: u64 = 100_000;

/// Steps in a row that a sender takes, at most.
const STEPS_IN_A_ROW: usize = 16;

/// A fluid network while it runs.
pub(crate) struct Network {
    queues: Vec<Queue>,
    /// The entries of customers that have a conditioner.
    conditioners: Vec<Conditioner>,
    /// In the order of their groups.
    cohorts: Vec<Cohort>,
    /// One of each group.
    hosts: Vec<Host>,
    /// Of all groups in their order; several where they may advance side by side.
    senders: Vec<Senders>,
    incoming: Incoming,
}

/// Calls [`Part::advance`] of each part once, in any order or side by side. A part that is left out or comes twice spoils the numbers. It
/// is called for each few steps, where there is work for two threads or more.
pub type Crew<'a> = dyn FnMut(&mut [Part<'_>]) + 'a;

impl World for Fluid {
    fn name(&self) -> &'static str {
        "fluid"
    }

    fn run(&self, scenario: &Scenario, watcher: &mut dyn Watcher) -> Result<Run, RunError> {
        self.run_in_parts(scenario, watcher, 1, &mut |_| {})
    }

    fn refusals(&self, scenario: &Scenario) -> Vec<String> {
        let one = with_one_flow_each(scenario);
        let built = build(&one, &self.method, 1).and_then(|network| steps(&one, &network, &self.method));
        built.map_or_else(RunError::reasons, |_| Vec::new())
    }
}

impl Fluid {
    /// Number of parts at most into which the senders of a scenario are divided, of so many `requested`: no more than it has groups.
    ///
    /// # Errors
    /// Why they are not divided, where more than one is requested.
    pub fn parts(scenario: &Scenario, requested: usize) -> Result<usize, &'static str> {
        if requested < 2 {
            return Ok(1);
        }
        if scenario.customers.values().any(|customer| customer.conditioner.is_some()) {
            return Err("it has conditioners, which add up the packets of their customers in each step");
        }
        match scenario.groups.len() {
            0 | 1 => Err("its flows are one group"),
            groups => Ok(groups.min(requested)),
        }
    }

    /// The same as [`World::run`], bit for bit, with the senders in as many parts as [`Fluid::parts`] gives, or one. `crew` advances them
    /// where there are several.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_in_parts(
        &self,
        scenario: &Scenario,
        watcher: &mut dyn Watcher,
        parts: usize,
        crew: &mut Crew<'_>,
    ) -> Result<Run, RunError> {
        let parts = Self::parts(scenario, parts).unwrap_or(1);
        through(build(scenario, &self.method, parts)?, scenario, &self.method, watcher, crew)
    }
}

/// The whole time of the scenario.
fn through(
    mut network: Network,
    scenario: &Scenario,
    method: &Method,
    watcher: &mut dyn Watcher,
    crew: &mut Crew<'_>,
) -> Result<Run, RunError> {
    let (step, steps) = steps(scenario, &network, method)?;
    let mut report = report::Report::new(scenario, step);
    let (block, onward) = network.begin(steps, step);
    report.take(0, &mut network);
    let watched = (STEPS_UNWATCHED / network.cohorts.len().max(1) as u64).clamp(1, 512);
    let (mut done, mut watch) = (0, watched);
    while done < steps {
        let until = (done + block).min(report.next(done)).min(steps);
        network.advance(done, until, onward, step, crew);
        if let Some(fault) = network.fault(scenario) {
            return Err(fault);
        }
        done = until;
        report.take(done, &mut network);
        if done >= watch {
            watch += watched;
            if !watcher.progress(done as f64 / steps as f64) {
                return Err(RunError::Stopped);
            }
        }
    }
    Ok(report.finish(&network))
}

impl Network {
    /// Makes space for so many steps. How many of them senders can take before the queues do, and how many arrivals behind
    /// the first queues.
    fn begin(&mut self, steps: u64, step: f64) -> (u64, u64) {
        let block = self.block(step);
        for queue in &mut self.queues {
            queue.begin(steps as usize, step);
        }
        self.incoming = Incoming::new(self.queues.len(), block as usize);
        for conditioner in &mut self.conditioners {
            conditioner.begin(steps as usize, step);
        }
        for Senders { cohorts, ways, further, .. } in &mut self.senders {
            let cohorts = &mut self.cohorts[cohorts.clone()];
            (ways.step, ways.steps_a_second) = (step, 1.0 / step);
            for cohort in &mut *cohorts {
                cohort.way.begin(ways);
            }
            *further = Further::of(ways, cohorts.iter().map(|c| &c.way), self.queues.len());
        }
        (block, self.onward())
    }

    /// All cohorts, each with the links of its part.
    fn with_ways(&self) -> impl Iterator<Item = (&Cohort, &Ways)> {
        self.senders
            .iter()
            .flat_map(|senders| self.cohorts[senders.cohorts.clone()].iter().map(|cohort| (cohort, &senders.ways)))
    }

    /// The output of a law that no host can act on, if there is one.
    fn fault(&self, scenario: &Scenario) -> Option<RunError> {
        let error = |whose: String, law: &'static str, at_s: f64, output: String| RunError::Law {
            whose,
            law,
            at: Time::from_seconds(at_s),
            output,
        };
        let of_cohort = |cohort: &Cohort| {
            let (at_s, fault) = **cohort.fault.as_ref()?;
            let (name, group) = scenario.groups.get_index(cohort.group)?;
            let output = match fault {
                Fault::Output(output) => {
                    format!("a window of {} packets and a gap of {} s", output.window, output.gap_s)
                }
                Fault::State(number) => format!("a state with `{number}` = NaN"),
            };
            let flow = match cohort.members[..] {
                [one] => format!("flow {one}"),
                _ => format!("flow {} and {} more", cohort.members[0], cohort.members.len() - 1),
            };
            Some(error(format!("flows.{name}, {flow}"), group.cc.law.name, at_s, output))
        };
        let of_link = |(at, queue): (usize, &Queue)| {
            let (at_s, (name, link)) = (queue.unsound_s?, scenario.links.get_index(at)?);
            let output = "a probability or a price of NaN".to_owned();
            Some(error(format!("links.{name}.aqm"), link.aqm.law.name, at_s, output))
        };
        let of_conditioner = |conditioner: &Conditioner| {
            let (at_s, (name, customer)) =
                (conditioner.unsound_s?, scenario.customers.get_index(conditioner.customer)?);
            let law = customer.conditioner.as_ref()?.law.name;
            Some(error(
                format!("customers.{name}.conditioner"),
                law,
                at_s,
                "a probability or a level of NaN".to_owned(),
            ))
        };
        let links = || self.queues.iter().enumerate().find_map(of_link);
        self.cohorts
            .iter()
            .find_map(of_cohort)
            .or_else(links)
            .or_else(|| self.conditioners.iter().find_map(of_conditioner))
    }

    /// The congestion window of a cohort's flows [packets].
    fn window(&self, cohort: usize) -> f64 {
        let cohort = &self.cohorts[cohort];
        cohort.window(&self.hosts[cohort.group])
    }

    /// Whether a cohort's flows are acknowledged.
    fn is_reliable(&self, cohort: usize) -> bool {
        self.hosts[self.cohorts[cohort].group].needs.reliable
    }

    /// The cohorts of a group.
    fn of_group(&self, group: usize) -> core::ops::Range<usize> {
        let begin = |group: usize| self.cohorts.partition_point(|cohort| cohort.group < group);
        begin(group)..begin(group + 1)
    }

    /// Number of steps that senders can take before the queues do: signals within so many were decided before them.
    /// Conditioners need all that their customers send, step by step.
    fn block(&self, step: f64) -> u64 {
        if !self.conditioners.is_empty() {
            return 1;
        }
        let back = self.with_ways().map(|(c, ways)| c.way.shortest_way_back_s(ways)).fold(f64::INFINITY, f64::min);
        ((back / step * (1.0 - 1e-9)) as u64).clamp(1, STEPS_IN_A_ROW as u64)
    }

    /// Number of steps for which arrivals at the queues behind the first can be computed before the queues follow.
    fn onward(&self) -> u64 {
        let onward = self.with_ways().map(|(c, ways)| c.way.onward(ways, &self.queues));
        onward.fold(STEPS_IN_A_ROW as u64, u64::min).max(1)
    }

    /// The steps after `done`, up to `until`; so many in a row that go on from a queue to the next.
    fn advance(&mut self, done: u64, until: u64, onward: u64, step: f64, crew: &mut Crew<'_>) {
        let span = |k: u64| (k as f64 * step, (k + 1) as f64 * step);
        let times: Vec<f64> = (done..=until).map(|k| k as f64 * step).collect();
        // Who arrives where: senders have moved, the queues not yet.
        self.go(Phase::Sending { times: &times, step }, crew);
        if !self.conditioners.is_empty() {
            let Self { cohorts, senders, conditioners, .. } = self;
            for senders in senders {
                cohorts[senders.cohorts.clone()].iter().for_each(|c| c.way.enter(&senders.ways, conditioners));
            }
        }
        let mut begin = done;
        while begin < until {
            let end = until.min(begin + onward);
            let (slot, ends) = ((begin - done) as usize, &times[(begin - done) as usize + 1..=(end - done) as usize]);
            for conditioner in &mut self.conditioners {
                let (from, to) = span(begin);
                conditioner.advance(from, to);
            }
            self.go(Phase::Passing { ends, slot }, crew);
            for (link, queue) in self.queues.iter_mut().enumerate() {
                for k in begin..end {
                    let (from, to) = span(k);
                    queue.advance(from, to, &self.incoming.take(link, (k - done) as usize));
                }
            }
            begin = end;
        }
    }

    /// All senders go through that phase. Their arrivals are added in the order of the cohorts, whichever of them is first.
    fn go(&mut self, phase: Phase<'_>, crew: &mut Crew<'_>) {
        let Self { queues, conditioners, cohorts, hosts, senders, incoming } = self;
        if let [senders] = &mut senders[..] {
            return Task { senders, cohorts, hosts, queues, conditioners, phase }.run(incoming);
        }
        let (mut cohorts, mut hosts) = (&mut cohorts[..], &mut hosts[..]);
        let mut tasks = Vec::with_capacity(senders.len());
        for senders in &mut *senders {
            let cohorts = cohorts.split_off_mut(..senders.cohorts.len()).unwrap_or_default();
            let hosts = hosts.split_off_mut(..senders.groups.len()).unwrap_or_default();
            tasks.push(Task { senders, cohorts, hosts, queues, conditioners, phase });
        }
        match &mut Part::of(tasks)[..] {
            [alone] => alone.advance(),
            parts => crew(parts),
        }
        for senders in senders {
            incoming.add_all(&mut senders.kept);
        }
    }
}

fn refused(what: String) -> RunError {
    RunError::Refused { world: "fluid", what: vec![what] }
}

/// The step [s] and how many.
fn steps(scenario: &Scenario, network: &Network, method: &Method) -> Result<(f64, u64), RunError> {
    let fastest = network.cohorts.iter().map(|c| c.way.base_rtt_s).fold(f64::INFINITY, f64::min);
    let back = network.with_ways().map(|(c, ways)| c.way.shortest_way_back_s(ways)).fold(f64::INFINITY, f64::min);
    if back <= 0.0 {
        return Err(refused(
            "the fluid model needs a delay on the reverse path: give the flows a round-trip time longer than that of \
             their links"
                .into(),
        ));
    }
    let most = f64::min(method.step_s.unwrap_or(fastest / STEPS_A_TRIP), back);
    let sample = scenario.sample.seconds();
    let step = sample / libm::ceil(sample / most - 1e-9);
    let steps = libm::round(scenario.duration.seconds() / step);
    if !(1.0..=MOST_STEPS).contains(&steps) {
        let longer = if method.step_s.is_some() { "a longer step" } else { "a longer round-trip time" };
        return Err(refused(format!("{steps:.0} steps of {step:e} s are too many: use {longer} or a shorter run")));
    }
    Ok((step, steps as u64))
}

/// Parts of a scenario that have no counterpart in the fluid, a sentence each.
fn unknown(scenario: &Scenario) -> Vec<String> {
    let mut refusals = Vec::new();
    let mut refuse = |whose: String, found: &[(bool, &str)]| {
        let found = found.iter().filter(|found| found.0);
        refusals.extend(found.map(|(_, what)| format!("{whose} has {what}, which fluid does not support")));
    };
    for (name, link) in &scenario.links {
        let found = [
            (link.service != Service::Constant, "a rate that changes"),
            (!link.delays.is_empty(), "a delay that changes"),
            (link.scheduler != Scheduler::Fifo, "a scheduler"),
            (link.loss_spacing != LossSpacing::Random, "losses that are evenly spaced"),
            (link.lose_transmission.is_some(), "a transmission that is lost"),
            (link.loss_burst.is_some(), "losses in bursts"),
            (link.reorder.is_some(), "packets that come late"),
            (link.policer.is_some(), "a policer"),
            (link.aggregation.is_some(), "packets that go together"),
            (link.duplicate > 0.0, "packets that arrive twice"),
            (link.ecn != EcnOnLine::Keep, "a line that changes the ECN field"),
            (link.arithmetic != Arithmetic::Real, "fixed-point arithmetic"),
        ];
        refuse(format!("the link `{name}`"), &found);
    }
    for (name, group) in &scenario.groups {
        let found = [
            (!group.steps.is_empty(), "parameters that change over time"),
            (group.packet.is_some(), "packets of another size"),
            (group.application.is_some(), "pages or video"),
            (group.repeats.is_some(), "repeated transfers"),
            (group.on_off.is_some(), "on-off periods"),
            (group.access.is_some(), "access links"),
            (group.jitter.is_some(), "jitter"),
            (group.ack_jitter.is_some(), "jitter of acknowledgements"),
            (group.loss > 0.0, "losses of its own"),
            (group.sender.rtt_noise.is_some(), "errors of round-trip samples"),
            (group.sender.tick.is_some(), "coarse clocks"),
            (group.sender.bottleneck.is_some(), "a bottleneck that the law knows (`bottleneck`)"),
            (group.sender.limit == Limit::Pace, "senders without a window (`limit = \"pace\"`)"),
            (group.spacing_jitter > 0.0, "packets spaced at random"),
            (group.sender.burst > 1, "bursts"),
            // The host of QUIC has it, and a fluid of its flows has no bursts.
            (
                group.sender.pacing == Pacing::Window && group.sender.profile.options().pacing != Pacing::Window,
                "pacing by the window",
            ),
            (group.sender.arithmetic != Arithmetic::Real, "fixed-point arithmetic"),
        ];
        refuse(format!("the group `{name}`"), &found);
    }
    if scenario.stop.is_some() {
        refusals.push("`stop` ends a run early, which fluid does not support".to_owned());
    }
    if scenario.dynamics.is_some() {
        refusals.push("`dynamics` needs rounds of packets, which fluid does not support".to_owned());
    }
    refusals
}

/// The network of a scenario, its senders in so many parts of about as much work.
fn build(scenario: &Scenario, method: &Method, parts: usize) -> Result<Network, RunError> {
    let mut refusals = unknown(scenario);
    let mut queues = Vec::with_capacity(scenario.links.len());
    for (name, link) in &scenario.links {
        let site =
            aqm::Context { rate: link.rate, delay: link.delay, packet: scenario.packet.wire, classes: Vec::new() };
        let buffer = match link.buffer {
            Buffer::Unlimited => f64::INFINITY,
            Buffer::Packets(packets) => packets as f64,
            Buffer::Bytes(bytes) => bytes.bits() / scenario.packet.wire.bits(),
        };
        let queue = Queue::new(name, &link.aqm, &site, buffer, link.loss).or_else(|what| {
            refusals.push(what);
            // Groups look their queues up by place, and have refusals of their own. Any queue will do for these.
            let plain = AQMS.iter().find(|law| law.name == "droptail").unwrap_or(link.aqm.law);
            let without = Chosen { law: plain, values: Values::defaults(plain.parameters) };
            Queue::new(name, &without, &site, buffer, link.loss)
        });
        queues.extend(queue.map_err(|what| refusals.push(what)));
    }
    let whole = queues.len() == scenario.links.len();
    let mut conditioners = Vec::new();
    for (at, (name, customer)) in scenario.customers.iter().enumerate() {
        if let Some(chosen) = &customer.conditioner {
            let conditioner = Conditioner::new(at, chosen, scenario.packet.wire);
            conditioners.push(conditioner.map_err(|e| refused(format!("customers.{name}.conditioner: {e}")))?);
        }
    }
    let (mut cohorts, mut hosts): (Vec<Cohort>, Vec<Host>) = Default::default();
    let begins = begins(scenario, parts);
    let (mut senders, mut own) = (Vec::new(), Senders::new(0, 0, method));
    for (at, (name, group)) in scenario.groups.iter().enumerate().filter(|_| whole) {
        if begins.get(senders.len()) == Some(&at) {
            senders.push(core::mem::replace(&mut own, Senders::new(at, cohorts.len(), method)));
        }
        let links: Vec<(usize, f64)> = group
            .forward
            .iter()
            .filter_map(|link| scenario.links.get_full(link))
            .map(|(link, _, l)| (link, l.delay.seconds()))
            .collect();
        let marking = links.iter().any(|(link, _)| queues[*link].marks());
        let mut host = match Host::new(scenario, name, group, marking, method) {
            Ok(host) => host,
            Err(what) => {
                refusals.push(what);
                continue;
            }
        };
        for flows in cohorts_of(&flows(scenario, name, group)) {
            let shared = (&mut host, &mut own.ways);
            let mut cohort = match Cohort::new(at, scenario, (name, group), flows, &links, &queues, shared) {
                Ok(cohort) => cohort,
                // Each cohort of a group would say the same.
                Err(what) => {
                    refusals.push(what);
                    break;
                }
            };
            let of = |conditioner: &Conditioner| scenario.customers[conditioner.customer].flows.contains(name);
            cohort.way.conditioner = conditioners.iter().position(of);
            cohorts.push(cohort);
        }
        host.complete();
        hosts.push(host);
        (own.groups.end, own.cohorts.end) = (at + 1, cohorts.len());
    }
    if !refusals.is_empty() {
        return Err(RunError::Refused { world: "fluid", what: refusals });
    }
    senders.push(own);
    Ok(Network { queues, conditioners, cohorts, hosts, senders, incoming: Incoming::default() })
}

/// The flows of a group, by round trip and then by start, each with its index in the group.
fn flows(scenario: &Scenario, name: &str, group: &Group) -> Vec<(Time, Time, u32)> {
    let rtts = group.rtts(name, scenario.seed).into_iter().zip(group.starts(name, scenario.seed));
    let mut flows: Vec<(Time, Time, u32)> = rtts.zip(0..).map(|((rtt, start), index)| (rtt, start, index)).collect();
    flows.sort_unstable();
    flows
}

/// The groups at which all parts but the first begin, for so many parts of about as much work, no more than there are groups: a link of a
/// cohort is as much as a cohort by itself.
fn begins(scenario: &Scenario, parts: usize) -> Vec<usize> {
    if parts < 2 {
        return Vec::new();
    }
    // Twice the work before the middle of each group.
    let mut twice = 0;
    let mut middles = Vec::with_capacity(scenario.groups.len());
    for (name, group) in &scenario.groups {
        let work = cohorts_of(&flows(scenario, name, group)).len() * (1 + group.forward.len());
        middles.push(twice + work);
        twice += 2 * work;
    }
    let mut begins = Vec::with_capacity(parts - 1);
    for part in 1..parts {
        let nearest = middles.partition_point(|middle| middle * parts <= twice * part);
        // Each part has a group.
        let least = begins.last().map_or(1, |begin| begin + 1);
        begins.push(nearest.clamp(least, middles.len() - (parts - part)));
    }
    begins
}

/// Splits flows, sorted by round trip and start, into cohorts.
fn cohorts_of(flows: &[(Time, Time, u32)]) -> Vec<&[(Time, Time, u32)]> {
    let by_rtt: Vec<&[(Time, Time, u32)]> = flows.chunk_by(|a, b| a.0 == b.0).collect();
    if by_rtt.len() > ROUND_TRIPS {
        return flows.chunks(flows.len().div_ceil(ROUND_TRIPS)).collect();
    }
    by_rtt
        .into_iter()
        .flat_map(|part| {
            let together = part.first().map(|f| f.1) == part.last().map(|f| f.1);
            part.chunks(if together { part.len() } else { part.len().div_ceil(COHORTS) })
        })
        .collect()
}

#[cfg(test)]
mod tests;
