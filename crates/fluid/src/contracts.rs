//! From a scenario with customers to the loop that each one's conditioner closes: packets out of profile are lost, its
//! senders slow down, and the bucket's level follows.
//!
//! It is the worst case of (3) of "Random Early Marking": the core takes all packets in profile and no others, so that
//! customers are independent, and no queue stands in it. Every property of a law comes from its code.

mod refused;

use penstock_law::cc;
use penstock_law::conditioner;
use penstock_law::conditioner::early_marking::Aggregate;
use penstock_scenario::model::Scenario;
use serde::Serialize;

use crate::analysis::bench::{self, Class};
use crate::analysis::{LoopResult, Options, ROOTS, Root, StateNumber, around};
use crate::complex::Complex;
use crate::conditioner::{Conditioner, ConditionerEquilibrium, ConditionerResponse, Controller};
use crate::error::AnalysisError;
use crate::loop_model::LoopModel;
use crate::margin::{Margins, Span, Verdict, margins_and_locus};
use crate::phase;
use crate::roots::rightmost;
use crate::source::{Clocking, Demand, Flows, Signal, Source, SourceEquilibrium, SourceResponse};
use crate::theory::marking::MarkingLoop;
use refused::{counted, heard};

/// Logarithms of the odds between which an equilibrium is searched, and where the search begins: 0.02; 1e-7, 1 - 1e-7.
const BEGIN: f64 = -3.9;
const LEAST: f64 = -16.0;
const MOST: f64 = 16.0;

/// Analysis of a scenario's customers by the fluid world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contracts {
    /// The scenario's title.
    pub title: String,
    /// The time whose active flows were taken [s]; absent where all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_s: Option<f64>,
    /// The worst verdict of all loops, of the model that counts most.
    pub verdict: Verdict,
    /// The customer whose it is.
    pub limiting_customer: String,
    /// The customers that have a conditioner, in the order of the scenario.
    pub customers: Vec<CustomerLoop>,
    /// Assumptions of the analysis.
    pub assumptions: Vec<String>,
    /// Reasons for a reader to be careful.
    pub warnings: Vec<String>,
}

/// A customer, and the loop that its conditioner closes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CustomerLoop {
    /// Its name.
    pub name: String,
    /// Its conditioner.
    pub conditioner: &'static str,
    /// Committed rate of its contract [packets/s].
    pub committed_packets_per_s: f64,
    /// The bucket that it fills [packets].
    pub bucket_packets: f64,
    /// Why it has no loop; absent where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equilibrium: Option<ContractEquilibrium>,
}

/// A conditioner and its senders at equilibrium, and the loop near it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContractEquilibrium {
    /// Rate of its flows [packets/s].
    pub rate_packets_per_s: f64,
    /// Probability that a packet is out of profile.
    pub out_probability: f64,
    /// Rate in profile [packets/s].
    pub in_profile_packets_per_s: f64,
    /// Level of the bucket [packets].
    pub level_packets: f64,
    /// The law's state.
    pub state: Vec<StateNumber>,
    /// Its flows, by their round trips.
    pub classes: Vec<Sender>,
    /// The controller that its law is; absent where it is none of a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// The paper's own loop with that controller; absent where there is no such, or no flow that responds to losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<PaperLoop>,
    /// The loop through the laws, from the least to the most that is counted.
    pub models: Vec<LoopResult>,
    /// Distance to the nearest kink of its law, in the units of that comparison; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_kink: Option<f64>,
}

/// Flows of a customer's group with the same round trip, at equilibrium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sender {
    /// Its name: the group's, with an index where the group has several round trips.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Its law.
    pub cc: &'static str,
    /// Number of flows.
    pub count: u32,
    /// Round-trip time [s].
    pub rtt_s: f64,
    /// Rate of one flow [packets/s].
    pub rate_packets_per_s: f64,
    /// Window of one flow [packets]; absent where nobody acknowledges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_packets: Option<f64>,
}

/// The loop of "Random Early Marking" for the customer's own flows that respond to losses, their longest round trip and the
/// controller of its conditioner.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PaperLoop {
    /// Flows, N.
    pub flows: f64,
    /// The longest of their round trips, R [s].
    pub rtt_s: f64,
    /// Window of a flow that sends its part of the committed rate, W0 [packets].
    pub window_packets: f64,
    /// Probability of marking out then, (4); the model has no operating point where that is one or more.
    pub probability: f64,
    /// The pole of TCP, a [rad/s].
    pub pole_rad_per_s: f64,
    /// Modulus at the zero of (8) as printed [1/s].
    pub printed_gain_at_zero: f64,
    /// The same with the integrator that the bucket is.
    pub gain_at_zero: f64,
    /// Phase there, of the latter [degrees].
    pub phase_at_zero_deg: f64,
    /// Margins of the latter.
    pub margins: Margins,
}

