//! The mean change of a law's state along packets, for [`mean`]: compiled for the law, or tried on another instance.

use core::marker::PhantomData;

use super::{Fields, Instances, Law, Outcomes, Role};
use crate::mean::{self, Change};
use crate::number::Number;

/// The mean change of an instance's state by its effect on another instance.
pub(super) struct Tried<'a, N: Number, R: Role, I: ?Sized> {
    pub(super) law: &'a mut I,
    pub(super) trial: usize,
    pub(super) outcomes: &'a R::Packets,
    pub(super) arithmetic: PhantomData<N>,
}

impl<N: Number, R: Role, I: Instances<N, R> + ?Sized> Change for Tried<'_, N, R, I> {
    fn packet<const K: usize>(&mut self, state: &[f64; K], share: f64) -> [f64; K] {
        let seen = self.outcomes.observation::<N>(share);
        let mut apply = |event, numbers: &mut [N; K]| self.law.after(self.trial, numbers, event, &seen);
        mean_change::<R, N, K, false>(state, self.outcomes, share, &mut apply)
    }
}

/// The mean change of a state over outcomes, each of which `apply` applies to its numbers.
#[inline]
fn mean_change<R: Role, N: Number, const K: usize, const PLAIN: bool>(
    state: &[f64; K],
    outcomes: &R::Packets,
    share: f64,
    apply: &mut impl FnMut(R::Event, &mut [N; K]),
) -> [f64; K] {
    let mut sum = [0.0; K];
    let add = |chance: f64, event: R::Event| {
        let mut after = state.map(N::of);
        apply(event, &mut after);
        for ((sum, after), before) in sum.iter_mut().zip(after).zip(state) {
            *sum += chance * (after.value() - before);
        }
    };
    if PLAIN {
        outcomes.each_plain(share, add);
    } else {
        outcomes.each(share, add);
    }
    sum
}

/// Applies an event to numbers of a state, and otherwise as that instance starts.
#[inline]
pub(super) fn after<N: Number, L: Law<N>>(
    law: &L,
    instance: usize,
    numbers: &mut [N],
    event: <L::Role as Role>::Event,
    observation: &<L::Role as Role>::Observation<N>,
) {
    let mut state = law.initial_state_of(instance);
    state.set(numbers);
    law.on_event(&mut state, event, observation);
    state.get(numbers);
}

/// The mean change of a law's state, compiled for the law, and for plain outcomes or for any.
pub(super) struct Applied<'a, N: Number, L: Law<N>, const PLAIN: bool> {
    pub(super) law: &'a L,
    /// The instance that starts with what is not a number.
    pub(super) trial: usize,
    pub(super) outcomes: &'a <L::Role as Role>::Packets,
    pub(super) arithmetic: PhantomData<N>,
}

impl<N: Number, L: Law<N>, const PLAIN: bool> Change for Applied<'_, N, L, PLAIN> {
    fn packet<const K: usize>(&mut self, state: &[f64; K], share: f64) -> [f64; K] {
        let seen = self.outcomes.observation::<N>(share);
        let mut apply = |event, numbers: &mut [N; K]| after(self.law, self.trial, numbers, event, &seen);
        mean_change::<L::Role, N, K, PLAIN>(state, self.outcomes, share, &mut apply)
    }
}

impl<N: Number, L: Law<N>, const PLAIN: bool> Applied<'_, N, L, PLAIN> {
    /// [`Instances::along`] of a state of so many numbers.
    pub(super) fn along<const K: usize>(mut self, state: &mut L::State, packets: f64) -> Option<usize> {
        let mut numbers = [N::of(0.0); K];
        state.get(&mut numbers);
        let mut values = numbers.map(N::value);
        if packets > 0.0 {
            mean::along(&mut values, packets, &mut self);
        }
        state.set(&values.map(N::of));
        values.iter().position(|number| number.is_nan())
    }
}
