//! The kernel implementations compiled for this processor.
//!
//! The only unsafe code of this crate that is not a library's: calls into C that was compiled from `native.c`.
#![allow(unsafe_code, reason = "the kernel implementations are C, and a call into C is unsafe")]

use crate::kernel_laws::{Call, MOST};

/// `struct replay_slot` of `bpf/replay.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Slot {
    params: [i64; MOST.params],
    state: [i64; MOST.state],
    observation: [i64; MOST.observation],
    event: u64,
}

unsafe extern "C" {
    fn penstock_replay_faithful(law: u32, slots: *mut Slot, count: u64);
    fn penstock_replay_slip(law: u32, slots: *mut Slot, count: u64);
    fn penstock_connections_faithful(slots: *mut Slot, count: u64);
    fn penstock_connections_slip(slots: *mut Slot, count: u64);
}

/// One way of compiling the kernel implementations.
type Replay = unsafe extern "C" fn(law: u32, slots: *mut Slot, count: u64);

/// The states after `calls` of the law at `law` in [`KERNEL_LAWS`](crate::kernel_laws::KERNEL_LAWS).
pub(crate) fn replay(law: usize, calls: &[Call]) -> Vec<[i64; MOST.state]> {
    replay_by(penstock_replay_faithful, law, calls)
}

/// The same with the planted slip.
pub(crate) fn replay_with_slip(law: usize, calls: &[Call]) -> Vec<[i64; MOST.state]> {
    replay_by(penstock_replay_slip, law, calls)
}

/// The states after each step of connections, which [`Call`]s of Copa are from one
/// [`OPEN`](crate::kernel_laws::copa::OPEN) to the next.
pub(crate) fn connections(calls: &[Call]) -> Vec<[i64; MOST.state]> {
    connections_by(penstock_connections_faithful, calls)
}

/// The same with the planted slip.
pub(crate) fn connections_with_slip(calls: &[Call]) -> Vec<[i64; MOST.state]> {
    connections_by(penstock_connections_slip, calls)
}

fn connections_by(step: unsafe extern "C" fn(slots: *mut Slot, count: u64), calls: &[Call]) -> Vec<[i64; MOST.state]> {
    let mut slots = slots(calls);
    // SAFETY: as in `replay_by`.
    unsafe { step(slots.as_mut_ptr(), slots.len() as u64) };
    slots.iter().map(|slot| slot.state).collect()
}

fn slots(calls: &[Call]) -> Vec<Slot> {
    let slot = |call: &Call| Slot {
        params: call.params,
        state: call.state,
        observation: call.observation,
        event: call.event as u64,
    };
    calls.iter().map(slot).collect()
}

