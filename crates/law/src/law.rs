//! The traits of a law, of the code that runs it, and its entry in the registry.

mod along;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt::{self, Debug};
use core::marker::PhantomData;

use crate::mean;
use crate::number::{Dual, Fix, Number, Real};
use crate::parameter::{Parameter, Values};
use along::{Applied, Tried};

/// Visits a struct's numbers in declared order. Written by [`numbers!`](crate::numbers).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a struct of numbers over `{N}`",
    label = "a law's state is declared by `numbers!`",
    note = "write `numbers! {{ struct State {{ window: \"packets\", }} }}`: each number with its unit"
)]
pub trait Fields<N> {
    /// Names and units of the numbers, in the order of [`Fields::each`].
    const NAMES: &'static [(&'static str, &'static str)];
    /// Words and a sentence for each number, in the same order; a law of the registry has both for each.
    const WORDS: &'static [(&'static str, &'static str)] = &[];
    /// Calls `f` on each number.
    fn each(&mut self, f: &mut dyn FnMut(&mut N));
    /// Copies the numbers to as many places, in the order of [`Fields::each`].
    fn get(&mut self, numbers: &mut [N])
    where
        N: Copy,
    {
        let mut places = numbers.iter_mut();
        self.each(&mut |x| places.next().into_iter().for_each(|place| *place = *x));
    }
    /// Replaces the numbers, in the order of [`Fields::each`], by as many others.
    fn set(&mut self, numbers: &[N])
    where
        N: Copy,
    {
        let mut others = numbers.iter();
        self.each(&mut |x| others.next().into_iter().for_each(|other| *x = *other));
    }
}