/// Whether a customer of the scenario has a conditioner.
pub fn has_any(scenario: &Scenario) -> bool {
    scenario.customers.values().any(|customer| customer.conditioner.is_some())
}

/// Analyses the customers of a scenario: where each one's conditioner and senders settle, and the margins of their loop.
///
/// # Errors
/// No customer has a loop, and why the first has none.
pub fn analyze(scenario: &Scenario, options: &Options) -> Result<Contracts, AnalysisError> {
    let classes = bench::classes(scenario, options);
    let (mut customers, mut first_why) = (Vec::new(), None);
    let (mut assumptions, mut warnings) = (assumptions(), Vec::new());
    for (name, customer) in &scenario.customers {
        let Some(chosen) = &customer.conditioner else { continue };
        let own: Vec<&Class<'_>> =
            classes.iter().filter(|class| customer.flows.iter().any(|flows| flows == class.group_name)).collect();
        let equilibrium =
            Conditioner::new(chosen, &conditioner::Context { packet: scenario.packet.wire }).and_then(|conditioner| {
                for class in &own {
                    counted(class, scenario)?;
                    heard(class, scenario)?;
                }
                room(&own, scenario)?;
                Aggregated::new(scenario, name, conditioner, &own, options)?.analysed()
            });
        for class in own.iter().filter(|class| class.group.jitter.is_some()) {
            assumptions.push(format!(
                "the mean of the jitter of `{}` counts as part of the round-trip time; its variation is ignored",
                class.name
            ));
        }
        let contract = contract(chosen, scenario);
        let (equilibrium, why) = match equilibrium {
            Ok(equilibrium) => (Some(equilibrium), None),
            Err(error) => {
                let why = error.to_string();
                first_why.get_or_insert(error);
                (None, Some(why))
            }
        };
        if let Some(at) = &equilibrium {
            warnings.extend(remarks(name, at));
        }
        customers.push(CustomerLoop {
            name: name.clone(),
            conditioner: chosen.law.name,
            committed_packets_per_s: contract.0,
            bucket_packets: contract.1,
            why,
            equilibrium,
        });
    }
    let verdicts = customers.iter().filter_map(|customer| Some((customer, customer.equilibrium.as_ref()?.verdict())));
    let worst = verdicts.max_by_key(|(_, verdict)| match verdict {
        Verdict::Stable => 0,
        Verdict::Undecided => 1,
        Verdict::Unstable => 2,
    });
    let Some((worst, verdict)) = worst.map(|(customer, verdict)| (customer.name.clone(), verdict)) else {
        return Err(
            first_why.unwrap_or(AnalysisError::NoFlows { at_s: options.at.map(penstock_law::quantity::Time::seconds) })
        );
    };
    let limiting = limiting(&customers).unwrap_or(worst);
    assumptions.dedup();
    Ok(Contracts {
        title: scenario.title.clone(),
        at_s: options.at.map(penstock_law::quantity::Time::seconds),
        verdict,
        limiting_customer: limiting,
        customers,
        assumptions,
        warnings,
    })
}

/// The aggregate of a customer's contract for a designer of its conditioner: the committed rate, how many of its flows
/// respond to losses, and the longest of their round trips. None where there is no such customer, contract or flow.
pub fn aggregate(scenario: &Scenario, customer: &str) -> Option<Aggregate> {
    let of = scenario.customers.get(customer)?;
    let (packets_per_s, _) = contract(of.conditioner.as_ref()?, scenario);
    let site = cc::Context { packet: scenario.packet.wire, initial_window: 2.0, initial_ssthresh: f64::INFINITY };
    let (mut flows, mut rtt_s) = (0.0, 0.0);
    for class in bench::classes(scenario, &Options::default()) {
        let chosen = &class.group.cc;
        let answers = (chosen.law.real)(&chosen.values, &site).is_ok_and(|law| law.requirements().reliable);
        if answers && of.flows.iter().any(|flows| flows == class.group_name) {
            flows += f64::from(class.count);
            rtt_s = f64::max(rtt_s, class.rtt_s);
        }
    }
    (flows > 0.0).then_some(Aggregate { packets_per_s, flows, rtt_s })
}

