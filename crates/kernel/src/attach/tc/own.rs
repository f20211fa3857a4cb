//! AQMs that an entry of the registry brings: their parameters, whether a device has what they require, and whether the object
//! is a program for them.

use libbpf_rs::OpenObject;
use penstock_law::aqm::{self, Aqm, Decides, Event, Requirements, Serve};
use penstock_law::{Entry, Fix, Instances, Values};

use super::books;
use super::parameters::{Fit, NotEct};
use super::steps::Step;
use crate::attach::error::Error;
use crate::attach::object::{is_object, of_other_headers, unfit};
use crate::attach::trail::{Draws, Trails};

/// `AQM_HEADERS` of bpf/tc/aqm.h: which meaning sections, maps and calls of a program have.
const HEADERS: u64 = 1;
/// The section that reports a program to its loader: `shape` of bpf/tc/aqm.h, five words.
const SHAPE: &str = ".rodata.shape";
/// The size of a name in the kernel, with a zero behind it.
const NAME_SPACE: usize = 16;
/// The longest period [s]: some of it is made up for, one by one.
const LONGEST_PERIOD_S: f64 = 3600.0;
/// The size of `struct settings` of bpf/tc/law.h before the parameters: lock, version, text, and `struct line`.
const SETTINGS: u64 = 8 + 1024 + 24;
/// The section of programs over bpf/tc/aqm.h.
pub(super) const SECTION: &str = "tcx/egress";

/// A law as its program has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OwnParameters {
    /// Its parameters, word by word.
    pub(super) words: Vec<i64>,
    /// The numbers of its state before the first packet.
    pub(super) start: Vec<i64>,
    /// Its period; zero if it has none.
    pub(super) period_s: f64,
    /// The treatment of packets that cannot carry a mark; none of a law that drops.
    pub(super) not_ect: Option<NotEct>,
    pub(super) fit: Fit,
}

/// The name of a law's program in the kernel.
pub(super) fn name_in_c(law: &str) -> String {
    law.replace('-', "_")
}

/// The parameters in the form that the program takes.
pub(super) fn parameters(
    law: &'static Entry<Aqm>,
    values: &Values,
    context: &aqm::Context,
    not_ect: Option<NotEct>,
) -> Result<OwnParameters, Error> {
    let name = law.name;
    let program = law.kernel.ok_or_else(|| Error::Input(format!("the law `{name}` has no kernel program")))?;
    if name.len() >= NAME_SPACE {
        let (length, most) = (name.len(), NAME_SPACE - 1);
        return Err(Error::Input(format!(
            "`{name}` has {length} characters, and a program of the kernel {most} at most: rename the law"
        )));
    }
    is_object(name, program.object)?;
    let refused = |why: String| Error::Input(format!("the law `{name}` cannot run at a device: {why}"));
    let fixed = law.fixed.ok_or_else(|| refused("its entry has no `fixed`".to_owned()))?;
    let mut compiled = fixed(values, context).map_err(refused)?;
    let needs = compiled.requirements();
    if let Some(why) = unmeasured(&needs) {
        return Err(refused(why));
    }
    let trail = Aqm::steps(&needs, context, &mut Draws::new());
    let build = || fixed(values, context);
    // A law that spaces its marks decides more often without hits.
    let without_hits: Vec<Step> = trail.iter().copied().filter(|step| step.event != Event::Hit).collect();
    for trail in [&trail, &without_hits] {
        if let Some(what) = hidden(trail, &build).map_err(refused)? {
            return Err(refused(format!("it uses {what}, which no program at a device measures")));
        }
    }
    let ticks_alone = |step: &Step| (step.event == Event::Tick).then_some(*step);
    let arrives = differs(&trail, &build, ticks_alone).map_err(refused)?;
    if !needs.marks && not_ect.is_some() {
        return Err(Error::Input(format!(
            "`{}`: with these parameters `{name}` marks nothing, and drops every packet that it chooses",
            NotEct::KEY
        )));
    }
    let words = program.parameter_words(values, context).map_err(refused)?;
    let mut start = Vec::new();
    let first = compiled.add();
    compiled.each(first, &mut |number: &mut Fix<32>| start.push(number.0));
    let fit = Fit {
        arrives,
        at_ticks_only: needs.decides == Decides::OnDeparture,
        ticks: needs.tick_s.is_some(),
        words: words.len() as u64,
        numbers: start.len() as u64,
    };
    let not_ect = needs.marks.then(|| not_ect.unwrap_or_default());
    Ok(OwnParameters { words, start, period_s: needs.tick_s.unwrap_or(0.0), not_ect, fit })
}

/// A requirement that no program at a device meets, in words.
fn unmeasured(needs: &Requirements) -> Option<String> {
    let head = "it decides when a packet leaves its queue, and a program at a device measures arrivals only";
    match needs.decides {
        Decides::Never => return Some("it decides nothing".to_owned()),
        Decides::AtHead => return Some(head.to_owned()),
        Decides::OnDeparture if needs.tick_s.is_none() => {
            return Some("it decides on departure and has no period, so that its state never changes".to_owned());
        }
        Decides::OnDeparture if !needs.marks => {
            return Some("it decides on departure and marks nothing, so that it has no effect".to_owned());
        }
        Decides::OnArrival | Decides::OnDeparture => {}
    }
    if needs.tick_s.is_some_and(|period_s| !(1e-6..=LONGEST_PERIOD_S).contains(&period_s)) {
        return Some("its period is not within 1 us and one hour".to_owned());
    }
    if !needs.bytes {
        return Some(
            "it counts packets of every size as one, and at a device many travel as one: require `bytes`".into(),
        );
    }
    let unmet = [
        (needs.overrules_marks, "a second coin for packets due for a mark"),
        (needs.arrivals_first || needs.idle_from_start, "the moment at which a transmission begins"),
        (needs.serve != Serve::Scheduler, "queues of its own"),
        (needs.colours, "the colour of each packet"),
        (needs.classes, "an instance for each class"),
        (needs.full, "an event for a full buffer"),
    ];
    let (_, what) = unmet.iter().find(|(required, _)| *required)?;
    Some(format!("it requires {what}, which no program at a device provides"))
}