/// Declares a struct of numbers, generic over its arithmetic, each with its unit, and lets hosts visit them.
///
/// A number of a law's state has words too, as the heading of a plot has them: `window: "packets" as "Congestion window"`.
/// Its doc comment is the sentence that tables and reports print, so it has no links.
///
/// After `frozen` comes state that is not a number (bits, counters); the linearisation keeps it as it is.
#[macro_export]
macro_rules! numbers {
    ($(#[$doc:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $sentence:literal])* $field:ident: $unit:literal $(as $words:literal)?,)*
     }
     $(frozen { $($(#[$zdoc:meta])* $frozen:ident: $kind:ty,)* })?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        $vis struct $name<N> {
            $($(#[doc = $sentence])* #[doc = concat!(" [", $unit, "]")] pub $field: N,)*
            $($($(#[$zdoc])* pub $frozen: $kind,)*)?
        }
        impl<N> $crate::law::Fields<N> for $name<N> {
            const NAMES: &'static [(&'static str, &'static str)] = &[$((stringify!($field), $unit),)*];
            const WORDS: &'static [(&'static str, &'static str)] =
                &[$((concat!($($words)?), concat!($($sentence),*).trim_ascii()),)*];
            fn each(&mut self, f: &mut dyn FnMut(&mut N)) {
                $(f(&mut self.$field);)*
                let _ = f;
            }
            // Without a call through a pointer for each number: hosts of means get and set states for each packet.
            #[inline]
            fn get(&mut self, numbers: &mut [N])
            where
                N: Copy,
            {
                let mut places = numbers.iter_mut();
                $(if let Some(place) = places.next() {
                    *place = self.$field;
                })*
                let _ = &mut places;
            }
            #[inline]
            fn set(&mut self, numbers: &[N])
            where
                N: Copy,
            {
                let mut others = numbers.iter();
                $(if let Some(other) = others.next() {
                    self.$field = *other;
                })*
                let _ = &mut others;
            }
        }
    };
}

/// The role of a law, and so its observation, its events and its output.
pub trait Role: Debug + 'static {
    /// The measurements at an event. Every field is measured, none is derived.
    type Observation<N: Number>: Fields<N> + Copy + Debug;
    /// The event: kinds and counts, never a differentiable number.
    type Event: Copy + Debug;
    /// The law's output: windows, gaps, probabilities. The host draws at random.
    type Output<N: Number>: Fields<N> + Copy + Debug;
    /// The facts about the law's host and link when its parameters are compiled.
    type Context: Debug;
    /// The law's requirements.
    type Requirements: Debug;
    /// The details of an event, for laws that require them.
    type Detail: Debug;
    /// The further output of such a law.
    type Timing: Copy + Debug + Default;
    /// Packets in a row, whose mean effect [`Instances::along`] integrates; [`Infallible`] where no host asks for that.
    type Packets: Outcomes<Self>;
    /// The word for such a law.
    const NOUN: &'static str;
}

/// The outcomes of packets in a row, each with its chance.
pub trait Outcomes<R: Role + ?Sized> {
    /// The observation after a share of the packets.
    fn observation<N: Number>(&self, share: f64) -> R::Observation<N>;
    /// Calls `f` for each event that one packet after a share of the packets may bring, with its chance; never with a chance of
    /// zero.
    fn each(&self, share: f64, f: impl FnMut(f64, R::Event));
    /// True if [`Outcomes::each_plain`] calls `f` as [`Outcomes::each`] does, whatever the share.
    #[inline]
    fn are_plain(&self) -> bool {
        false
    }
    /// The same with less to ask, for packets of which that is known beforehand.
    #[inline]
    fn each_plain(&self, share: f64, f: impl FnMut(f64, R::Event)) {
        self.each(share, f);
    }
}

impl<R: Role + ?Sized> Outcomes<R> for Infallible {
    fn observation<N: Number>(&self, _: f64) -> R::Observation<N> {
        match *self {}
    }
    fn each(&self, _: f64, _: impl FnMut(f64, R::Event)) {
        match *self {}
    }
}

/// A law: the effect of an event on its state, and the output of the state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a law over `{N}`",
    label = "there is no `impl Law<{N}>` for it",
    note = "write `impl<N: Number> Law<N> for MyLaw<N>`: the same code simulates with `f64` and is analysed with `Dual`"
)]
pub trait Law<N: Number>: Sized + Debug + Send + Sync + 'static {
    /// Its role.
    type Role: Role;
    /// Its memory between events.
    type State: Fields<N> + Clone + Debug + Send + Sync;

    /// Compiles parameters, rounding each once.
    ///
    /// # Errors
    /// Names the parameters that contradict each other or the context.
    fn compile(values: &Values, context: &<Self::Role as Role>::Context) -> Result<Self, String>;
    /// The state before the first event.
    fn initial_state(&self) -> Self::State;
    /// The same for the instance of that number. Differs from [`Law::initial_state`] only where instances have contracts of their
    /// own, as classes of traffic have.
    fn initial_state_of(&self, _instance: usize) -> Self::State {
        self.initial_state()
    }
    /// Applies an event to the state.
    fn on_event(
        &self,
        state: &mut Self::State,
        event: <Self::Role as Role>::Event,
        observation: &<Self::Role as Role>::Observation<N>,
    );
    /// The output of the present state.
    fn output(
        &self,
        state: &Self::State,
        observation: &<Self::Role as Role>::Observation<N>,
    ) -> <Self::Role as Role>::Output<N>;
    /// The mean output of the state over the law's own spacing of marks; differs from [`Law::output`] only if a law
    /// spaces its marks by the packets before (RED).
    fn mean_output(
        &self,
        state: &Self::State,
        observation: &<Self::Role as Role>::Observation<N>,
    ) -> <Self::Role as Role>::Output<N> {
        self.output(state, observation)
    }
    /// Applies an event with its details, if the law requires them.
    fn on_detail(
        &self,
        _state: &mut Self::State,
        _detail: &<Self::Role as Role>::Detail,
        _observation: &<Self::Role as Role>::Observation<N>,
    ) {
    }
    /// The timing of the state, if the law requires details.
    fn timing(
        &self,
        _state: &Self::State,
        _observation: &<Self::Role as Role>::Observation<N>,
    ) -> <Self::Role as Role>::Timing {
        <Self::Role as Role>::Timing::default()
    }
    /// A congestion event was spurious: `state` is the one from before it again, with what stays of the state `after` it.
    fn undone(&self, _state: &mut Self::State, _after: &Self::State) {}
    /// Its requirements.
    fn requirements(&self) -> <Self::Role as Role>::Requirements;
}

/// One compiled law and the states of all its instances, behind one dynamic call an event.
pub trait Instances<N: Number, R: Role>: Send + Sync {
    /// Adds an instance in its starting state and returns its number; numbers count up from zero.
    fn add(&mut self) -> usize;
    /// Puts an instance back to its starting state.
    fn restart(&mut self, at: usize);
    /// Keeps the present state of an instance, and replaces the one that was kept before.
    fn keep(&mut self, at: usize);
    /// Gives an instance the state that was kept, once; without one it stays as it is.
    fn bring_back(&mut self, at: usize);
    /// Adds an instance in the state of another, which goes on by itself, and returns its number. The kept state is not copied.
    fn copy(&mut self, at: usize) -> usize;
    /// Ends an instance: a later copy may have its number. Where a law does not need that, its state just stays.
    fn end(&mut self, _at: usize) {}
    /// Calls one instance with an event; returns its output then.
    fn on_event(&mut self, at: usize, event: R::Event, observation: &R::Observation<N>) -> R::Output<N>;
    /// The present output of an instance.
    fn output(&self, at: usize, observation: &R::Observation<N>) -> R::Output<N>;
    /// See [`Law::mean_output`].
    fn mean_output(&self, at: usize, observation: &R::Observation<N>) -> R::Output<N>;
    /// Calls one instance with details; returns its output then. See [`Law::on_detail`].
    fn on_detail(&mut self, at: usize, _detail: &R::Detail, observation: &R::Observation<N>) -> R::Output<N> {
        self.output(at, observation)
    }
    /// The same with its timing then.
    fn on_detail_timed(
        &mut self,
        at: usize,
        detail: &R::Detail,
        observation: &R::Observation<N>,
    ) -> (R::Output<N>, R::Timing) {
        (self.on_detail(at, detail, observation), self.timing(at, observation))
    }
    /// See [`Law::timing`].
    fn timing(&self, _at: usize, _observation: &R::Observation<N>) -> R::Timing {
        R::Timing::default()
    }
    /// Names and units of the state's numbers: the law's observables.
    fn names(&self) -> &'static [(&'static str, &'static str)];
    /// Visits the numbers of one instance's state, in the order of [`Instances::names`].
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut N));
    /// Applies an event to a state of these numbers, and otherwise as that instance starts; they are replaced by those
    /// after it. The instance may serve to try it on: its own state is lost.
    fn after(&mut self, at: usize, numbers: &mut [N], event: R::Event, observation: &R::Observation<N>) {
        self.restart(at);
        let mut put = numbers.iter();
        self.each(at, &mut |x| put.next().into_iter().for_each(|number| *x = *number));
        self.on_event(at, event, observation);
        let mut taken = numbers.iter_mut();
        self.each(at, &mut |x| taken.next().into_iter().for_each(|number| *number = *x));
    }
    /// Applies the mean effect of packets in a row to an instance, and integrates it along their number as [`mean::drive`] does.
    /// Another instance may serve for trials: its own state is lost. The first number of the state that is NaN then, if one is.
    fn along(&mut self, at: usize, trial: usize, packets: f64, outcomes: &R::Packets) -> Option<usize>
    where
        N: Real,
    {
        let (mut numbers, mut len) = ([0.0; mean::MOST], 0);
        self.each(at, &mut |x| {
            numbers[len] = x.value();
            len += 1;
        });
        let state = &mut numbers[..len];
        mean::drive(state, packets, &mut Tried { law: self, trial, outcomes, arithmetic: PhantomData });
        let mut put = state.iter();
        self.each(at, &mut |x| put.next().into_iter().for_each(|number| *x = N::of(*number)));
        state.iter().position(|number| number.is_nan())
    }
    /// The law's requirements.
    fn requirements(&self) -> R::Requirements;
}

/// A law with its states next to each other.
#[derive(Debug)]
pub struct Dense<N: Number, L: Law<N>> {
    law: L,
    states: Vec<L::State>,
    /// Kept states by the numbers of their instances, up to the last that ever had one. A map of states would be compiled for each law
    /// and arithmetic.
    kept: Vec<Option<Box<L::State>>>,
    /// Instances that have ended.
    ended: Vec<usize>,
    arithmetic: PhantomData<N>,
}

impl<N: Number, L: Law<N>> Dense<N, L> {
    /// A law that drives nothing yet.
    pub fn new(law: L) -> Self {
        Self { law, states: Vec::new(), kept: Vec::new(), ended: Vec::new(), arithmetic: PhantomData }
    }

    /// Takes the kept state of an instance.
    fn take(&mut self, at: usize) -> Option<Box<L::State>> {
        self.kept.get_mut(at)?.take()
    }
}

impl<N: Number, L: Law<N>> Instances<N, L::Role> for Dense<N, L> {
    fn add(&mut self) -> usize {
        self.states.push(self.law.initial_state_of(self.states.len()));
        self.states.len() - 1
    }
    fn restart(&mut self, at: usize) {
        self.states[at] = self.law.initial_state_of(at);
        self.take(at);
    }
    fn keep(&mut self, at: usize) {
        let state = Box::new(self.states[at].clone());
        if self.kept.len() <= at {
            self.kept.resize_with(at + 1, || None);
        }
        self.kept[at] = Some(state);
    }
    fn bring_back(&mut self, at: usize) {
        if let Some(state) = self.take(at) {
            let after = core::mem::replace(&mut self.states[at], *state);
            self.law.undone(&mut self.states[at], &after);
        }
    }
    fn copy(&mut self, at: usize) -> usize {
        let state = self.states[at].clone();
        if let Some(ended) = self.ended.pop() {
            self.states[ended] = state;
            return ended;
        }
        self.states.push(state);
        self.states.len() - 1
    }
    fn end(&mut self, at: usize) {
        self.take(at);
        self.ended.push(at);
    }
    #[inline]
    fn on_event(
        &mut self,
        at: usize,
        event: <L::Role as Role>::Event,
        observation: &<L::Role as Role>::Observation<N>,
    ) -> <L::Role as Role>::Output<N> {
        let state = &mut self.states[at];
        self.law.on_event(state, event, observation);
        self.law.output(state, observation)
    }
    fn output(&self, at: usize, observation: &<L::Role as Role>::Observation<N>) -> <L::Role as Role>::Output<N> {
        self.law.output(&self.states[at], observation)
    }
    fn mean_output(&self, at: usize, observation: &<L::Role as Role>::Observation<N>) -> <L::Role as Role>::Output<N> {
        self.law.mean_output(&self.states[at], observation)
    }
    fn on_detail(
        &mut self,
        at: usize,
        detail: &<L::Role as Role>::Detail,
        observation: &<L::Role as Role>::Observation<N>,
    ) -> <L::Role as Role>::Output<N> {
        let state = &mut self.states[at];
        self.law.on_detail(state, detail, observation);
        self.law.output(state, observation)
    }
    fn on_detail_timed(
        &mut self,
        at: usize,
        detail: &<L::Role as Role>::Detail,
        observation: &<L::Role as Role>::Observation<N>,
    ) -> (<L::Role as Role>::Output<N>, <L::Role as Role>::Timing) {
        let state = &mut self.states[at];
        self.law.on_detail(state, detail, observation);
        (self.law.output(state, observation), self.law.timing(state, observation))
    }
    fn timing(&self, at: usize, observation: &<L::Role as Role>::Observation<N>) -> <L::Role as Role>::Timing {
        self.law.timing(&self.states[at], observation)
    }
    fn names(&self) -> &'static [(&'static str, &'static str)] {
        <L::State as Fields<N>>::NAMES
    }
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut N)) {
        self.states[at].each(f);
    }
    fn after(
        &mut self,
        at: usize,
        numbers: &mut [N],
        event: <L::Role as Role>::Event,
        observation: &<L::Role as Role>::Observation<N>,
    ) {
        // Off the heap and behind one dynamic call, since the fluid world computes this for every packet and outcome.
        along::after(&self.law, at, numbers, event, observation);
    }
    fn along(&mut self, at: usize, trial: usize, packets: f64, outcomes: &<L::Role as Role>::Packets) -> Option<usize>
    where
        N: Real,
    {
        let (law, state) = (&self.law, &mut self.states[at]);
        // A law has one arm alone, and it twice: most packets are plain, and an evaluation of theirs takes fewer instructions.
        // Arrays of a known length stay in registers.
        macro_rules! sized {
            ($($n:literal)*) => {
                match const { <L::State as Fields<N>>::NAMES.len() } {
                    $($n if outcomes.are_plain() => {
                        Applied::<N, L, true> { law, trial, outcomes, arithmetic: PhantomData }.along::<$n>(state, packets)
                    }
                    $n => {
                        Applied::<N, L, false> { law, trial, outcomes, arithmetic: PhantomData }.along::<$n>(state, packets)
                    })*
                    more => unreachable!("a law of {more} numbers"),
                }
            };
        }
        sized!(0 1 2 3 4 5 6 7 8 9 10 11 12)
    }
    fn requirements(&self) -> <L::Role as Role>::Requirements {
        self.law.requirements()
    }
}