/// The customer whose loop comes nearest to -1.
fn limiting(customers: &[CustomerLoop]) -> Option<String> {
    let distance = |at: &ContractEquilibrium| at.models.last().map_or(f64::INFINITY, |r| r.margins.least_distance);
    let unstable = |at: &ContractEquilibrium| at.verdict() != Verdict::Unstable;
    let ranked = customers.iter().filter_map(|customer| Some((customer, customer.equilibrium.as_ref()?)));
    let key = |at: &ContractEquilibrium| (unstable(at), distance(at));
    ranked
        .min_by(|(_, a), (_, b)| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
        .map(|(customer, _)| customer.name.clone())
}

/// Committed rate [packets/s], and the bucket [packets].
fn contract(
    chosen: &penstock_scenario::model::Chosen<penstock_law::conditioner::Conditioner>,
    scenario: &Scenario,
) -> (f64, f64) {
    let site = conditioner::Context { packet: scenario.packet.wire };
    let needs = (chosen.law.real)(&chosen.values, &site).map(|law| law.requirements());
    needs.map_or((f64::NAN, f64::NAN), |needs| {
        let packet = scenario.packet.wire;
        (needs.committed_bit_per_s / packet.bits(), needs.bucket_bytes * 8.0 / packet.bits())
    })
}

fn assumptions() -> Vec<String> {
    vec![
        "every packet out of profile is lost and every other packet arrives, the worst case of (3); customers do not \
         affect each other"
            .to_owned(),
        "the core has no queue: round-trip times are propagation delays, and a window spreads over one, `x = W/R`"
            .to_owned(),
        "every loss reduces the window (rate times probability reductions per second); hosts reduce at most once per \
         round trip"
            .to_owned(),
    ]
}

fn remarks(name: &str, at: &ContractEquilibrium) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(paper) = &at.paper {
        if paper.probability >= 1.0 {
            said.push(format!(
                "the flows of `{name}` have windows of {:.3} packets under the contract; (4) of the paper has no \
                 operating point for windows up to sqrt(2)",
                paper.window_packets
            ));
        } else if paper.window_packets < 4.0 {
            said.push(format!(
                "the flows of `{name}` have windows of {:.3} packets under the contract; timeouts dominate there, \
                 and the model is inaccurate",
                paper.window_packets
            ));
        }
    }
    for sender in at.classes.iter().filter(|sender| sender.window_packets.is_some()) {
        let losses = sender.window_packets.unwrap_or(0.0) * at.out_probability;
        if losses > 0.5 {
            said.push(format!(
                "`{}` has {losses:.3} losses per round; hosts reduce once per round, and the analysis ignores that \
                 limit",
                sender.name
            ));
        }
    }
    said
}

/// Refuses contracts for more than a link of theirs carries: packets in profile would be lost there too.
fn room(own: &[&Class<'_>], scenario: &Scenario) -> Result<(), AnalysisError> {
    for name in own.iter().flat_map(|class| &class.group.forward) {
        let crosses = |flows: &String| scenario.groups.get(flows).is_some_and(|group| group.forward.contains(name));
        let over = scenario.customers.values().filter(|customer| customer.flows.iter().any(crosses));
        let committed = over.filter_map(|customer| customer.conditioner.as_ref()).map(|c| contract(c, scenario).0);
        let carried = scenario.links[name].rate.packets_per_s(scenario.packet.wire);
        let too_much = committed.sum::<f64>() > carried * (1.0 + 1e-9);
        let what = "less capacity than the sum of the committed rates";
        bench::refuse(|| format!("the link `{name}`"), &[(too_much, what, "raise its rate, or commit less")])?;
    }
    Ok(())
}

/// A customer's flows and their conditioner.
struct Aggregated<'a> {
    customer: &'a str,
    conditioner: Conditioner,
    classes: &'a [&'a Class<'a>],
    sources: Vec<Source>,
}