/// Builds the law once more.
type Build<'a> = &'a dyn Fn() -> Result<Box<dyn Instances<Fix<32>, Aqm>>, String>;

/// True if the law's output or its state differs on this trail when each step is another, or is left out.
fn differs(trail: &[Step], build: Build<'_>, mut other: impl FnMut(&Step) -> Option<Step>) -> Result<bool, String> {
    let mut laws = [build()?, build()?];
    let at = laws.each_mut().map(|law| law.add());
    for step in trail {
        let [first, second] = &mut laws;
        let output = first.on_event(at[0], step.event, &step.observation);
        let instead = match other(step) {
            Some(other) => second.on_event(at[1], other.event, &other.observation),
            None => second.output(at[1], &step.observation),
        };
        let mut numbers = [Vec::new(), Vec::new()];
        first.each(at[0], &mut |number| numbers[0].push(number.0));
        second.each(at[1], &mut |number| numbers[1].push(number.0));
        if output.probability != instead.probability || numbers[0] != numbers[1] {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first measurement without a place in bpf/tc/observation.h that the law uses on this trail.
fn hidden(trail: &[Step], build: Build<'_>) -> Result<Option<&'static str>, String> {
    type Hidden = fn(&mut Step, u64);
    let all: [(&'static str, Hidden); 4] = [
        ("the length of the queue", |step, drawn| step.observation.queue = Fix((drawn >> 1 >> (drawn % 31)) as i64)),
        ("the time that packets wait", |step, drawn| {
            step.observation.sojourn_s = Fix((drawn >> 1 >> (drawn % 61)) as i64);
        }),
        ("the time that the line stands idle", |step, drawn| {
            if let Event::Arrival { idle, .. } = &mut step.event {
                *idle = (drawn >> 32 >> (drawn % 31)) as u32;
            }
        }),
        ("the arrivals of a period before its end", |step, drawn| {
            if step.event != Event::Tick {
                step.observation.arrived = Fix((drawn >> 1 >> (drawn % 31)) as i64);
            }
        }),
    ];
    for (what, hide) in all {
        let mut draws = Draws::new();
        let with = |step: &Step| {
            let mut other = *step;
            hide(&mut other, draws.next());
            Some(other)
        };
        if differs(trail, build, with)? {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// Checks an object before it is loaded.
pub(super) fn fits(open: &mut OpenObject, law: &str, fit: &Fit) -> Result<(), Error> {
    let name = name_in_c(law);
    let at_devices: Vec<String> = open
        .progs()
        .filter(|program| program.section() == SECTION)
        .map(|program| program.name().to_string_lossy().into_owned())
        .collect();
    let shape = open.maps().find(|map| map.name() == SHAPE);
    let shape = shape.and_then(|map| {
        let words = map.initial_value()?.chunks_exact(8);
        let words: Vec<u64> = words.map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default())).collect();
        <[u64; 5]>::try_from(words).ok()
    });
    let Some([headers, arrives, ticks, params, state]) = shape else {
        return Err(unfit(law, "it has no section .rodata.shape, as a program over tc/aqm.h has"));
    };
    if headers != HEADERS {
        return Err(of_other_headers(law, headers, HEADERS));
    }
    if at_devices != [name.clone()] {
        let has = at_devices.join(", ");
        return Err(unfit(law, &format!("its program is `{has}`: write `#define AQM_PROGRAM {name}`")));
    }
    let mismatch = match arrives == 1 {
        true if fit.at_ticks_only => Some("it defines AQM_ARRIVAL, and the law decides on departure"),
        false if fit.arrives => Some("it does not define AQM_ARRIVAL, and arrivals or hits change the law"),
        _ => None,
    };
    if let Some(mismatch) = mismatch {
        return Err(unfit(law, mismatch));
    }
    if (ticks == 1) != fit.ticks {
        let (defines, has) = if fit.ticks { ("does not define", "a period") } else { ("defines", "no period") };
        return Err(unfit(law, &format!("it {defines} AQM_TICK, and the law has {has}")));
    }
    if params != 8 * fit.words {
        let size = 8 * fit.words;
        return Err(unfit(law, &format!("its AQM_PARAMS has {params} B, and the parameters of the law take {size} B")));
    }
    if state < 8 * fit.numbers {
        let (has, wants) = (state / 8, fit.numbers);
        return Err(unfit(
            law,
            &format!("its AQM_STATE has {has} words, and the state of the law in Rust has {wants}"),
        ));
    }
    let size = |name: &str| open.maps().find(|map| map.name() == name).map_or(0, |map| u64::from(map.value_size()));
    if size("settings") != SETTINGS + params || size("state") < state || size("books") != books::BYTES {
        return Err(unfit(law, "its maps `settings`, `state` and `books` are not those of tc/aqm.h"));
    }
    Ok(())
}
