//! Defaults that are made and taken back in any order, with kills and others' changes in between.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use std::{env, process};

use penstock_kernel::attach::pins::Pins;
use penstock_kernel::attach::{self, Place, Request, Scope, Which};
use penstock_law::Registry;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bench::{self, Bench, Ends, ends};
use crate::optional::available;

const OURS: [&str; 3] = ["ccpd", "fast", "leadlag"];
const BY_DEFAULT: Place<'_> = Place::Sockets { default: Some(Scope::Namespace), trace: false };
const SOCKETS: Place<'_> = Place::Sockets { default: None, trace: false };

fn attach(bench: &Bench, ends: &Ends, law: &str, place: Place<'_>) {
    ends.within(|| bench.attach(law, place, &[])).unwrap();
}

fn detach(bench: &Bench, ends: &Ends, name: Option<&str>) {
    let detached = ends.within(|| attach::detach(&bench.pins, Which { name, device: None })).unwrap();
    assert_eq!(detached.notes, Vec::<String>::new());
}

/// Both gone with one command: the default is that of before, whichever came first.
pub(crate) fn two_defaults_are_taken_back_at_once() {
    for [first, second] in [["ccpd", "fast"], ["fast", "ccpd"]] {
        let bench = Bench::new();
        ends(|ends| {
            let before = ends.default();
            attach(&bench, ends, first, BY_DEFAULT);
            attach(&bench, ends, second, BY_DEFAULT);
            assert_eq!(ends.default(), second);
            detach(&bench, ends, None);
            assert_eq!(ends.default(), before, "{first}, {second}");
        });
        bench::eventually(|| !OURS.iter().any(|law| available().contains(&(*law).to_owned())));
    }
}

/// The default is one of ours by somebody else's hand: it is not left behind either.
pub(crate) fn a_default_set_by_hand_is_taken_back_too() {
    let bench = Bench::new();
    ends(|ends| {
        let before = ends.default();
        attach(&bench, ends, "fast", SOCKETS);
        ends.set_default("fast").unwrap();
        attach(&bench, ends, "fast", BY_DEFAULT);
        detach(&bench, ends, None);
        assert_eq!(ends.default(), before);
        attach(&bench, ends, "fast", SOCKETS);
        ends.set_default("fast").unwrap();
        detach(&bench, ends, Some("fast"));
        assert_eq!(ends.default(), before);
    });
}

/// Has a process of its own attach or detach, and be killed. Only if a test below has set it.
pub(crate) const KILLED: &str = "PENSTOCK_TEST_ORDER";

pub(crate) fn obey(order: &str) -> ! {
    let words: Vec<&str> = order.split(' ').collect();
    let pins = Pins::at(words[0]);
    match words[1] {
        "attach" => drop(attach::attach(
            &pins,
            &Request { laws: &Arc::new(Registry::standard()), name: words[2], place: BY_DEFAULT, settings: &[] },
        )),
        _ => drop(attach::detach(&pins, Which { name: Some(words[2]), device: None })),
    }
    process::exit(0);
}

fn killed(bench: &Bench, ends: &Ends, what: &str, law: &str, after: Duration) {
    let order = format!("{} {what} {law}", bench.folder().display());
    let start = || Command::new(env::current_exe()?).env(KILLED, &order).spawn();
    let mut child = ends.within(start).unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Sequences of attaching, detaching, kills and others' changes: the default is the top of the stack and one that the kernel has,
/// and in the end what it was before, or what somebody else has made it last. A kill is followed by what finishes it; what
/// else may follow is for the model of `attach/controller/stack.rs`.
pub(crate) fn defaults_are_taken_back_in_any_order() {
    for seed in 1..=12 {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let bench = Bench::new();
        ends(|ends| {
            let before = ends.default();
            let (mut stack, mut bottom): (Vec<&str>, String) = (Vec::new(), before.clone());
            let mut story = Vec::new();
            for _ in 0..10 {
                let law = OURS[draw.next_u32() as usize % OURS.len()];
                let attached = |law: &str| bench.pins.path(&format!("cc-{law}")).exists();
                let step = draw.next_u32() % 10;
                let stack_top = stack.last().copied();
                story.push(format!("{step} {law}"));
                match step {
                    0..=2 => {
                        attach(&bench, ends, law, BY_DEFAULT);
                        if stack.last() != Some(&law) {
                            stack.retain(|other| *other != law);
                            stack.push(law);
                        }
                    }
                    3 => attach(&bench, ends, law, SOCKETS),
                    4 | 5 if attached(law) => {
                        detach(&bench, ends, Some(law));
                        stack.retain(|other| *other != law);
                    }
                    6 => {
                        // The kernel restricts others to the first namespace.
                        [&before, "reno"][draw.next_u32() as usize % 2].clone_into(&mut bottom);
                        ends.set_default(&bottom).unwrap();
                        stack.clear();
                    }
                    7..=9 => {
                        let what = if step == 9 { "detach" } else { "attach" };
                        killed(&bench, ends, what, law, Duration::from_micros(u64::from(draw.next_u32() % 60_000)));
                        // One that was killed before it had a pin goes by itself, a moment later.
                        bench::eventually(|| attached(law) || !available().contains(&law.to_owned()));
                        assert!(available().contains(&ends.default()), "seed {seed}: {story:?}");
                        // The same command finishes it, and so does the other one.
                        stack.retain(|other| *other != law || (what == "attach" && stack_top == Some(law)));
                        if what == "attach" && draw.next_u32() % 2 == 0 {
                            attach(&bench, ends, law, BY_DEFAULT);
                            if stack.last() != Some(&law) {
                                stack.push(law);
                            }
                        } else {
                            if attached(law) {
                                detach(&bench, ends, Some(law));
                            }
                            stack.retain(|other| *other != law);
                        }
                    }
                    _ => {}
                }
                let now = ends.default();
                assert!(available().contains(&now), "seed {seed}: {story:?}: {now} of {:?}", available());
                assert_eq!(now, stack.last().copied().unwrap_or(&bottom), "seed {seed}: {story:?}");
            }
            detach(&bench, ends, None);
            assert_eq!(ends.default(), bottom, "seed {seed}: {story:?}");
        });
        bench::eventually(|| !OURS.iter().any(|law| available().contains(&(*law).to_owned())));
    }
}