fn replay_by(replay: Replay, law: usize, calls: &[Call]) -> Vec<[i64; MOST.state]> {
    let mut slots = slots(calls);
    // SAFETY: the C function writes to the first `count` slots and nowhere else; `Slot` has the layout it expects,
    // eight-byte words without padding; it keeps no pointer and leaves slots of laws and events it does not know alone.
    unsafe { replay(law as u32, slots.as_mut_ptr(), slots.len() as u64) };
    slots.iter().map(|slot| slot.state).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use penstock_law::estimate::Trains;
    use penstock_law::quantity::Time;
    use penstock_law::{Fix, Number};
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    unsafe extern "C" {
        safe fn penstock_arithmetic_faithful(operation: u32, a: i64, b: i64) -> i64;
        safe fn penstock_arithmetic_slip(operation: u32, a: i64, b: i64) -> i64;
        safe fn penstock_arithmetic_wide(operation: u32, a: i64, b: i64) -> i64;
        safe fn penstock_difference_faithful(a: i64, x: i64, b: i64, y: i64, places: u32) -> i64;
        safe fn penstock_train_left_faithful(
            train: &mut Train,
            now_us: u32,
            una: u32,
            first: u32,
            nxt: u32,
            mss: u32,
            rtt_us: u32,
        );
        safe fn penstock_train_heard_faithful(
            train: &mut Train,
            heard: &mut u32,
            now_us: u32,
            una: u32,
            covered: u32,
            mss: u32,
        ) -> u32;
    }

    /// `struct train` of `bpf/cc/train.h`.
    #[repr(C)]
    #[derive(Debug, Default)]
    struct Train {
        first: u32,
        next_us: u32,
        packets: u8,
        state: u8,
    }

    /// The time to the next acknowledgement [us], packets that it covers and lets go, whether these are new, and whether it is of
    /// data sent once.
    type Step = (u32, u64, u64, bool, bool);

    /// Acknowledgements of a few packets each, some of data that was sent twice, let go a few packets each, some of them not new:
    /// the trains of Rust and of C make the same pairs, and give up the same. Sequence numbers and the clock run around.
    #[test]
    fn trains_in_c_are_those_of_rust() {
        const MSS: u32 = 1448;
        let step = (0u32..3000, 0u64..5, 0u64..6, prop::bool::weighted(0.9), prop::bool::weighted(0.9));
        let config = Config { cases: 200, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let pairs = [const { Cell::new(0u32) }; 5];
        let check = |(steps, start): (Vec<Step>, u32)| {
            let seq = |packets: u64| start.wrapping_add(packets as u32 * MSS);
            let (mut rust, mut heard) = (Trains::new(), 0);
            let mut c = Train { next_us: start, ..Train::default() };
            // Packets acknowledged, and sent; those sent before the last acknowledgement was answered.
            let (mut una, mut nxt, mut now_us, mut before, mut anew) = (0u64, 10u64, 0u64, 10u64, true);
            for (later_us, covered, released, new, sure) in steps {
                now_us += u64::from(later_us);
                let covered = covered.min(nxt - una);
                una += covered;
                let (now, clock) = (Time(now_us * 1_000_000), start.wrapping_add(now_us as u32));
                let tx = una.saturating_sub(1);
                if anew {
                    rust.left(now, tx, before, nxt, Time(4_000_000_000));
                    penstock_train_left_faithful(&mut c, clock, seq(una), seq(before), seq(nxt), MSS, 4000);
                }
                if sure && covered > 0 {
                    let pair = rust.acknowledged(now, tx, covered as u32, ());
                    let apart =
                        penstock_train_heard_faithful(&mut c, &mut heard, clock, seq(una), covered as u32 * MSS, MSS);
                    prop_assert_eq!(pair.map_or(0, |pair| pair.packets), u64::from(apart), "at {} us", now_us);
                    let found = &pairs[apart as usize];
                    found.set(found.get() + 1);
                }
                (before, anew) = (nxt, new);
                nxt += released.min(una + 20 - nxt.min(una + 20));
            }
            Ok(())
        };
        runner.run(&(prop::collection::vec(step, 500), any::<u32>()), check).unwrap();
        assert!(pairs[1..].iter().all(|n| n.get() > 100), "{pairs:?}");
    }

    fn any_size() -> impl Strategy<Value = i64> {
        prop_oneof![
            8 => (any::<i64>(), 0u32..64).prop_map(|(x, shift)| x >> shift),
            1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, 1 << 32, 1 << 48, i64::MAX - 1, i64::MAX]),
        ]
    }

    /// The operations on which fix.rs and fx.h must agree.
    fn in_rust<const F: u32>(operation: u32, a: i64, b: i64) -> i64 {
        let (x, y) = (Fix::<F>(a), Fix(b));
        match operation {
            0 => x + y,
            1 => x - y,
            2 => x * y,
            3 => x / y,
            4 => x.exp(),
            5 => -x,
            8 => x.ln(),
            _ => Number::count(a as u32),
        }
        .0
    }

    fn agree<const F: u32>(c: extern "C" fn(u32, i64, i64) -> i64, cases: u32) -> Result<(), String> {
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let check = |(a, b)| {
            for operation in [0, 1, 2, 3, 4, 5, 6, 8] {
                let (got, want) = (c(operation, a, b), in_rust::<F>(operation, a, b));
                prop_assert_eq!(got, want, "operation {} on {} and {}", operation, a, b);
            }
            Ok(())
        };
        runner.run(&(any_size(), any_size()), check).map_err(|e| e.to_string())
    }

    #[test]
    fn arithmetic_in_c_is_that_of_rust() {
        agree::<32>(penstock_arithmetic_faithful, 100_000).unwrap();
    }

    #[test]
    fn arithmetic_in_c_with_48_places_is_that_of_rust() {
        agree::<48>(penstock_arithmetic_wide, 100_000).unwrap();
    }

    /// Gains and distances that nearly cancel, and anything else.
    #[test]
    fn a_difference_of_products_in_c_is_that_of_rust() {
        let config = Config { cases: 200_000, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let check = |(a, x, b, y, places, near)| {
            let (b, y) = if near { (a ^ (b & 0xffff), x ^ (y & 0xffff)) } else { (b, y) };
            let want = Fix::<32>::difference([Fix(a), Fix(x)], [Fix(b), Fix(y)], places).0;
            prop_assert_eq!(
                penstock_difference_faithful(a, x, b, y, places),
                want,
                "{} {} {} {} {}",
                a,
                x,
                b,
                y,
                places
            );
            Ok(())
        };
        let any = (any_size(), any_size(), any_size(), any_size(), 0u32..96, any::<bool>());
        runner.run(&any, check).unwrap();
    }

    #[test]
    fn a_clock_in_c_is_rounded_to_nearest() {
        let exact =
            |ns: u64| i64::try_from(((u128::from(ns) << 33) + 1_000_000_000) / 2_000_000_000).unwrap_or(i64::MAX);
        let ends =
            [0, 1, 999_999_999, 1_000_000_000, (1 << 31) * 1_000_000_000 - 1, (1 << 31) * 1_000_000_000, u64::MAX];
        let spread = (0..300_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 64));
        for ns in ends.into_iter().chain(spread) {
            assert_eq!(penstock_arithmetic_faithful(7, ns as i64, 0), exact(ns), "{ns}");
        }
    }

    /// All of exp's domain: random words mostly fall outside.
    #[test]
    fn exp_in_c_is_that_of_rust() {
        for i in 0..300_000i64 {
            let x = (i - 155_000) * 634_607 + i % 7;
            assert_eq!(penstock_arithmetic_faithful(4, x, 0), Fix::<32>(x).exp().0, "{x}");
            let x = (i - 230_000) * 41_589_990_321 + i % 7;
            assert_eq!(penstock_arithmetic_wide(4, x, 0), Fix::<48>(x).exp().0, "{x}");
        }
    }

    #[test]
    fn a_slip_in_the_arithmetic_is_noticed() {
        let said = agree::<32>(penstock_arithmetic_slip, 1000).unwrap_err();
        assert!(said.contains("operation 2"), "only products slip: {said}");
    }
}
