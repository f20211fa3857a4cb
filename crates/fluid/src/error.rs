//! Why a scenario has no analysis.

/// Obstacles to the analysis of a scenario.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// Nothing sends at the given time.
    #[error("no flow is active{}", at_s.map(|t| format!(" at {t} s")).unwrap_or_default())]
    NoFlows {
        /// The given time, if there was one [s].
        at_s: Option<f64>,
    },
    /// The flows cross no link at all.
    #[error("no flow crosses a link: without a queue there is no loop to analyse")]
    NoLink,
    /// More full links than the rank of the routing matrix.
    #[error(
        "prices are not determined: {} are full at the same time, and the routing matrix of the flows that cross \
         them has rank {rank} only; the rates are unique, but not the split of a price among these links: make one a \
         little faster, or give it flows of its own",
        links.join(", ")
    )]
    RankDeficient {
        /// The full links.
        links: Vec<String>,
        /// The rank of the routing matrix of full links.
        rank: usize,
    },
    /// The search did not end.
    #[error("the search for an equilibrium of {} did not end; there may be no equilibrium", links.join(", "))]
    NotFound {
        /// The links that were full when it was given up.
        links: Vec<String>,
    },
    /// A path has links that mark and links that drop.
    #[error(
        "`{class}` crosses `{marks}`, which marks its packets, and `{drops}`, which drops them; the analysis \
         supports one signal per path: let both links mark, or neither"
    )]
    MarksAndDrops {
        /// The class of flows.
        class: String,
        /// A link that marks.
        marks: String,
        /// A link that drops.
        drops: String,
    },
    /// The scenario has a feature that changes the result and that the analysis does not count.
    #[error("{place} has {what}, which the analysis does not support: {remedy}")]
    NotCounted {
        /// The link or the group of flows.
        place: String,
        /// The feature.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// A law cannot be linearised.
    #[error("the analysis does not support the {noun} `{law}`: {reason}")]
    NotLinear {
        /// The role of the law.
        noun: &'static str,
        /// Its name.
        law: &'static str,
        /// The registry's reason.
        reason: String,
    },
    /// A choice of clocking by acknowledgements for a law that has no window.
    #[error(
        "`{law}` of `{class}` has no window and no acknowledgements: the gap times its packets, and no other clock \
         is possible"
    )]
    NoWindow {
        /// The group of flows.
        class: String,
        /// The law's name.
        law: &'static str,
    },
    /// A law refused its parameters.
    #[error("`{law}`: {message}")]
    Compile {
        /// Its name.
        law: &'static str,
        /// Its message.
        message: String,
    },
    /// A law acts on a period and once a round trip as well.
    #[error(
        "`{law}` acts both once per period and once per round trip: the analysis does not support two clocks in \
         one law"
    )]
    TwoClocks {
        /// Its name.
        law: &'static str,
    },
    /// A law did not settle at a constant signal.
    #[error(
        "`{law}` of `{class}` has no equilibrium at a queueing delay of {queueing_delay_s} s and a mark probability \
         of {probability}"
    )]
    NotSettled {
        /// The class of flows, or the link.
        class: String,
        /// The law's name.
        law: &'static str,
        /// Queueing delay [s].
        queueing_delay_s: f64,
        /// Mark or drop probability.
        probability: f64,
    },
    /// No signal of the link makes the sources send at its capacity.
    #[error("no equilibrium on `{link}` with `{aqm}`: {why}")]
    NoEquilibrium {
        /// The link.
        link: String,
        /// Its queue's law.
        aqm: &'static str,
        /// The state found instead, and the registry's reason where it has one.
        why: String,
    },
    /// A customer sends no more than its contract lets it.
    #[error(
        "the flows of `{customer}` use {utilization:.4} of the committed rate: the bucket is full, and no packet is \
         out of profile"
    )]
    NoMarking {
        /// The customer.
        customer: String,
        /// Rate over the committed rate.
        utilization: f64,
    },
    /// The sources do not fill the link, whatever its signal.
    #[error(
        "`{link}` is not a bottleneck: its flows fill {utilization:.4} of its rate, with an empty queue and without \
         marks"
    )]
    NotFilled {
        /// The link.
        link: String,
        /// Load over capacity.
        utilization: f64,
    },
    /// The queue at equilibrium does not fit the buffer: packets are lost first.
    #[error(
        "no equilibrium on `{link}`: an equilibrium needs a queue of {queue_packets:.1} packets, and the buffer holds \
         {buffer_packets:.1}"
    )]
    BufferTooSmall {
        /// The link.
        link: String,
        /// The queue of the sources [packets].
        queue_packets: f64,
        /// Size of the buffer [packets].
        buffer_packets: f64,
    },
}
