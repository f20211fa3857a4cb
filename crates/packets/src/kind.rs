//! Kinds of groups: what is known of all packets of a group is computed once, not at every turn of a packet's way.

/// The kind of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its data packets leave one by one, straight into a queue that is a [`Port`](penstock_link::Port), are acknowledged
    /// one by one and at once, and are neither counted nor watched.
    Plain,
    /// The same, but of hosts of today: acknowledgements wait for a second packet, and may have blocks; recovery is by time.
    Today,
    /// The same, but a data packet spends time in the end system first, goes to a queue of another sort, or is counted: it leaves as
    /// those of [`Kind::Other`] do.
    TodayOtherwise,
    /// As the first, of a law that requires deliveries.
    Detailed,
    /// Any other.
    Other,
}

impl Kind {
    /// The kind of a group of this one, whose data leave otherwise.
    pub(crate) const fn otherwise(self) -> Self {
        match self {
            Self::Today | Self::TodayOtherwise => Self::TodayOtherwise,
            Self::Plain | Self::Detailed | Self::Other => Self::Other,
        }
    }
}

/// A kind at compile time: code for flows of one kind has no tests of what only others have.
pub(crate) trait OfKind {
    const PLAIN: bool = false;
    const TODAY: bool = false;
    /// Its data leave as those of [`Kind::Other`] do.
    const OTHERWISE: bool = false;
    /// Its law requires deliveries. Of kind [`Kind::Other`] it may.
    const DETAILED: bool = false;
    const OTHER: bool = !Self::PLAIN && !Self::TODAY;
}

/// [`Kind::Plain`].
pub(crate) struct Plain;
/// [`Kind::Today`].
pub(crate) struct Today;
/// [`Kind::TodayOtherwise`].
pub(crate) struct TodayOtherwise;
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

impl OfKind for TodayOtherwise {
    const TODAY: bool = true;
    const OTHERWISE: bool = true;
}

impl OfKind for Detailed {
    const PLAIN: bool = true;
    const DETAILED: bool = true;
}

impl OfKind for Other {}