/// Compiles a law and boxes it. A function of a program's own is `&function`; one that is made while the program runs, as a
/// binding to another language makes it, is a closure that was leaked.
pub type Build<N, R> =
    &'static (dyn Fn(&Values, &<R as Role>::Context) -> Result<Box<dyn Instances<N, R>>, String> + Send + Sync);

/// Compiles `L` and boxes it: the one builder that every entry uses, once for each arithmetic.
///
/// # Errors
/// As [`Law::compile`]; or the law reads a parameter that it does not have, or that has no value.
pub fn build<N: Number, L: Law<N>>(
    values: &Values,
    context: &<L::Role as Role>::Context,
) -> Result<Box<dyn Instances<N, L::Role>>, String> {
    let compiled = L::compile(values, context);
    match values.missed() {
        Some(mistake) => Err(mistake),
        None => Ok(Box::new(Dense::<N, L>::new(compiled?))),
    }
}

/// One number of a law's state for people: a column of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observable {
    /// Its name, without the unit.
    pub name: &'static str,
    /// The same in words, as a heading has them.
    pub words: &'static str,
    /// Its unit, `1` for a plain number.
    pub unit: &'static str,
    /// Its meaning, in a sentence.
    pub description: &'static str,
}

/// Every number of a law's state, in the order in which hosts visit them.
#[derive(Debug, Clone, Copy)]
pub struct Observables {
    names: &'static [(&'static str, &'static str)],
    words: &'static [(&'static str, &'static str)],
}