impl<'a> Aggregated<'a> {
    fn new(
        scenario: &'a Scenario,
        customer: &'a str,
        conditioner: Conditioner,
        classes: &'a [&'a Class<'a>],
        options: &Options,
    ) -> Result<Self, AnalysisError> {
        let flows: u32 = classes.iter().map(|class| class.count).sum();
        let share = conditioner.committed_packets_per_s() / f64::from(flows.max(1));
        let sources = classes.iter().map(|class| {
            let jitter_s = class.group.jitter.map_or(0.0, |(a, b)| 0.5 * (a.seconds() + b.seconds()));
            let rtt_s = class.rtt_s + jitter_s;
            Source::new(&Flows {
                name: class.name.clone(),
                count: class.count,
                base_rtt_s: rtt_s,
                cc: &class.group.cc,
                // An equilibrium knows no start: begin near a fair share and past slow start.
                site: cc::Context {
                    packet: scenario.packet.wire,
                    initial_window: f64::max(share * rtt_s, 2.0),
                    initial_ssthresh: 1.0,
                },
                packets_per_ack: class.group.sender.delayed_ack.max(1),
                queue_marks: false,
                loss: 1.0 - class.group.forward.iter().map(|name| 1.0 - scenario.links[name].loss).product::<f64>(),
                clocking: Some(options.clocking.get(class.group_name).copied().unwrap_or(Clocking::Paced)),
                queue: None,
            })
        });
        Ok(Self { customer, conditioner, classes, sources: sources.collect::<Result<_, _>>()? })
    }

    /// Rate of all flows where so many packets are lost [packets/s]; none if without end.
    fn offered(&mut self, probability: f64) -> Result<Option<f64>, AnalysisError> {
        let mut sum = 0.0;
        for source in &mut self.sources {
            match source.demand(Signal { queueing_delay_s: 0.0, probability }, 1e12)? {
                Demand::Equilibrium(equilibrium) => sum += f64::from(source.count) * equilibrium.rate,
                Demand::Unbounded => return Ok(None),
            }
        }
        Ok(Some(sum))
    }

    /// Output of the conditioner beyond the probability at which the flows send so.
    fn excess(&mut self, probability: f64) -> Result<f64, AnalysisError> {
        let Some(rate) = self.offered(probability)? else { return Ok(1.0) };
        let out = self.conditioner.equilibrium(rate).map_or(0.0, |equilibrium| equilibrium.out);
        Ok(out - probability)
    }

    /// The probability at which the rate of the flows and the output of the conditioner agree.
    fn equilibrium(&mut self) -> Result<f64, AnalysisError> {
        // Along the logarithm of odds, which resolves both ends, in steps that leave each equilibrium near the last.
        let of = |x: f64| 1.0 / (1.0 + libm::exp(-x));
        let (mut low, mut high) = (BEGIN, BEGIN);
        if self.excess(of(BEGIN))? > 0.0 {
            while self.excess(of(high))? > 0.0 {
                (low, high) = (high, high + 0.5);
                if high > MOST {
                    return Ok(of(MOST));
                }
            }
        } else {
            while self.excess(of(low))? <= 0.0 {
                (low, high) = (low - 0.5, low);
                if low < LEAST {
                    let rate = self.offered(of(high))?.unwrap_or(f64::INFINITY);
                    let utilization = rate / self.conditioner.committed_packets_per_s();
                    return Err(AnalysisError::NoMarking { customer: self.customer.to_owned(), utilization });
                }
            }
        }
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.excess(of(middle))? > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(of(low))
    }

    fn analysed(mut self) -> Result<ContractEquilibrium, AnalysisError> {
        let probability = self.equilibrium()?;
        let signal = Signal { queueing_delay_s: 0.0, probability };
        let equilibria: Vec<SourceEquilibrium> =
            self.sources.iter_mut().map(|source| source.equilibrium(signal)).collect::<Result<_, _>>()?;
        let rate =
            self.sources.iter().zip(&equilibria).map(|(s, equilibrium)| f64::from(s.count) * equilibrium.rate).sum();
        let Some(equilibrium) = self.conditioner.equilibrium(rate) else {
            return Err(AnalysisError::NotSettled {
                class: self.customer.to_owned(),
                law: self.conditioner.law(),
                queueing_delay_s: 0.0,
                probability,
            });
        };
        let mut senders = Vec::new();
        for (source, at) in self.sources.iter_mut().zip(&equilibria) {
            let response = source.linearise(at, signal)?;
            senders.push((f64::from(source.count), at.rtt_s, response));
        }
        let conditioner = self.conditioner.linearise(&equilibrium);
        let nearest_kink = conditioner.nearest_kink;
        let controller = self.conditioner.controller(&equilibrium);
        let paper = controller.and_then(|controller| self.paper(&controller));
        let closed = Closed { conditioner, senders };
        let models = LoopModel::ALL.map(|model| closed.read(model)).into();
        Ok(ContractEquilibrium {
            rate_packets_per_s: rate,
            out_probability: equilibrium.out,
            in_profile_packets_per_s: rate * (1.0 - equilibrium.out),
            level_packets: equilibrium.level,
            state: self.state(&equilibrium),
            classes: self.senders(&equilibria),
            controller,
            paper,
            models,
            nearest_kink,
        })
    }

