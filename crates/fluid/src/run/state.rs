//! The numbers of a law's state, taken out and put back.

use penstock_law::mean::MOST;
use penstock_law::{Instances, Role};

/// The state of one instance, off the heap: it is taken out and put back millions of times.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    numbers: [f64; MOST],
    len: usize,
}

impl State {
    /// So many zeros.
    pub(super) fn zeros(len: usize) -> Self {
        assert!(len <= MOST, "a law of {len} numbers");
        Self { numbers: [0.0; MOST], len }
    }
}

impl core::ops::Deref for State {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.numbers[..self.len]
    }
}

impl core::ops::DerefMut for State {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[..self.len]
    }
}

/// The numbers of an instance's state.
pub(super) fn state_of<R: Role>(law: &mut dyn Instances<f64, R>, at: usize) -> State {
    let mut state = State { numbers: [0.0; MOST], len: 0 };
    law.each(at, &mut |x| {
        state.numbers[state.len] = *x;
        state.len += 1;
    });
    state
}

/// Puts numbers into an instance's state.
pub(super) fn put<R: Role>(law: &mut dyn Instances<f64, R>, at: usize, state: &[f64]) {
    let mut i = 0;
    law.each(at, &mut |x| {
        *x = state[i];
        i += 1;
    });
}