impl Observables {
    /// None: the law remembers nothing, or nothing that is shown.
    pub const NONE: Self = Self { names: &[], words: &[] };

    /// Those of a law that is no type of this language: names and units, then words and a sentence for each, in the same order.
    pub const fn new(
        names: &'static [(&'static str, &'static str)],
        words: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { names, words }
    }

    /// Those of the law `L`. Of a law in several forms, the form with the most.
    pub const fn of<L: Law<f64>>() -> Self {
        Self { names: <L::State as Fields<f64>>::NAMES, words: <L::State as Fields<f64>>::WORDS }
    }

    /// Each of them. The words are empty if the law gives none.
    pub fn iter(&self) -> impl Iterator<Item = Observable> {
        let words = self.words.iter().copied().chain(core::iter::repeat(("", "")));
        self.names.iter().zip(words).map(|(&(name, unit), (words, description))| Observable {
            name,
            words,
            unit,
            description,
        })
    }
}

/// The way in which a law enters the stability analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linearisation {
    /// By dual numbers through its own update.
    Automatic,
    /// By dual numbers, with a declaration of the author, given here.
    Declared(&'static str),
    /// By dual numbers through a model of its means, which its builder for dual numbers builds instead: for laws that count
    /// packets one by one, or remember past events. The text names the parts that the model leaves out.
    Mean(&'static str),
    /// Only its outer loop, as a discrete-time map; the text names the loop. Its builder
    /// for dual numbers then builds that loop alone: a tick is a period of it, the observation of a tick is that of the
    /// whole period, and the first number of its state is the one it controls.
    Outer(&'static str),
    /// Not at all, for the reason given here.
    Unsupported(&'static str),
}

/// A law as a program for the kernel, and how the program gets the law's parameters.
///
/// Nothing here knows BPF: the program is bytes, and its loader judges them. The law itself is that of [`Entry::fixed`]: it defines which
/// parameters fit the kernel's arithmetic and its requirements, and the program is compared with it.
pub struct KernelProgram<R: Role> {
    /// The compiled object. Empty where the build had no compiler for it.
    pub object: &'static [u8],
    /// The parameters as the program has them, word by word: compiled once, and numbers times 2^32.
    pub words: fn(&Values, &R::Context) -> Result<Vec<i64>, String>,
}

impl<R: Role> KernelProgram<R> {
    /// The parameters in the form that the program takes.
    ///
    /// # Errors
    /// The law's error for its parameters; or `words` reads a parameter that the law does not have, or that has no value.
    pub fn parameter_words(&self, values: &Values, context: &R::Context) -> Result<Vec<i64>, String> {
        let words = (self.words)(values, context);
        values.missed().map_or(words, Err)
    }
}

impl<R: Role> fmt::Debug for KernelProgram<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelProgram").field("object_bytes", &self.object.len()).finish_non_exhaustive()
    }
}

/// The registry's entry for a law. The command line, the docs, the reader, the report's colours and the conformance
/// tests are loops over entries.
#[derive(Clone, Copy)]
pub struct Entry<R: Role> {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub title: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Its colour in every figure, `#rrggbb`.
    pub colour: &'static str,
    /// Its parameters, in the order the docs show them.
    pub parameters: &'static [Parameter],
    /// The numbers of its state that it shows.
    pub observables: Observables,
    /// The source of its derivative in the stability analysis.
    pub linearisation: Linearisation,
    /// Builds it for simulation.
    pub real: Build<f64, R>,
    /// Builds it for linearisation; none where [`Linearisation::Unsupported`].
    pub dual: Option<Build<Dual, R>>,
    /// Builds it in the arithmetic of the kernel; none where there is no kernel implementation.
    pub fixed: Option<Build<Fix<32>, R>>,
    /// Its program for the kernel, which a controller and an AQM may bring. None of a law of this crate: their programs are
    /// in `penstock-kernel`.
    pub kernel: Option<&'static KernelProgram<R>>,
}

impl<R: Role> fmt::Debug for Entry<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("role", &R::NOUN).finish_non_exhaustive()
    }
}

/// The entry of that name, if there is one.
pub fn find<R: Role>(registry: &'static [Entry<R>], name: &str) -> Option<&'static Entry<R>> {
    registry.iter().find(|e| e.name == name)
}
