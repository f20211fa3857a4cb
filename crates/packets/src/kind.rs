//! Kinds of groups: what is known of all packets of a group is computed once, not at every turn of a packet's way.

/// The kind of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its data packets leave one by one, straight into a queue that is a [`Port`](penstock_link::Port), are acknowledged
    /// one by one and at once, and are neither counted nor watched.
    Plain,
    /// The same, but of hosts of today: acknowledgements wait for a second packet, and may have blocks; recovery is by time.
    Today,
    /// As the first, of a law that requires deliveries.
    Detailed,
    /// Any other.
    Other,
}

/// A kind at compile time: code for flows of one kind has no tests of what only others have.
pub(crate) trait OfKind {
    const PLAIN: bool = false;
    const TODAY: bool = false;
    /// Its law requires deliveries. Of kind [`Kind::Other`] it may.
    const DETAILED: bool = false;
    const OTHER: bool = !Self::PLAIN && !Self::TODAY;
}

/// [`Kind::Plain`].
pub(crate) struct Plain;
/// [`Kind::Today`].
pub(crate) struct Today;
/// [`Kind::Detailed`].
pub(crate) struct Detailed;
/// [`Kind::Other`].
pub(crate) struct Other;

impl OfKind for Plain {
    const PLAIN: bool = true;
}

impl OfKind for Today {
    const TODAY: bool = true;
}

impl OfKind for Detailed {
    const PLAIN: bool = true;
    const DETAILED: bool = true;
}

impl OfKind for Other {}
