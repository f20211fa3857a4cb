//! Where a setting was written.

use std::ops::Range;
use std::sync::Arc;

/// Where a node was written.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// At these bytes of the file.
    File(Range<usize>),
    /// On the command line; the text is `--set KEY=VALUE`.
    Setting(Arc<str>),
}
