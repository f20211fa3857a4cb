//! The order of default controllers.
//!
//! The defaults that were made in a network namespace are a stack. Nothing keeps it but the attachments themselves: each
//! remembers the defaults below it at its start, nearest first. Its records never change, so that a kill has nothing to
//! leave half-written; their validity is tested at use.

use std::collections::BTreeMap;
use std::fmt;

/// Taken in this order where nothing is known that the kernel still has. The second one always is there.
pub(super) const LAST: [&str; 2] = ["cubic", "reno"];

/// An attachment's record of a namespace's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    /// The namespace, by its inode.
    pub(super) namespace: u64,
    /// Number of the attachment among those that were made the default, the later the larger; zero if it never was.
    pub(super) layer: u64,
    /// The defaults below it, nearest first.
    pub(super) below: Vec<Below>,
}

/// A controller that was the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Below {
    pub(super) name: String,
    /// Of an attachment that was made the default, its layer: it holds for as long as the attachment has that one. Of
    /// another controller, or one that somebody else made the default, zero.
    pub(super) layer: u64,
}

impl fmt::Display for Below {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layer == 0 { f.write_str(&self.name) } else { write!(f, "{}@{}", self.name, self.layer) }
    }
}

impl Below {
    /// From its words.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (name, layer) = match text.split_once('@') {
            Some((name, layer)) => (name, layer.parse().ok()?),
            None => (text, 0),
        };
        Some(Self { name: name.to_owned(), layer })
    }
}

/// The attachments by name, and the record of each.
pub(super) type Attachments = BTreeMap<String, Option<Claim>>;

fn claim_of<'a>(attached: &'a Attachments, name: &str) -> Option<&'a Claim> {
    attached.get(name)?.as_ref()
}

/// The record of a namespace whose default is `now`, for an attachment that comes, or comes again; `wanted` is true if it
/// will be made the default there.
pub(super) fn remember(attached: &Attachments, name: &str, namespace: u64, now: &str, wanted: bool) -> Claim {
    let own = claim_of(attached, name);
    let next = || 1 + attached.values().flatten().map(|claim| claim.layer).max().unwrap_or(0);
    if let Some(own) = own {
        // It is the default, or need not become it: what is below it stays.
        if !wanted || (own.namespace == namespace && now == name) {
            let layer = if wanted && own.layer == 0 { next() } else { own.layer };
            return Claim { layer, ..own.clone() };
        }
    }
    let layer_of = |claim: &&Claim| claim.namespace == namespace;
    let top = claim_of(attached, now).filter(layer_of).map_or(0, |claim| claim.layer);
    let first = Below { name: now.to_owned(), layer: top };
    let rest = claim_of(attached, now).map(|claim| claim.below.clone()).unwrap_or_default();
    let mut below: Vec<Below> = Vec::new();
    for one in std::iter::once(first).chain(rest) {
        if one.name != name && below.iter().all(|known| known.name != one.name) {
            below.push(one);
        }
    }
    Claim { namespace, layer: if wanted { next() } else { 0 }, below }
}

