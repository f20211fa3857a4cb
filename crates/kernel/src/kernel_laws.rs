//! The laws that have a kernel implementation in C, and their words in vectors.
//!
//! One more is a header in `bpf/law`, an entry here, and a case in `bpf/replay.h` and its two users; words, events and
//! laws stand in the same order in both languages.

pub mod copa;
mod prague;

use penstock_law::aqm::avq::{self, Avq};
use penstock_law::aqm::bat::{self, Alone, Bat};
use penstock_law::aqm::clcc::{self, Clcc, Preemption, Samples, Steered, Sums};
use penstock_law::aqm::price::{self, Price};
use penstock_law::aqm::{self, AQMS, Class};
use penstock_law::cc::ccp::{self, Control};
use penstock_law::cc::fast::{self, Fast};
use penstock_law::cc::leadlag::{self, LeadLag};
use penstock_law::cc::{self, CONTROLLERS};
use penstock_law::conditioner::bucket::Bucket;
use penstock_law::conditioner::early_marking::{self, EarlyMarking};
use penstock_law::conditioner::srtcm::{self, SingleRate};
use penstock_law::conditioner::token_bucket::{self, TokenBucket};
use penstock_law::conditioner::trtcm::{self, TwoRate};
use penstock_law::conditioner::{self, CONDITIONERS, Colour, Conditioner};
use penstock_law::law::{Role, find};
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Fix, Law, Values};

/// Most parameters, words of state and measurements that a kernel implementation has.
pub const MOST: Words<usize> = Words { params: 28, state: 13, observation: 8 };

/// Something for each of the three kinds of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words<T> {
    /// Compiled parameters.
    pub params: T,
    /// State.
    pub state: T,
    /// Measurements.
    pub observation: T,
}

/// One call of a law: its inputs. Words that a law does not have are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Call {
    /// Which of [`Kernel implementation::events`].
    pub event: usize,
    /// Compiled parameters.
    pub params: [i64; MOST.params],
    /// The state before.
    pub state: [i64; MOST.state],
    /// The measurements.
    pub observation: [i64; MOST.observation],
}

/// A law with a kernel implementation.
#[derive(Debug)]
pub struct KernelLaw {
    /// Its name in scenarios and of its files: `bpf/law/NAME.h`, `vectors/NAME.txt`.
    pub name: &'static str,
    /// Names of the words, in order. A name in `_q32` is a number times 2^32, and in `_q62` times
    /// 2^62; others are counts of 32 bits, switches of 0
    /// or 1, or choices from 0.
    pub words: Words<&'static [&'static str]>,
    /// Names of the events, in order.
    pub events: &'static [&'static str],
    /// The program that replays it in the kernel.
    pub(crate) program: &'static str,
    rust: fn(&Call) -> [i64; MOST.state],
}

impl KernelLaw {
    /// The state after `call`, by the law in Rust over [`Fix<32>`].
    ///
    /// # Panics
    /// If the law has no such event; vectors that were parsed name events, so that they never panic here.
    pub fn in_rust(&self, call: &Call) -> [i64; MOST.state] {
        (self.rust)(call)
    }
}

