//! A trail of events for a program that an entry brings: in the kernel and without traffic, held against the law in Rust.
//!
//! The header that such a program includes (bpf/cc/controller.h, bpf/tc/aqm.h) has the map and the program of a trail. The
//! [`Trails`] of a role are its events and observations.

use std::fmt::Debug;

use libbpf_rs::{MapCore, MapFlags, Object, ProgramInput};
use penstock_law::law::Role;
use penstock_law::parameter::{Default, Unit};
use penstock_law::{Entry, Fix, Instances, Parameter, Values};
use penstock_scenario::model::Chosen;

use super::error::Error;
use super::object::unfit;

/// The result of a law's replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The number of its steps.
    pub steps: usize,
    /// The first number that came out wrong, in words.
    pub wrong: Option<String>,
    /// Nanoseconds of a step, a mean over all, with the loop around it.
    pub nanoseconds_a_step: f64,
}

/// The name of the map and of the program of a trail.
pub(super) const MAP: &str = "trail";
pub(super) const PROGRAM: &str = "law_replay";
/// Steps of a trail, and trails: each has parameters of its own.
pub(super) const STEPS: usize = 4096;
const TRAILS: u64 = 16;
/// The offset of the time in `struct replay`.
const ELAPSED_AT: usize = 16;
/// 1 over 2^32.
pub(super) const ONE: i64 = 1 << 32;

/// One step: a call of the law, and the observation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<R: Trails> {
    pub(super) event: R::Call,
    pub(super) observation: R::Observation<Fix<32>>,
}

