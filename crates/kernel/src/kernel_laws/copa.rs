//! Copa: its vectors, which have the round trips of several times as words, and whole connections, which take them from samples.

use penstock_law::cc::copa::{Acknowledged, Copa, Extremes, State};
use penstock_law::cc::{self, CONTROLLERS};
use penstock_law::estimate::RecentMin;
use penstock_law::{Fix, Law};

use super::{Call, MOST, SENDER, compiled};

/// The event that begins a connection, in the state of its call: one more than those of vectors. Of the other calls of a
/// connection the state does not count.
pub const OPEN: usize = 5;
/// The event of an acknowledgement.
const ACK: usize = 1;

fn law(call: &Call) -> Copa<Fix<32>> {
    let mut law: Copa<Fix<32>> = compiled(CONTROLLERS, "copa", &SENDER);
    set(&mut law, call);
    law
}

fn set(law: &mut Copa<Fix<32>>, call: &Call) {
    let [delta, min_rtt_window, mode_window, nearly_empty, ..] = call.params.map(Fix);
    (law.delta, law.min_rtt_window_s) = (delta, min_rtt_window);
    (law.mode_window, law.nearly_empty) = (mode_window, nearly_empty);
    law.competitive = call.params[4] != 0;
}

/// The state of these words, with nothing remembered.
fn state(words: &[i64; MOST.state]) -> State<Fix<32>> {
    let [window, velocity, delta, min_rtt, standing, since_s, before, ..] = words.map(Fix);
    State {
        window,
        velocity,
        delta,
        min_rtt,
        standing,
        slow_start: words[7] != 0,
        competes: words[8] != 0,
        up: words[9] != 0,
        steady: words[10] as u32,
        since_s,
        before,
        lost: words[11] != 0,
        least: RecentMin::nothing(),
        half: RecentMin::nothing(),
        low: RecentMin::nothing(),
        high: RecentMin::nothing(),
    }
}

fn words(s: &State<Fix<32>>) -> [i64; MOST.state] {
    let numbers = [s.window, s.velocity, s.delta, s.min_rtt, s.standing, s.since_s, s.before].map(|x| x.0);
    let flags = [s.slow_start, s.competes, s.up].map(i64::from);
    let mut all = [0; MOST.state];
    let words = numbers.into_iter().chain(flags).chain([i64::from(s.steady), i64::from(s.lost)]);
    all.iter_mut().zip(words).for_each(|(into, word)| *into = word);
    all
}

/// An event; `rtt_s` is that of an acknowledgement.
fn apply(law: &Copa<Fix<32>>, s: &mut State<Fix<32>>, call: &Call, rtt_s: Option<Fix<32>>) {
    let [least, half, low, high, now_s, average_s, ..] = call.observation.map(Fix);
    let (packets, app_limited) = (call.observation[6] as u32, call.observation[7] as u32 != 0);
    let event = match call.event {
        0 => return law.see(s, &Extremes { least, half, low, high }),
        ACK => return law.on_ack(s, &Acknowledged { now_s, packets, rtt_s, average_s, app_limited }),
        2 => cc::Event::Round,
        3 => cc::Event::Congestion,
        _ => cc::Event::Timeout,
    };
    law.on_event(s, event, &cc::Observation::zero());
}

pub(super) fn copa(call: &Call) -> [i64; MOST.state] {
    let mut s = state(&call.state);
    apply(&law(call), &mut s, call, None);
    words(&s)
}

/// The states after each step of connections, by the law in Rust. The first word of an acknowledgement is its round trip,
/// and zero where it has none.
pub fn connections(calls: &[Call]) -> Vec<[i64; MOST.state]> {
    let mut law = law(&Call::default());
    let mut s = state(&[0; MOST.state]);
    let step = |call: &Call| {
        set(&mut law, call);
        if call.event == OPEN {
            s = state(&call.state);
        } else {
            let rtt = call.observation[0];
            apply(&law, &mut s, call, (rtt != 0).then_some(Fix(rtt)));
        }
        words(&s)
    };
    calls.iter().map(step).collect()
}
