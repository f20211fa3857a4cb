//! Rectangles and the legend's rows.

use super::canvas::Anchor;
use super::words::{text_width, wrap};

/// The part of a figure inside the axes, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// A point between 0 and 1, up and to the right, in pixels.
    pub(super) fn at(&self, p: (f64, f64)) -> (f64, f64) {
        (self.left + p.0 * (self.right - self.left), self.bottom - p.1 * (self.bottom - self.top))
    }

    /// The seat of a label that covers least of the drawing; the first of equals.
    pub(super) fn best_seat(
        &self,
        seats: &[(f64, f64, Anchor)],
        width: f64,
        drawn: &[(f64, f64)],
    ) -> (f64, f64, Anchor) {
        let covered = |seat: &&(f64, f64, Anchor)| {
            let left = if seat.2 == Anchor::End { seat.0 - width } else { seat.0 };
            let (right, top, bottom) = (left + width, seat.1 - 8.0, seat.1 + 8.0);
            if left < self.left || right > self.right || top < self.top || bottom > self.bottom {
                return usize::MAX;
            }
            drawn.iter().filter(|p| (left..=right).contains(&p.0) && (top..=bottom).contains(&p.1)).count()
        };
        seats.iter().min_by_key(covered).copied().unwrap_or((self.left, self.top, Anchor::Start))
    }

    pub(super) fn middle(&self) -> (f64, f64) {
        self.at((0.5, 0.5))
    }
}

/// The legend above the axes, so that it never covers data.
#[derive(Debug, Clone)]
pub(super) struct Legend {
    pub(super) entries: Vec<Entry>,
    pub(super) rows: usize,
}

/// One name of the legend, in the lines that it takes.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) name: Vec<String>,
    pub(super) x: f64,
    pub(super) row: usize,
}

/// The sample of a line in front of its name, and the space behind a name.
const SAMPLE: f64 = 28.0;
const SPACE: f64 = 20.0;

impl Legend {
    /// Names in rows of at most `width`. One that is wider has rows of its own.
    pub(super) fn new<'a>(names: impl Iterator<Item = (usize, &'a str)>, width: f64, size: f64) -> Self {
        let (mut x, mut row) = (0.0, 0);
        let mut entries = Vec::new();
        for (line, name) in names {
            let name = wrap(name, width - SAMPLE, size);
            let needed = SAMPLE + name.iter().map(|part| text_width(part, size)).fold(0.0, f64::max);
            if x > 0.0 && (x + needed > width || name.len() > 1) {
                (x, row) = (0.0, row + 1);
            }
            let more = name.len().saturating_sub(1);
            entries.push(Entry { line, name, x, row });
            x += needed + SPACE;
            if more > 0 {
                (x, row) = (width, row + more);
            }
        }
        let rows = if entries.is_empty() { 0 } else { row + 1 };
        Self { entries, rows }
    }
}
