//! Laws of this project as controllers of a run: registered when it begins, gone when it ends.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use penstock_kernel::attach::{self, controller};
use penstock_law::cc;
use penstock_path::Refused;
use penstock_scenario::model::{Chosen, Group, Pacing};

/// The kernel's name of the controller of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Controller {
    /// One of its own.
    Kernel(&'static str),
    /// A law, under a name of this run.
    Law {
        /// The law.
        law: &'static str,
        /// Its name in this kernel.
        name: Arc<str>,
    },
}

impl Controller {
    /// The name that sockets request.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Kernel(name) => name,
            Self::Law { name, .. } => name,
        }
    }

    /// The name that a record shows, given the controller in effect of a socket.
    pub(super) fn shown<'a>(&self, in_effect: &'a str) -> &'a str
    where
        'static: 'a,
    {
        match self {
            Self::Law { law, name } if **name == *in_effect => law,
            _ => in_effect,
        }
    }
}

/// A law that a run needs registered.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) name: Arc<str>,
    chosen: Chosen<cc::Controller>,
    habits: controller::Habits,
    /// Whether its receiver must have it too.
    pub(super) requires_ecn: bool,
}

/// The law of a group, unless no kernel can have it; `number` distinguishes the groups of a run.
pub(super) fn wanted(whose: &str, group: &Group, number: usize) -> Option<Result<Wanted, Refused>> {
    let law = group.cc.law.name;
    if !controller::has_program(group.cc.law) {
        return None;
    }
    let no = |what: String, instead: &str| Some(Err(Refused::new(format!("{whose}: {what}"), instead)));
    match controller::requires_ecn(&group.cc) {
        Err(error) => no(error.to_string(), "choose other parameters, or `--world packets`"),
        Ok(requires_ecn) => {
            let habits = controller::Habits { paced: group.sender.pacing != Pacing::Off, traced: false };
            let name = controller::own_name(law, number).into();
            Some(Ok(Wanted { name, chosen: group.cc.clone(), habits, requires_ecn }))
        }
    }
}

/// The laws of a run while it lasts, and the kernel's statistics of their cost.
#[derive(Debug)]
pub(super) struct Registered {
    loaded: Vec<controller::Loaded>,
    _counting: Option<OwnedFd>,
}

impl Registered {
    pub(super) fn new(wanted: &[Wanted]) -> Result<Self, attach::Error> {
        let load = |wanted: &Wanted| controller::Loaded::new(&wanted.chosen, wanted.habits, &wanted.name);
        let loaded = wanted.iter().map(load).collect::<Result<_, _>>()?;
        // Without them a run says less of itself, and that is all.
        let counting = if wanted.is_empty() { None } else { controller::count_run_times().ok() };
        Ok(Self { loaded, _counting: counting })
    }

    /// The cost of each, a sentence each, and the estimates of the bottleneck by its packet pairs.
    pub(super) fn costs(&self) -> Vec<String> {
        let told = |loaded: &controller::Loaded| {
            let (law, cost) = (loaded.law(), loaded.cost()?);
            let whose = if controller::names().contains(&law) { "Penstock's" } else { "this program's own" };
            let controller::Cost { acks, nanoseconds_an_ack } = cost;
            let pairs = loaded.capacity().map_or_else(String::new, |controller::Capacity { pairs, packets_per_s }| {
                format!("; {pairs} packet pairs, by the last of which the bottleneck has a capacity of {packets_per_s:.0} packets/s")
            });
            Some(format!(
                "{law} is {whose}, by struct_ops: {acks} acknowledgements, {nanoseconds_an_ack:.0} ns each{pairs}"
            ))
        };
        self.loaded.iter().filter_map(told).collect()
    }
}