/// Every law with a kernel implementation.
pub const KERNEL_LAWS: &[KernelLaw] = &[
    KernelLaw {
        name: "fast",
        words: Words {
            params: &["alpha_q32", "gamma_q32", "keep_q32", "step_q32", "surge_q32", "qdelay_q32"],
            state: &["window_q32", "before_q32", "fits_q32", "known_q32"],
            observation: &["base_rtt_q32", "rtt_q32"],
        },
        events: &["round", "cut", "timeout"],
        program: "run_fast",
        rust: fast,
    },
    KernelLaw {
        name: "leadlag",
        words: Words {
            params: &["step_q32", "weight_q32", "gain_q32", "cap_q32", "scale_q32", "least_q32", "most_q32", "ln2_q32"],
            state: &["window_q32", "target_q32", "xi_q32"],
            observation: &["price_q32", "base_rtt_q32", "packets", "rtt_q32"],
        },
        events: &["tick", "ack", "cut", "timeout", "tick_delay", "tick_linearised", "tick_linearised_delay"],
        program: "run_leadlag",
        rust: leadlag,
    },
    KernelLaw {
        name: "price",
        words: Words {
            params: &["target_q32", "period_q32", "ln_phi_q32"],
            state: &["price_q32", "probability_q32"],
            observation: &["arrived_q32", "capacity_q32"],
        },
        events: &["tick"],
        program: "run_price",
        rust: price,
    },
    KernelLaw {
        name: "avq",
        words: Words {
            params: &["gamma_q32", "alpha_q32", "buffer_q32", "mean_packet_q32", "by_size"],
            state: &["virtual_capacity_q32", "virtual_queue_q32", "last_q32", "overflowed"],
            observation: &["bytes", "capacity_q32", "now_q32"],
        },
        events: &["arrival"],
        program: "run_avq",
        rust: avq,
    },
    KernelLaw {
        name: "ccp",
        words: Words { params: &["kp_q32", "implicit"], state: CCP_STATE, observation: CCP_SEEN },
        events: &["ack", "cut", "timeout"],
        program: "run_ccp",
        rust: ccp::<false>,
    },
    KernelLaw {
        name: "ccpd",
        words: Words { params: &["kp_q32", "implicit", "kd_q32"], state: CCP_STATE, observation: CCP_SEEN },
        events: &["ack", "cut", "timeout"],
        program: "run_ccpd",
        rust: ccp::<true>,
    },
    KernelLaw {
        name: "bat",
        words: Words {
            params: BAT_PARAMS,
            state: &["transmit_q32", "offered_q32", "excess_q32", "queue_before_q32"],
            observation: &["queue_q32", "arrived_q32"],
        },
        events: &["tick"],
        program: "run_bat",
        rust: bat,
    },
    KernelLaw {
        name: "clcc",
        words: Words {
            params: CLCC_PARAMS,
            state: &[
                "transmit_q32",
                "offered_q32",
                "excess_q32",
                "queue_before_q32",
                "decrease_q32",
                "ratio_q32",
                "error_q32",
                "error_before_q32",
                "arrived_so_far_q32",
                "all_arrived_so_far_q32",
                "departed_so_far_q32",
                "all_departed_so_far_q32",
                "since",
            ],
            observation: &[
                "queue_q32",
                "arrived_q32",
                "capacity_q32",
                "departed_q32",
                "all_arrived_q32",
                "all_departed_q32",
            ],
        },
        events: &["tick"],
        program: "run_clcc",
        rust: clcc,
    },
    KernelLaw {
        name: "token-bucket",
        words: Words {
            params: &["rate_q32", "depth_q32"],
            state: &["tokens_q32", "at_q32", "colour"],
            observation: EDGE_SEEN,
        },
        events: EDGE_EVENTS,
        program: "run_token_bucket",
        rust: token_bucket,
    },
    KernelLaw {
        name: "srtcm",
        words: Words {
            params: &["rate_q32", "depth_q32", "excess_depth_q32"],
            state: &["tokens_q32", "excess_tokens_q32", "at_q32", "colour"],
            observation: EDGE_SEEN,
        },
        events: EDGE_EVENTS,
        program: "run_srtcm",
        rust: srtcm,
    },
    KernelLaw {
        name: "trtcm",
        words: Words {
            params: &["rate_q32", "depth_q32", "peak_rate_q32", "peak_depth_q32"],
            state: &["tokens_q32", "peak_tokens_q32", "at_q32", "colour"],
            observation: EDGE_SEEN,
        },
        events: EDGE_EVENTS,
        program: "run_trtcm",
        rust: trtcm,
    },
    KernelLaw {
        name: "early-marking",
        words: Words {
            params: &["rate_q32", "depth_q32", "reference_q32", "k1_q32", "k2_q32", "places"],
            state: &["tokens_q32", "probability_q62", "level_before_q32", "at_q32", "conforms"],
            observation: EDGE_SEEN,
        },
        events: EDGE_EVENTS,
        program: "run_early_marking",
        rust: early_marking,
    },
    KernelLaw {
        name: "copa",
        words: Words {
            params: &["delta_q32", "min_rtt_window_q32", "mode_window_q32", "nearly_empty_q32", "competitive"],
            state: &[
                "window_q32",
                "velocity_q32",
                "delta_q32",
                "min_rtt_q32",
                "standing_q32",
                "since_q32",
                "before_q32",
                "slow_start",
                "competes",
                "up",
                "steady",
                "lost",
            ],
            observation: &[
                "least_q32",
                "half_q32",
                "low_q32",
                "high_q32",
                "now_q32",
                "average_q32",
                "packets",
                "app_limited",
            ],
        },
        events: &["see", "ack", "round", "cut", "timeout"],
        program: "run_copa",
        rust: copa::copa,
    },
    KernelLaw {
        name: "prague",
        words: Words {
            params: &["g_q32", "virtual_rtt_q32", "transition_q32", "least_window_q32", "of_reductions"],
            state: &[
                "window_q32",
                "ssthresh_q32",
                "alpha_q32",
                "smoothed_rtt_q32",
                "acked_q32",
                "marked_q32",
                "rounds_q32",
                "since_q32",
                "reduced_at_q32",
                "met",
                "reduced",
            ],
            observation: &["now_q32", "rtt_q32", "packets", "marked"],
        },
        events: &["ack", "cut", "timeout"],
        program: "run_prague",
        rust: prague::prague,
    },
];

