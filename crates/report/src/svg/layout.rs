//! Rectangles and the legend's rows.

use super::canvas::text_width;

/// The part of a figure inside the axes [px].
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

/// One name of the legend.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) x: f64,
    pub(super) row: usize,
}

impl Legend {
    /// Names in rows of at most `width`.
    pub(super) fn new<'a>(names: impl Iterator<Item = (usize, &'a str)>, width: f64, size: f64) -> Self {
        let (mut x, mut row) = (0.0, 0);
        let mut entries = Vec::new();
        for (line, name) in names {
            let name = shortened(name, width - 40.0, size);
            let needed = 28.0 + text_width(&name, size);
            if x > 0.0 && x + needed > width {
                (x, row) = (0.0, row + 1);
            }
            entries.push(Entry { line, name, x, row });
            x += needed + 20.0;
        }
        let rows = if entries.is_empty() { 0 } else { row + 1 };
        Self { entries, rows }
    }
}

/// `text`, cut where it would be wider than `width`.
pub(super) fn shortened(text: &str, width: f64, size: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if text_width(&out, size) > width - size {
            break;
        }
    }
    out.push('\u{2026}');
    out
}
