//! A capture on its way into a record that is not complete yet.

use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use penstock_record::capture::{CAPTURE_FILE, Capture, CaptureError};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{End, Sighting};

use crate::draft::Draft;
use crate::failure::Failure;
use crate::folder::{Folder, unwritable};

/// A draft of a record with a capture that is being written.
pub(crate) struct Capturing {
    draft: Draft,
    /// Its final path, for messages.
    place: PathBuf,
    capture: Capture<BufWriter<File>>,
    /// Why it cannot go on.
    failed: Option<CaptureError>,
}

impl fmt::Debug for Capturing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capturing").field("place", &self.place).field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl Capturing {
    /// Begins a record with the capture of one end of every flow.
    pub(crate) fn begin(folder: &Folder, name: &str, scenario: &Scenario, end: End) -> Result<Self, Failure> {
        let draft = folder.draft(name)?;
        let place = folder.path().join(name).join(CAPTURE_FILE);
        let file = File::create_new(draft.path().join(CAPTURE_FILE)).map_err(|e| unwritable(&place, &e))?;
        let capture = Capture::new(BufWriter::with_capacity(1 << 20, file), scenario, end);
        Ok(Self { capture: capture.map_err(|e| failure(&place, &e))?, draft, place, failed: None })
    }

    /// Takes note of a packet; [`Capturing::failed`] reports errors.
    pub(crate) fn see(&mut self, seen: &Sighting) {
        if self.failed.is_none() {
            self.failed = self.capture.see(seen).err();
        }
    }

    /// Whether it has failed, so that going on is useless.
    pub(crate) fn failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Ends the capture and gives the draft that it is in; or the error.
    pub(crate) fn finish(self) -> Result<Draft, Failure> {
        let ended = match self.failed {
            Some(error) => Err(error),
            None => self.capture.finish(),
        };
        ended.map(|_| self.draft).map_err(|e| failure(&self.place, &e))
    }
}

fn failure(place: &Path, error: &CaptureError) -> Failure {
    match error {
        CaptureError::Write(e) => unwritable(place, e),
        CaptureError::TooManyFlows(_) | CaptureError::TooLarge(_) => Failure::input(error),
        CaptureError::UnknownFlow(_) | CaptureError::Misshapen { .. } => Failure::Bug(error.to_string()),
    }
}
