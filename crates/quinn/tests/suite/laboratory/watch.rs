//! One flow whose window is looked at each millisecond, while something befalls single datagrams, or there are no data for a while.

use std::time::{Duration, Instant};

use penstock_quinn::Hosted;

use super::{Laboratory, Left, Line, Makes};

/// What the line does to one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It is lost.
    Loses,
    /// It gets the codepoint CE.
    Marks,
}

impl Laboratory {
    /// What befalls a datagram of so many bytes.
    pub(super) fn befalls(&mut self, from: usize, bytes: usize, now: Instant) -> Option<Deed> {
        let (at, deed) = *self.deeds.front()?;
        let has_data = from == 0 && bytes as f64 > self.line.packet / 2.0;
        (has_data && at <= now).then(|| self.deeds.pop_front())?;
        Some(deed)
    }
}

/// What happens to the flow.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plan<'a> {
    /// This datagram is lost, counted from one: it ends slow start. None if it is zero.
    pub(crate) first: u64,
    /// What befalls the first datagram with data from these times on \[ms\].
    pub(crate) deeds: &'a [(u64, Deed)],
    /// There are data again so long after so many bytes came to the server: bytes, \[ms\].
    pub(crate) pause: Option<(u64, u64)>,
    /// The flow is watched for so long. Of a flow with a pause, from then on \[ms\].
    pub(crate) lasts: u64,
}

#[derive(Debug)]
pub(crate) struct Watched {
    /// The window, each millisecond [packets].
    pub(crate) windows: Vec<f64>,
    /// The rate that the controller wants, if it wants one [bit/s].
    pub(crate) rates: Vec<Option<u64>>,
    /// Bytes that came to the server until then.
    pub(crate) taken: Vec<u64>,
    pub(crate) left: Vec<Left>,
    /// When there were data again \[ms\].
    pub(crate) again: Option<u64>,
    /// Losses and echoes that were congestion events for quinn.
    pub(crate) events: u64,
    /// The state of a law of ours at the end.
    pub(crate) state: Vec<(&'static str, &'static str, f64)>,
}

impl Watched {
    /// A number of the law's state.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.state.iter().find(|(one, ..)| *one == name).map(|(.., number)| *number)
    }
}

pub(crate) fn watch(line: Line, flow: Makes, plan: Plan) -> Watched {
    let mut laboratory = Laboratory::new(line, 1);
    let begin = laboratory.begin;
    let at = |ms: u64| begin + Duration::from_millis(ms);
    laboratory.lost = plan.first;
    laboratory.deeds = plan.deeds.iter().map(|(ms, deed)| (at(*ms), *deed)).collect();
    laboratory.sides[0].left = Some(Vec::new());
    laboratory.sides[0].more = plan.pause.map_or(u64::MAX, |(bytes, _)| bytes);
    let mut now = begin;
    laboratory.start(0, flow, now);
    let (mut windows, mut rates, mut taken, mut quiet, mut again) = (Vec::new(), Vec::new(), Vec::new(), None, None);
    for ms in 0.. {
        while let Some(next) = laboratory.next().filter(|next| *next <= at(ms)) {
            now = now.max(next);
            laboratory.step(now);
        }
        now = at(ms);
        let connection = &laboratory.sides[0].connection.as_ref().unwrap().1;
        // Whoever asks for the window asks as quinn does: this is not to count.
        let metrics = connection.congestion_state().metrics();
        windows.push(metrics.congestion_window as f64 / line.packet);
        rates.push(metrics.pacing_rate);
        taken.push(laboratory.sides[1].taken);
        if let Some((bytes, pause)) = plan.pause {
            if laboratory.sides[1].taken == bytes {
                quiet.get_or_insert(ms);
            }
            if again.is_none() && quiet.is_some_and(|quiet| ms == quiet + pause) {
                again = Some(ms);
                laboratory.sides[0].more = u64::MAX;
                laboratory.drive(0, now);
            }
        }
        if ms == plan.lasts + again.unwrap_or(0) && (plan.pause.is_none() || again.is_some()) {
            break;
        }
    }
    let connection = &laboratory.sides[0].connection.as_ref().unwrap().1;
    let controller = connection.congestion_state().clone_box().into_any();
    let state = controller.downcast::<Hosted>().map_or_else(|_| Vec::new(), |hosted| hosted.state());
    let events = connection.stats().path.congestion_events;
    Watched { windows, rates, taken, left: laboratory.sides[0].left.take().unwrap(), again, events, state }
}