    fn state(&self, equilibrium: &ConditionerEquilibrium) -> Vec<StateNumber> {
        let names = self.conditioner.names().iter().zip(&equilibrium.state);
        names.map(|(&(name, unit), &value)| StateNumber { name, unit, value }).collect()
    }

    fn senders(&self, equilibria: &[SourceEquilibrium]) -> Vec<Sender> {
        let all = self.classes.iter().zip(&self.sources).zip(equilibria);
        all.map(|((class, source), at)| Sender {
            name: class.name.clone(),
            group: class.group_name.to_owned(),
            cc: source.law(),
            count: class.count,
            rtt_s: at.rtt_s,
            rate_packets_per_s: at.rate,
            window_packets: source.is_cut().then_some(at.window),
        })
        .collect()
    }

    /// The paper's loop, of the flows that respond to losses.
    fn paper(&self, controller: &Controller) -> Option<PaperLoop> {
        let answering = || self.sources.iter().filter(|source| source.is_cut());
        let flows: f64 = answering().map(|source| f64::from(source.count)).sum();
        let rtt_s = answering().map(|source| source.base_rtt_s).fold(0.0, f64::max);
        if flows == 0.0 {
            return None;
        }
        let aggregate = Aggregate { packets_per_s: self.conditioner.committed_packets_per_s(), flows, rtt_s };
        let marking = MarkingLoop { aggregate, gain: controller.gain, zero: controller.zero };
        let at_zero = Complex::axis(controller.zero);
        Some(PaperLoop {
            flows,
            rtt_s,
            window_packets: aggregate.window(),
            probability: marking.operating_probability(),
            pole_rad_per_s: aggregate.pole(),
            printed_gain_at_zero: marking.printed(at_zero).abs(),
            gain_at_zero: marking.with_bucket(at_zero).abs(),
            phase_at_zero_deg: marking.phase_deg(controller.zero),
            margins: marking.margins(),
        })
    }
}

impl ContractEquilibrium {
    /// The verdict of the model that counts most.
    pub fn verdict(&self) -> Verdict {
        self.models.last().map_or(Verdict::Undecided, |model| model.margins.verdict)
    }

    /// One model of the loop.
    pub fn model(&self, model: LoopModel) -> &LoopResult {
        self.models.iter().find(|r| r.model == model).expect("every model is there")
    }
}

/// The loop, opened at the arrivals of the conditioner.
struct Closed {
    conditioner: ConditionerResponse,
    /// Flows, round trip [s] and response.
    senders: Vec<(f64, f64, SourceResponse)>,
}

impl Closed {
    fn gain(&self, s: Complex, model: LoopModel) -> Complex {
        let slowed: Complex = self
            .senders
            .iter()
            .map(|(count, rtt_s, response)| response.at(s, model).1 * (-s * *rtt_s).exp() * -*count)
            .sum();
        self.conditioner.at(s, model) * slowed
    }

    fn read(&self, model: LoopModel) -> LoopResult {
        let trips = self.senders.iter().map(|(_, rtt_s, _)| *rtt_s);
        let (slowest_s, fastest_s) = (trips.clone().fold(0.0, f64::max), trips.fold(f64::INFINITY, f64::min));
        let gain = |s: Complex| self.gain(s, model);
        let (mut margins, locus) = margins_and_locus(&gain, Span { slowest_s, fastest_s });
        let root = |s: Complex| Root { re_per_s: s.re, im_rad_per_s: s.im };
        let roots = rightmost(&|s| vec![vec![gain(s)]], &[locus], slowest_s, ROOTS).into_iter().map(root).collect();
        if self.conditioner.runs_away || self.senders.iter().any(|(_, _, response)| response.runs_away) {
            // The count of encirclements supposes that each law alone is stable or at the border.
            margins.verdict = Verdict::Undecided;
        }
        if self.senders.iter().any(|(_, _, response)| response.is_ack_clocked()) {
            margins.delay_margin_s = None;
        }
        let middle = margins.gain_crossover_rad_per_s.or(margins.phase_crossover_rad_per_s).unwrap_or(1.0 / slowest_s);
        let nyquist = phase::at(&gain, &around(middle), slowest_s);
        LoopResult { model, margins, limiting_class: None, roots, nyquist: vec![nyquist] }
    }
}