/// A role with trails.
pub(super) trait Trails: Role + Sized {
    /// The header that its programs include.
    const HEADER: &'static str;
    /// A call of the law: an event, or one with its details.
    type Call: Copy + Debug;
    /// The word of `struct replay` behind the number of steps.
    const GIVEN: i64;
    /// The context of the law on the trail of that number.
    fn context(trail: u64, draws: &mut Draws) -> Self::Context;
    fn steps(needs: &Self::Requirements, context: &Self::Context, draws: &mut Draws) -> Vec<Step<Self>>;
    /// Calls an instance of the law; returns its output then.
    fn call(
        law: &mut dyn Instances<Fix<32>, Self>,
        at: usize,
        call: &Self::Call,
        observation: &Self::Observation<Fix<32>>,
    ) -> Self::Output<Fix<32>>;
    /// The beginning of `struct step` for a law of these requirements: `struct observation`, and details.
    fn bytes(step: &Step<Self>, needs: &Self::Requirements) -> Vec<u8>;
    /// The observation in words.
    fn words(observation: &Self::Observation<Fix<32>>) -> String;
    /// The words of `struct step` between that and the state.
    fn outputs(output: &Self::Output<Fix<32>>) -> Vec<(&'static str, i64)>;
}

/// Numbers that look random: the same on every machine (Steele, Lea, Flood, OOPSLA 2014: SplitMix64).
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new() -> Self {
        Self(0x7065_6e73_746f_636b)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// From 0 up to 1.
    pub(super) fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The parameters of a trail: the defaults, the ends of all ranges, then anything between.
fn values(parameters: &'static [Parameter], trail: u64, draws: &mut Draws) -> Values {
    let mut values = Values::defaults(parameters);
    for parameter in parameters {
        let (least, most) = finite(parameter);
        let part = draws.part() * draws.part();
        // Not least + part * (most - least): the difference may be beyond all numbers.
        let between = (least * (1.0 - part) + most * part).clamp(least, most);
        let value = match (trail, parameter.default) {
            (0, Default::Is(_)) | (0..3, Default::Automatic(_)) => continue,
            (1, _) => least,
            (2, _) => most,
            _ if matches!(parameter.unit, Unit::Switch | Unit::Choice(_)) => between.round(),
            _ => between,
        };
        values.set(parameter, value).expect("a value within the range");
    }
    values
}

/// The range of a parameter; of one without an end, as far as the kernel's numbers go.
fn finite(parameter: &Parameter) -> (f64, f64) {
    const FAR: f64 = 2_147_483_647.0;
    let (least, most) = (parameter.least, parameter.most);
    match (least.is_finite(), most.is_finite()) {
        (true, true) => (least, most),
        (true, false) => (least, least.max(FAR)),
        (false, true) => (most.min(-FAR), most),
        (false, false) => (-FAR, FAR),
    }
}

/// The result of loading a program for a trail.
pub(super) enum Program {
    Loaded(Object),
    /// It has no trail: it does not include the header that has one.
    WithoutTrail,
    /// It cannot run under these parameters, or the law cannot.
    Refused(String),
}

/// Leads a law through all trails. `load` loads its program for a trail, with the parameters of the law. None where the
/// program has no trail.
pub(super) fn follow<R: Trails>(
    law: &'static Entry<R>,
    load: impl Fn(&Chosen<R>, &R::Context) -> Result<Program, Error>,
) -> Result<Option<Replayed>, Error> {
    let mut draws = Draws::new();
    let mut found = Replayed { steps: 0, wrong: None, nanoseconds_a_step: 0.0 };
    let mut refused = None;
    let Some(fixed) = law.fixed else { return Ok(None) };
    for trail in 0..TRAILS {
        let chosen = Chosen { law, values: values(law.parameters, trail, &mut draws) };
        let context = R::context(trail, &mut draws);
        // Of values that do not fit each other, or that the program does not have, there is nothing to compare.
        let mut rust = match fixed(&chosen.values, &context) {
            Ok(rust) => rust,
            Err(why) => {
                refused.get_or_insert(why);
                continue;
            }
        };
        let object = match load(&chosen, &context)? {
            Program::Loaded(object) => object,
            Program::WithoutTrail => return Ok(None),
            Program::Refused(why) => {
                refused.get_or_insert(why);
                continue;
            }
        };
        let needs = rust.requirements();
        let trail = R::steps(&needs, &context, &mut draws);
        let (steps, elapsed_ns) = in_kernel(law.name, &object, &trail, &needs)?;
        let names: Vec<&str> = rust.names().iter().map(|(name, _)| *name).collect();
        let at = rust.add();
        for (told, kernel) in trail.iter().zip(&steps) {
            let output = R::call(rust.as_mut(), at, &told.event, &told.observation);
            let mut want = R::outputs(&output);
            let outputs = want.len();
            let mut state = Vec::new();
            rust.each(at, &mut |number: &mut Fix<32>| state.push(number.0));
            want.extend(names.iter().copied().zip(state));
            if kernel.len() < want.len() {
                let has = kernel.len().saturating_sub(outputs);
                let what =
                    format!("its state has {has} words, and the state of the law in Rust has {}", want.len() - outputs);
                return Err(unfit(law.name, &what));
            }
            let wrong = want.iter().zip(kernel).find(|((_, want), got)| want != *got);
            if let (Some(((name, want), got)), None) = (wrong, &found.wrong) {
                let step = found.steps + 1;
                let parameters: Vec<String> =
                    chosen.values.iter().filter_map(|(name, value)| Some(format!("{name} = {}", value?))).collect();
                found.wrong = Some(format!(
                    "step {step}, {:?} with {}, under {}: {name} is {got} in the kernel and {want} in Rust, over 2^32",
                    told.event,
                    R::words(&told.observation),
                    parameters.join(", ")
                ));
            }
            found.steps += 1;
        }
        found.nanoseconds_a_step += elapsed_ns as f64;
    }
    if found.steps == 0 {
        let why = refused.unwrap_or_default();
        let name = law.name;
        return Err(Error::Input(format!(
            "nothing of `{name}` was compared: of {TRAILS} choices of parameters none would do: {why}"
        )));
    }
    found.nanoseconds_a_step /= found.steps as f64;
    Ok(Some(found))
}

/// The words of each step after the kernel took it: outputs, and state; and how long all took [ns].
fn in_kernel<R: Trails>(
    law: &str,
    object: &Object,
    trail: &[Step<R>],
    needs: &R::Requirements,
) -> Result<(Vec<Vec<i64>>, u64), Error> {
    let failed = |what: &str| {
        let what = format!("the kernel did not {what} of the replay of `{law}`");
        move |source| Error::Kernel { what, source, verifier: String::new() }
    };
    let lacks = || unfit(law, &format!("its replay is not that of {}", R::HEADER));
    let map = object.maps().find(|map| map.name() == MAP).ok_or_else(lacks)?;
    let program = object.progs_mut().find(|program| program.name() == PROGRAM).ok_or_else(lacks)?;
    let size = map.value_size() as usize;
    let observation = trail.first().map_or(0, |step| R::bytes(step, needs).len());
    if size < observation || !size.is_multiple_of(8) {
        return Err(lacks());
    }
    let keys: Vec<u8> = (0..trail.len() as u32).flat_map(u32::to_ne_bytes).collect();
    let mut steps = Vec::with_capacity(trail.len() * size);
    for step in trail {
        let all = steps.len() + size;
        steps.extend(R::bytes(step, needs));
        steps.resize(all, 0);
    }
    let any = MapFlags::ANY;
    map.update_batch(&keys, &steps, trail.len() as u32, any, any).map_err(failed("take the events"))?;
    let mut job = [trail.len() as i64, R::GIVEN, 0].map(i64::to_ne_bytes).concat();
    let input = ProgramInput { context_in: Some(&mut job), ..ProgramInput::default() };
    let status = program.test_run(input).map_err(failed("run the program"))?.return_value;
    if status != 0 {
        return Err(lacks());
    }
    let word = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    let mut words = Vec::with_capacity(trail.len());
    for key in keys.chunks_exact(4) {
        let step = map.lookup(key, any).map_err(failed("give the states"))?.unwrap_or_default();
        words.push(step.get(observation..).unwrap_or_default().chunks_exact(8).map(word).collect());
    }
    Ok((words, word(&job[ELAPSED_AT..]) as u64))
}
