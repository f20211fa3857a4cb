//! Prague, without its fallback.

use penstock_law::cc::prague::{Prague, Signs, State};
use penstock_law::cc::{self, CONTROLLERS};
use penstock_law::{Fix, Law};

use super::{Call, MOST, SENDER, compiled};

pub(super) fn prague(call: &Call) -> [i64; MOST.state] {
    let mut law: Prague<Fix<32>> = compiled(CONTROLLERS, "prague", &SENDER);
    let [g, virtual_rtt, transition, least_window, ..] = call.params.map(Fix);
    (law.g, law.virtual_rtt_s, law.transition, law.least_window) = (g, virtual_rtt, transition, least_window);
    law.of_reductions = call.params[4] != 0;
    let [window, ssthresh, alpha, smoothed_rtt, acked, marked, rounds, since_s, reduced_s, ..] = call.state.map(Fix);
    let mut s = State {
        window,
        ssthresh,
        alpha,
        smoothed_rtt,
        acked,
        marked,
        classic: Fix(0),
        met: call.state[9] != 0,
        reduced: call.state[10] != 0,
        rounds,
        since_s,
        reduced_s,
        signs: Signs::START,
    };
    let [now_s, rtt_s, ..] = call.observation.map(Fix);
    let [packets, marked] = [call.observation[2], call.observation[3]].map(|count| count as u32);
    let event = [cc::Event::Ack { packets, marked }, cc::Event::Congestion, cc::Event::Timeout][call.event];
    law.on_event(&mut s, event, &cc::Observation { now_s, rtt_s, ..cc::Observation::zero() });
    let [numbers, times] = [[s.window, s.ssthresh, s.alpha, s.smoothed_rtt], [s.acked, s.marked, s.rounds, s.since_s]];
    let words = numbers.into_iter().chain(times).chain([s.reduced_s]).map(|x| x.0);
    let mut all = [0; MOST.state];
    let flags = [s.met, s.reduced].map(i64::from);
    all.iter_mut().zip(words.chain(flags)).for_each(|(into, word)| *into = word);
    all
}
