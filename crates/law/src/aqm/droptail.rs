//! Drop-tail: no law at all; the buffer's size alone decides, and that is the host's.
//!
//! Source: every router's default. To a delay-based sender the queue itself is the price.

use alloc::string::String;

use super::{Aqm, Context, Event, Observation, Output, Requirements};
use crate::law::{Entry, Fields, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::parameter::Values;

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "droptail",
    title: "Drop-tail: a packet that finds the buffer full is lost",
    source: "no paper: the default of every router",
    colour: "#444444",
    parameters: &[],
    observables: Observables::of::<DropTail>(),
    linearisation: Linearisation::Unsupported("its drop probability jumps from 0 to 1 at a full buffer"),
    real: &build::<f64, DropTail>,
    dual: Some(&build::<Dual, DropTail>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct DropTail;

/// Drop-tail remembers nothing.
#[derive(Debug, Clone, Copy)]
struct State;

impl<N> Fields<N> for State {
    const NAMES: &'static [(&'static str, &'static str)] = &[];
    fn each(&mut self, _: &mut dyn FnMut(&mut N)) {}
}

impl<N: Number> Law<N> for DropTail {
    type Role = Aqm;
    type State = State;

    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> State {
        State
    }
    fn on_event(&self, _: &mut State, _: Event, _: &Observation<N>) {}
    fn output(&self, _: &State, _: &Observation<N>) -> Output<N> {
        Output { probability: N::of(0.0), price_s: N::of(0.0) }
    }
    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}