const CCP_STATE: &[&str] = &["window_q32", "ssthresh_q32", "slow_start", "recovers"];
const CCP_SEEN: &[&str] = &["buffer_q32", "level_q32", "in_flight_q32", "earlier_q32", "earlier_s_q32", "packets"];

const CLCC_PARAMS: &[&str] = &[
    "interval_q32",
    "coarse_q32",
    "low_q32",
    "high_q32",
    "gain_q32",
    "rate_q32",
    "floor_q32",
    "ceiling_q32",
    "increase_q32",
    "decrease_q32",
    "beta_near_q32",
    "beta_between_q32",
    "beta_far_q32",
    "edge_near_q32",
    "edge_far_q32",
    "b1_q32",
    "b2_q32",
    "period_q32",
    "left_q32",
    "least_others_q32",
    "share_q32",
    "reference_q32",
    "most_ratio_q32",
    "least_q32",
    "bound",
    "preemption",
    "steered",
    "intervals",
];
const EDGE_SEEN: &[&str] = &["bytes", "now_q32", "colour"];
const EDGE_EVENTS: &[&str] = &["arrival", "coloured"];
/// CLCC's inner law.
const BAT_PARAMS: &[&str] = CLCC_PARAMS.split_at(10).0;

/// The kernel implementation of the law `name`, if it has one.
pub fn kernel_law(name: &str) -> Option<&'static KernelLaw> {
    KERNEL_LAWS.iter().find(|kernel_law| kernel_law.name == name)
}

// The words of a vector replace what the registry's defaults compile to; where the law runs does not matter to them.
fn compiled<R: Role, L: Law<Fix<32>, Role = R>>(registry: &'static [Entry<R>], name: &str, site: &R::Context) -> L {
    let entry = find(registry, name).expect("a law of the registry");
    L::compile(&Values::defaults(entry.parameters), site).expect("defaults agree with each other")
}