/// Controllers that may be the default of a namespace when an attachment goes that is it now, the right one first. A controller
/// that the kernel does not have any more gives way to the next. [`LAST`] is not among them.
pub(super) fn after(attached: &Attachments, name: &str, namespace: u64) -> Vec<String> {
    let below = claim_of(attached, name).map(|claim| claim.below.as_slice()).unwrap_or_default();
    let holds = |one: &&Below| {
        let claim = claim_of(attached, &one.name);
        one.layer == 0 || claim.is_some_and(|claim| claim.layer == one.layer && claim.namespace == namespace)
    };
    below.iter().filter(holds).map(|one| one.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OURS: [&str; 3] = ["ccpd", "fast", "leadlag"];
    const THEIRS: [&str; 3] = ["bbr", "cubic", "vegas"];
    const HERE: u64 = 7;

    /// The possible steps, by numbers of controllers.
    #[derive(Debug, Clone)]
    enum Step {
        /// Attached, or attached again; whether as the default; whether killed between the pin and the default.
        Attach { ours: usize, default: bool, killed: bool },
        /// Detached; whether killed between the default and the pin.
        Detach { ours: usize, killed: bool },
        /// Somebody sets the default by hand, to one that the kernel has.
        Outside { theirs: usize },
        /// The same, to one of ours if it is attached.
        OutsideOurs { ours: usize },
        /// A module that nobody uses is taken out of the kernel, or put in.
        Module { theirs: usize },
    }

    /// A kernel: its controllers and its default.
    #[derive(Debug)]
    struct Kernel {
        attached: Attachments,
        modules: Vec<&'static str>,
        now: String,
    }

    impl Kernel {
        fn new() -> Self {
            Self { attached: Attachments::new(), modules: THEIRS.to_vec(), now: "bbr".to_owned() }
        }

        fn has(&self, name: &str) -> bool {
            name == "reno" || self.modules.contains(&name) || self.attached.contains_key(name)
        }

        fn attach(&mut self, name: &str, default: bool, killed: bool) {
            let claim = remember(&self.attached, name, HERE, &self.now, default);
            self.attached.insert(name.to_owned(), Some(claim));
            if default && !killed {
                name.clone_into(&mut self.now);
            }
        }

        fn detach(&mut self, name: &str, killed: bool) {
            if self.now == name {
                let below = after(&self.attached, name, HERE);
                let next = below.iter().map(String::as_str).chain(LAST).find(|next| *next != name && self.has(next));
                self.now = next.unwrap().to_owned();
            }
            if !killed {
                self.attached.remove(name);
            }
        }
    }

    /// The expected state: a stack, and the default below all of it.
    #[derive(Debug)]
    struct Model {
        stack: Vec<&'static str>,
        bottom: &'static str,
    }

    impl Model {
        fn now(&self) -> &'static str {
            self.stack.last().copied().unwrap_or(self.bottom)
        }
    }

    fn step(modules_and_ours: bool) -> impl Strategy<Value = Step> {
        let rare = u32::from(modules_and_ours);
        let killed = || prop::bool::weighted(0.2);
        prop_oneof![
            6 => (0..3_usize, any::<bool>(), killed()).prop_map(|(ours, default, killed)| Step::Attach { ours, default, killed }),
            4 => (0..3_usize, killed()).prop_map(|(ours, killed)| Step::Detach { ours, killed }),
            1 => (0..3_usize).prop_map(|theirs| Step::Outside { theirs }),
            rare => (0..3_usize).prop_map(|ours| Step::OutsideOurs { ours }),
            rare => (0..3_usize).prop_map(|theirs| Step::Module { theirs }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

        /// In any order of attaching, detaching, kills and others' changes to what is not ours: the default is the top of the
        /// stack.
        #[test]
        fn the_default_is_the_top_of_the_stack(steps in prop::collection::vec(step(false), 0..40)) {
            let mut kernel = Kernel::new();
            let mut model = Model { stack: Vec::new(), bottom: "bbr" };
            let all = OURS.iter().map(|name| Step::Detach { ours: OURS.iter().position(|n| n == name).unwrap(), killed: false });
            for step in steps.into_iter().chain(all) {
                match step {
                    Step::Attach { ours, default, killed } => {
                        let name = OURS[ours];
                        if default && !killed && model.now() != name {
                            model.stack.retain(|other| *other != name);
                            model.stack.push(name);
                        } else if default && killed && model.now() != name {
                            // It is told that it will be the default on top, and is not: it is nowhere.
                            model.stack.retain(|other| *other != name);
                        }
                        kernel.attach(name, default, killed);
                    }
                    Step::Detach { ours, killed } => {
                        let name = OURS[ours];
                        if !killed || model.now() == name {
                            model.stack.retain(|other| *other != name);
                        }
                        kernel.detach(name, killed);
                    }
                    Step::Outside { theirs } => {
                        model = Model { stack: Vec::new(), bottom: THEIRS[theirs] };
                        THEIRS[theirs].clone_into(&mut kernel.now);
                    }
                    Step::OutsideOurs { .. } | Step::Module { .. } => unreachable!("not drawn here"),
                }
                prop_assert_eq!(&kernel.now, model.now());
            }
            prop_assert_eq!(kernel.now, model.bottom);
        }

        /// Also where others make ours the default, or take controllers out of the kernel that were it: the default is one that
        /// the kernel has, and none of ours that is gone.
        #[test]
        fn the_default_is_one_that_the_kernel_has(steps in prop::collection::vec(step(true), 0..40)) {
            let mut kernel = Kernel::new();
            for step in steps {
                match step {
                    Step::Attach { ours, default, killed } => kernel.attach(OURS[ours], default, killed),
                    Step::Detach { ours, killed } => kernel.detach(OURS[ours], killed),
                    Step::Outside { theirs } if kernel.has(THEIRS[theirs]) => THEIRS[theirs].clone_into(&mut kernel.now),
                    Step::OutsideOurs { ours } if kernel.has(OURS[ours]) => OURS[ours].clone_into(&mut kernel.now),
                    Step::Module { theirs } if kernel.now != THEIRS[theirs] => {
                        match kernel.modules.iter().position(|name| *name == THEIRS[theirs]) {
                            Some(at) => drop(kernel.modules.remove(at)),
                            None => kernel.modules.push(THEIRS[theirs]),
                        }
                    }
                    _ => {}
                }
                prop_assert!(kernel.has(&kernel.now), "{:?}", kernel);
            }
            for name in OURS {
                kernel.detach(name, false);
                prop_assert!(kernel.has(&kernel.now), "{:?}", kernel);
            }
            prop_assert!(!OURS.contains(&kernel.now.as_str()), "{:?}", kernel);
        }
    }

    #[test]
    fn a_namespace_of_its_own_has_a_stack_of_its_own() {
        let mut attached = Attachments::new();
        let claim =
            |attached: &Attachments, name: &str, namespace, now: &str| remember(attached, name, namespace, now, true);
        attached.insert("fast".into(), Some(claim(&attached, "fast", 1, "bbr")));
        // That namespace was made while `fast` was the default of the first.
        attached.insert("ccpd".into(), Some(claim(&attached, "ccpd", 2, "fast")));
        assert_eq!(after(&attached, "ccpd", 2), ["fast", "bbr"]);
        attached.remove("fast");
        assert_eq!(after(&attached, "fast", 1), Vec::<String>::new());
    }

    #[test]
    fn words_come_back() {
        for text in ["bbr", "fast@3"] {
            assert_eq!(Below::read(text).unwrap().to_string(), text);
        }
        assert_eq!(Below::read("fast@x"), None);
    }
}