const SENDER: cc::Context = cc::Context { packet: Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
const PORT: aqm::Context =
    aqm::Context { rate: Rate(1_000_000_000), delay: Time::ZERO, packet: Bytes(1500), classes: Vec::new() };

fn words<const N: usize>(words: [i64; N]) -> [i64; MOST.state] {
    std::array::from_fn(|at| words.get(at).copied().unwrap_or(0))
}

fn fast(call: &Call) -> [i64; MOST.state] {
    let [alpha, gamma, keep, step, surge, qdelay_s, ..] = call.params.map(Fix::<32>);
    let [base_rtt_s, rtt_s, ..] = call.observation.map(Fix);
    let entry = find(CONTROLLERS, "fast").expect("a law of the registry");
    let mut values = Values::defaults(entry.parameters);
    if surge != Fix(0) {
        let growth = entry.parameters.iter().find(|p| p.name == "start_growth").expect("a parameter of this law");
        values.set(growth, 2.0).expect("within its range");
    }
    let mut law: Fast<Fix<32>> = Fast::compile(&values, &SENDER).expect("defaults agree with each other");
    (law.alpha, law.gamma, law.keep) = (alpha, gamma, keep);
    if let Some(start) = &mut law.start {
        (start.step, start.surge, start.qdelay_s) = (step, surge, qdelay_s);
    }
    let [window, before, fits, known, ..] = call.state.map(Fix);
    let mut state = fast::State { window, before, fits, known };
    let event = [cc::Event::Round, cc::Event::Congestion, cc::Event::Timeout][call.event];
    law.on_event(&mut state, event, &cc::Observation { rtt_s, base_rtt_s, ..cc::Observation::zero() });
    words([state.window.0, state.before.0, state.fits.0, state.known.0])
}

/// Ticks of every signal and form are events of one law in vectors, and laws of their own in the registry.
fn leadlag(call: &Call) -> [i64; MOST.state] {
    let [step, weight, gain, cap, scale, least, most, ln2, ..] = call.params.map(Fix::<32>);
    let [price_s, base_rtt_s, _, rtt_s, ..] = call.observation.map(Fix);
    let entry = find(CONTROLLERS, "leadlag").expect("a law of the registry");
    let mut values = Values::defaults(entry.parameters);
    for (name, events) in [("signal", [4, 6]), ("form", [5, 6])] {
        let parameter = entry.parameters.iter().find(|p| p.name == name).expect("a parameter of this law");
        let chosen = u8::from(events.contains(&call.event));
        values.set(parameter, f64::from(chosen)).expect("a choice of two");
    }
    let mut law: LeadLag<Fix<32>> = LeadLag::compile(&values, &SENDER).expect("defaults agree with each other");
    (law.step, law.weight, law.gain, law.cap) = (step, weight, gain, cap);
    (law.scale, law.least, law.most, law.ln2) = (scale, least, most, ln2);
    let [window, target, xi, ..] = call.state.map(Fix);
    let mut state = leadlag::State { window, target, xi };
    let ack = cc::Event::Ack { packets: call.observation[2] as u32, marked: 0 };
    let event = match call.event {
        1 => ack,
        2 => cc::Event::Congestion,
        3 => cc::Event::Timeout,
        _ => cc::Event::Tick,
    };
    law.on_event(&mut state, event, &cc::Observation { rtt_s, base_rtt_s, price_s, ..cc::Observation::zero() });
    words([state.window.0, state.target.0, state.xi.0])
}

fn price(call: &Call) -> [i64; MOST.state] {
    let [target, period, ln_phi, ..] = call.params.map(Fix::<32>);
    let [arrived, capacity, ..] = call.observation.map(Fix);
    let mut law: Price<Fix<32>> = compiled(AQMS, "price", &PORT);
    (law.target, law.period, law.ln_phi) = (target, period, ln_phi);
    let mut state = price::State { price: Fix(call.state[0]), probability: Fix(call.state[1]) };
    let event = [aqm::Event::Tick][call.event];
    law.on_event(&mut state, event, &aqm::Observation { arrived, capacity, ..aqm::Observation::zero() });
    words([state.price.0, state.probability.0])
}

fn avq(call: &Call) -> [i64; MOST.state] {
    let [gamma, alpha, buffer, mean_packet, ..] = call.params.map(Fix::<32>);
    let [_, capacity, now_s, ..] = call.observation.map(Fix);
    let mut law: Avq<Fix<32>> = compiled(AQMS, "avq", &PORT);
    (law.gamma, law.alpha, law.buffer, law.mean_packet) = (gamma, alpha, buffer, mean_packet);
    law.bytes = call.params[4] != 0;
    let [virtual_capacity, virtual_queue, last_s, ..] = call.state.map(Fix);
    let mut state = avq::State { virtual_capacity, virtual_queue, last_s, overflowed: call.state[3] != 0 };
    let event = [aqm::Event::Arrival { bytes: call.observation[0] as u32, idle: 0 }][call.event];
    law.on_event(&mut state, event, &aqm::Observation { capacity, now_s, ..aqm::Observation::zero() });
    words([state.virtual_capacity.0, state.virtual_queue.0, state.last_s.0, i64::from(state.overflowed)])
}

fn ccp<const DERIVATIVE: bool>(call: &Call) -> [i64; MOST.state] {
    let mut law: Control<Fix<32>, DERIVATIVE> = compiled(CONTROLLERS, if DERIVATIVE { "ccpd" } else { "ccp" }, &SENDER);
    law.kp = Fix(call.params[0]);
    law.implicit = call.params[1] != 0;
    law.kd_s = Fix(call.params[2]);
    let [window, ssthresh, ..] = call.state.map(Fix);
    let mut state = ccp::State { window, ssthresh, slow_start: call.state[2] != 0, recovers: call.state[3] != 0 };
    let ack = cc::Event::Ack { packets: call.observation[5] as u32, marked: 0 };
    let event = [ack, cc::Event::Congestion, cc::Event::Timeout][call.event];
    let [buffer, level, in_flight, earlier, earlier_s, ..] = call.observation.map(Fix);
    law.on_event(
        &mut state,
        event,
        &cc::Observation { buffer, level, in_flight, earlier, earlier_s, ..cc::Observation::zero() },
    );
    words([state.window.0, state.ssthresh.0, i64::from(state.slow_start), i64::from(state.recovers)])
}

/// Replaces the compiled parameters by BAT's words, of one class.
fn set_bat(law: &mut Bat<Fix<32>>, params: &[i64; MOST.params]) {
    let [interval, coarse, low, high, gain, rate, floor, ceiling, increase, decrease, ..] = params.map(Fix::<32>);
    (law.interval, law.coarse, law.low, law.high) = (interval, coarse, low, high);
    (law.gain, law.rate) = (gain, rate);
    law.classes = vec![bat::Constants { floor, ceiling, increase, decrease }];
}

fn bat_state(state: &[i64; MOST.state]) -> bat::State<Fix<32>> {
    let [transmit, offered, excess, queue, ..] = state.map(Fix);
    bat::State { transmit, offered, excess, class: 0, queue }
}

fn bat(call: &Call) -> [i64; MOST.state] {
    let mut law: Alone<Bat<Fix<32>>> = compiled(AQMS, "bat", &PORT);
    set_bat(&mut law.0, &call.params);
    let mut state = bat_state(&call.state);
    let [queue, arrived, ..] = call.observation.map(Fix);
    law.on_event(
        &mut state,
        [aqm::Event::Tick][call.event],
        &aqm::Observation { queue, arrived, ..aqm::Observation::zero() },
    );
    words([state.transmit, state.offered, state.excess, state.queue].map(|x| x.0))
}

fn clcc(call: &Call) -> [i64; MOST.state] {
    let share = Class { share: Some(0.5), ..Class::FREE };
    let site = aqm::Context { classes: vec![share, Class::FREE], ..PORT };
    let mut law: Clcc<Fix<32>, Bat<Fix<32>>> = compiled(AQMS, "clcc", &site);
    set_bat(&mut law.inner, &call.params);
    let p = call.params.map(Fix::<32>);
    law.steering.outer.beta = [p[10], p[11], p[12]];
    law.steering.outer.thresholds = [p[13], p[14]];
    law.steering.outer.before = [p[15], p[16]];
    (law.steering.period, law.steering.left, law.steering.least_others) = (p[17], p[18], p[19]);
    let own = Steered { share: p[20], reference: p[21], most_ratio: p[22], least: p[23], floor: p[6] };
    law.steering.bound = call.params[24] != 0;
    law.steering.preemption = match call.params[25] {
        0 => Preemption::Hold,
        1 => Preemption::Decay,
        _ => Preemption::None,
    };
    law.steering.steered = vec![(call.params[26] != 0).then_some(own)];
    law.intervals = call.params[27] as u32;
    let s = call.state.map(Fix);
    let mut state = clcc::State {
        inner: bat_state(&call.state),
        decrease: s[4],
        kept: s[4],
        ratio: s[5],
        errors: [s[6], s[7]],
        sums: Sums { arrived: s[8], all_arrived: s[9], departed: s[10], all_departed: s[11] },
        since: call.state[12] as u32,
        samples: Samples::nothing(),
    };
    let [queue, arrived, capacity, departed, all_arrived, all_departed, ..] = call.observation.map(Fix);
    let observation =
        aqm::Observation { queue, arrived, capacity, departed, all_arrived, all_departed, ..aqm::Observation::zero() };
    law.on_event(&mut state, [aqm::Event::Tick][call.event], &observation);
    let clcc::State { inner, decrease, ratio, errors, since, sums, .. } = state;
    let Sums { arrived, all_arrived, departed, all_departed } = sums;
    let [inner_words, outer] =
        [[inner.transmit, inner.offered, inner.excess, inner.queue], [decrease, ratio, errors[0], errors[1]]];
    let sums = [arrived, all_arrived, departed, all_departed];
    let numbers = [inner_words, outer, sums].into_iter().flatten().map(|x| x.0);
    let mut after = [0; MOST.state];
    after.iter_mut().zip(numbers.chain([i64::from(since)])).for_each(|(into, word)| *into = word);
    after
}

fn meter<L: Law<Fix<32>, Role = Conditioner>>(name: &str) -> L {
    let entry = find(CONDITIONERS, name).expect("a law of the registry");
    let mut values = Values::defaults(entry.parameters);
    values.set(&entry.parameters[0], 1e6).expect("the committed rate, the only parameter without a default");
    L::compile(&values, &conditioner::Context { packet: PORT.packet }).expect("defaults agree with each other")
}

fn fill(bucket: &mut Bucket<Fix<32>>, [rate, depth]: [i64; 2]) {
    (bucket.rate, bucket.depth) = (Fix(rate), Fix(depth));
}

/// Green is 0 and yellow 1; anything else is red, as in C.
fn colour(of: i64) -> Colour {
    usize::try_from(of).ok().and_then(|of| Colour::ALL.get(of).copied()).unwrap_or(Colour::Red)
}

fn at_edge(call: &Call) -> (conditioner::Event, conditioner::Observation<Fix<32>>) {
    let bytes = call.observation[0] as u32;
    let coloured = conditioner::Event::Coloured { bytes, colour: colour(call.observation[2]) };
    (
        [conditioner::Event::Arrival { bytes }, coloured][call.event],
        conditioner::Observation { now_s: Fix(call.observation[1]) },
    )
}

fn token_bucket(call: &Call) -> [i64; MOST.state] {
    let mut law: TokenBucket<Fix<32>> = meter("token-bucket");
    fill(&mut law.bucket, [call.params[0], call.params[1]]);
    let [tokens, at_s, ..] = call.state.map(Fix);
    let mut state = token_bucket::State { tokens, at_s, colour: colour(call.state[2]) };
    let (event, observation) = at_edge(call);
    law.on_event(&mut state, event, &observation);
    words([state.tokens.0, state.at_s.0, state.colour as i64])
}

fn srtcm(call: &Call) -> [i64; MOST.state] {
    let mut law: SingleRate<Fix<32>> = meter("srtcm");
    fill(&mut law.committed, [call.params[0], call.params[1]]);
    fill(&mut law.excess, [0, call.params[2]]);
    let [tokens, excess_tokens, at_s, ..] = call.state.map(Fix);
    let mut state = srtcm::State { tokens, excess_tokens, at_s, colour: colour(call.state[3]) };
    let (event, observation) = at_edge(call);
    law.on_event(&mut state, event, &observation);
    words([state.tokens.0, state.excess_tokens.0, state.at_s.0, state.colour as i64])
}

fn trtcm(call: &Call) -> [i64; MOST.state] {
    let mut law: TwoRate<Fix<32>> = meter("trtcm");
    fill(&mut law.committed, [call.params[0], call.params[1]]);
    fill(&mut law.peak, [call.params[2], call.params[3]]);
    let [tokens, peak_tokens, at_s, ..] = call.state.map(Fix);
    let mut state = trtcm::State { tokens, peak_tokens, at_s, colour: colour(call.state[3]) };
    let (event, observation) = at_edge(call);
    law.on_event(&mut state, event, &observation);
    words([state.tokens.0, state.peak_tokens.0, state.at_s.0, state.colour as i64])
}

fn early_marking(call: &Call) -> [i64; MOST.state] {
    let mut law: EarlyMarking<Fix<32>> = meter("early-marking");
    fill(&mut law.bucket, [call.params[0], call.params[1]]);
    (law.reference, law.k1, law.k2) = (Fix(call.params[2]), Fix(call.params[3]), Fix(call.params[4]));
    law.places = call.params[5] as u32;
    let [tokens, probability, level_before, at_s, ..] = call.state.map(Fix);
    let conforms = call.state[4] != 0;
    let mut state = early_marking::State { tokens, probability, level_before, at_s, conforms };
    let (event, observation) = at_edge(call);
    law.on_event(&mut state, event, &observation);
    let numbers = [state.tokens, state.probability, state.level_before, state.at_s].map(|x| x.0);
    words([numbers[0], numbers[1], numbers[2], numbers[3], i64::from(state.conforms)])
}
