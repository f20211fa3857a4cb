//! From data to strokes: broken where a number is missing, clipped to the drawing, thinned to the visible resolution.
//!
//! All coordinates here lie between 0 and 1 across the drawing.

use crate::scale::Ruler;

type Point = (f64, f64);

/// The unbroken pieces of a line inside the drawing. `columns` is the visible resolution.
pub(crate) fn strokes(points: &[Point], x: &Ruler, y: &Ruler, stairs: bool, columns: usize) -> Vec<Vec<Point>> {
    let mut strokes = Vec::new();
    let mut run = Vec::new();
    for p in points {
        let at = (x.place(p.0), y.place(p.1));
        if at.0.is_nan() || at.1.is_nan() {
            finish(&mut run, &mut strokes, columns);
            continue;
        }
        if stairs && let Some(&(_, before)) = run.last() {
            run.push((at.0, before));
        }
        run.push(at);
    }
    finish(&mut run, &mut strokes, columns);
    strokes
}

/// A line that turns too often to be visible: its mean in each column, and the range of its values there.
pub(crate) struct Envelope {
    /// Along x, with gaps where the line has them.
    pub(crate) mean: Vec<Point>,
    /// x, low, high, with the same gaps.
    pub(crate) band: Vec<(f64, f64, f64)>,
}

/// Columns of an envelope, across the drawing.
const COLUMNS: usize = 280;
/// A line that turns more often than this is a block of ink.
const TURNS: usize = 200;
/// The least size of a turn, as a share of the drawing's height.
const TURN: f64 = 0.02;

/// The envelope of a line that would be a block of ink; none for other lines.
pub(crate) fn envelope(points: &[Point], x: &Ruler, y: &Ruler) -> Option<Envelope> {
    let finite = |p: &&Point| p.0.is_finite() && p.1.is_finite();
    let rising = || points.iter().filter(finite).map(|p| p.0).is_sorted();
    if points.len() < 3 * COLUMNS || turns(points.iter().map(|p| y.place(p.1))) < TURNS || !rising() {
        return None;
    }
    let mut envelope = Envelope { mean: Vec::new(), band: Vec::new() };
    for run in points.split(|p| !p.0.is_finite() || !p.1.is_finite()) {
        let column = |p: &Point| (x.place(p.0) * COLUMNS as f64) as i64;
        for near in run.chunk_by(|a, b| column(a) == column(b)) {
            let (n, low, high) = (near.len() as f64, f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = near.iter().fold((low, high), |(l, h), p| (l.min(p.1), h.max(p.1)));
            let mean = |of: fn(&Point) -> f64| near.iter().map(of).sum::<f64>() / n;
            envelope.mean.push((mean(|p| p.0), mean(|p| p.1)));
            envelope.band.push((mean(|p| p.0), low, high));
        }
        envelope.mean.push((f64::NAN, f64::NAN));
        envelope.band.push((f64::NAN, f64::NAN, f64::NAN));
    }
    Some(envelope)
}

/// Number of turns of a line by more than [`TURN`].
fn turns(places: impl Iterator<Item = f64>) -> usize {
    let (mut turns, mut up, mut extreme) = (0, true, f64::NAN);
    for at in places.filter(|at| at.is_finite()) {
        let beyond = if up { at - extreme } else { extreme - at };
        if extreme.is_nan() || beyond > 0.0 {
            extreme = at;
        } else if beyond < -TURN {
            (turns, up, extreme) = (turns + 1, !up, at);
        }
    }
    turns
}

/// The points inside the drawing, those left out that would lie on another.
pub(crate) fn dots(points: &[Point], x: &Ruler, y: &Ruler, columns: usize) -> Vec<Point> {
    let cell = columns as f64;
    let mut seen = std::collections::BTreeSet::new();
    points
        .iter()
        .map(|p| (x.place(p.0), y.place(p.1)))
        .filter(|p| inside(*p))
        .filter(|p| seen.insert(((p.0 * cell) as i64, (p.1 * cell) as i64)))
        .collect()
}

/// The pieces of a band inside the drawing, as x, low, high. Of more points than columns, a column has the range of its points; a
/// band that is stacked on others has their mean, so that it begins where the one below ends.
pub(crate) fn bands(
    band: &[(f64, f64, f64)],
    x: &Ruler,
    y: &Ruler,
    columns: usize,
    stacked: bool,
) -> Vec<Vec<(f64, f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new()];
    for b in band {
        // On a logarithmic axis a band that reaches down to zero reaches the bottom.
        let low = if y.is_log() && b.1 <= 0.0 { 0.0 } else { y.place(b.1) };
        let at = (x.place(b.0), low, y.place(b.2));
        if at.0.is_nan() || at.1.is_nan() || at.2.is_nan() {
            pieces.push(Vec::new());
        } else if (-1e-9..=1.0 + 1e-9).contains(&at.0)
            && let Some(piece) = pieces.last_mut()
        {
            let (low, high) = if at.1 <= at.2 { (at.1, at.2) } else { (at.2, at.1) };
            piece.push((at.0, low.clamp(0.0, 1.0), high.clamp(0.0, 1.0)));
        }
    }
    pieces.retain(|p| !p.is_empty());
    for piece in &mut pieces {
        piece.sort_by(|a, b| a.0.total_cmp(&b.0));
        if piece.len() > 2 * columns {
            let column = |b: &(f64, f64, f64)| (b.0 * columns as f64) as usize;
            let one = |all: &[(f64, f64, f64)]| {
                let n = all.len() as f64;
                let sum = all.iter().fold((0.0, 0.0, 0.0), |s, b| (s.0 + b.0, s.1 + b.1, s.2 + b.2));
                let range = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |r, b| (r.0.min(b.1), r.1.max(b.2)));
                if stacked { (sum.0 / n, sum.1 / n, sum.2 / n) } else { (all[0].0, range.0, range.1) }
            };
            *piece = piece.chunk_by(|a, b| column(a) == column(b)).map(one).collect();
        }
    }
    pieces
}

/// Whether a point is inside the drawing, the rim included.
pub(crate) fn inside(p: Point) -> bool {
    (-1e-9..=1.0 + 1e-9).contains(&p.0) && (-1e-9..=1.0 + 1e-9).contains(&p.1)
}

fn finish(run: &mut Vec<Point>, strokes: &mut Vec<Vec<Point>>, columns: usize) {
    for piece in clip(run) {
        let piece = thin(piece, columns);
        if !piece.is_empty() {
            strokes.push(piece);
        }
    }
    run.clear();
}

/// The pieces of a run inside the unit square.
fn clip(run: &[Point]) -> Vec<Vec<Point>> {
    if run.iter().all(|p| inside(*p)) {
        return vec![run.to_vec()];
    }
    let mut pieces = Vec::new();
    let mut piece: Vec<Point> = Vec::new();
    for pair in run.windows(2) {
        match clip_segment(pair[0], pair[1]) {
            Some((a, b)) => {
                if piece.last() != Some(&a) {
                    pieces.push(std::mem::take(&mut piece));
                    piece.push(a);
                }
                piece.push(b);
            }
            None => pieces.push(std::mem::take(&mut piece)),
        }
    }
    pieces.push(piece);
    pieces.retain(|p| !p.is_empty());
    pieces
}

/// Liang and Barsky's clipping of a segment to the unit square.
fn clip_segment(a: Point, b: Point) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (towards, room) in [(-dx, a.0), (dx, 1.0 - a.0), (-dy, a.1), (dy, 1.0 - a.1)] {
        if towards == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if towards < 0.0 {
            enter = enter.max(room / towards);
        } else {
            leave = leave.min(room / towards);
        }
    }
    let at = |t: f64| {
        if t == 0.0 {
            a
        } else if t == 1.0 {
            b
        } else {
            (a.0 + t * dx, a.1 + t * dy)
        }
    };
    (enter <= leave).then(|| (at(enter), at(leave)))
}

/// At most a few points a column: the first, the lowest, the highest and the last where x grows; otherwise those that are
/// a column's width apart.
fn thin(run: Vec<Point>, columns: usize) -> Vec<Point> {
    if run.len() <= 4 * columns {
        return run;
    }
    let mut out: Vec<Point> = Vec::new();
    if run.windows(2).all(|p| p[0].0 <= p[1].0) {
        for column in run.chunk_by(|a, b| (a.0 * columns as f64) as i64 == (b.0 * columns as f64) as i64) {
            let by = |i: &usize, j: &usize| column[*i].1.total_cmp(&column[*j].1);
            let low = (0..column.len()).min_by(by).unwrap_or(0);
            let high = (0..column.len()).max_by(by).unwrap_or(0);
            let mut keep = [0, low.min(high), low.max(high), column.len() - 1].to_vec();
            keep.dedup();
            out.extend(keep.into_iter().map(|i| column[i]));
        }
    } else {
        let apart = 1.0 / columns as f64;
        let last = run.len() - 1;
        for (i, p) in run.into_iter().enumerate() {
            let near = out.last().is_some_and(|q| (p.0 - q.0).abs() < apart && (p.1 - q.1).abs() < apart);
            if !near || i == last {
                out.push(p);
            }
        }
        let stride = out.len().div_ceil(8 * columns);
        if stride > 1 {
            out = out.into_iter().step_by(stride).collect();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Axis;
    use crate::scale::Fit;

    fn unit() -> Ruler {
        Ruler::new(&Axis::new("", "").between(0.0, 1.0), std::iter::empty(), Fit::Tight, 5)
    }

    #[test]
    fn a_missing_number_breaks_the_line() {
        let points = [(0.0, 0.5), (0.1, 0.5), (0.2, f64::NAN), (0.3, 0.5), (0.4, f64::INFINITY), (0.5, 0.5)];
        let pieces = strokes(&points, &unit(), &unit(), false, 100);
        assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1]);
    }

    #[test]
    fn a_line_leaves_and_enters_at_the_rim() {
        let pieces = strokes(&[(0.0, 0.5), (0.5, 1.5), (1.0, 0.5)], &unit(), &unit(), false, 100);
        assert_eq!(pieces, [vec![(0.0, 0.5), (0.25, 1.0)], vec![(0.75, 1.0), (1.0, 0.5)]]);
        assert!(strokes(&[(0.0, 2.0), (1.0, 3.0)], &unit(), &unit(), false, 100).is_empty());
    }

    #[test]
    fn steps_hold_their_value() {
        let pieces = strokes(&[(0.0, 0.0), (0.5, 1.0)], &unit(), &unit(), true, 100);
        assert_eq!(pieces, [vec![(0.0, 0.0), (0.5, 0.0), (0.5, 1.0)]]);
    }

    #[test]
    fn thinning_keeps_the_extremes() {
        let n = 100_000;
        let mut points: Vec<Point> = (0..n).map(|i| (i as f64 / n as f64, 0.5)).collect();
        points[54_321].1 = 0.99;
        points[77_777].1 = 0.01;
        let pieces = strokes(&points, &unit(), &unit(), false, 100);
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() <= 404, "{}", pieces[0].len());
        assert!(pieces[0].contains(&points[54_321]) && pieces[0].contains(&points[77_777]));
        assert_eq!((pieces[0].first(), pieces[0].last()), (points.first(), points.last()));
    }

    /// In a column the least may come before the largest or after it; the remainder of a line that runs forwards runs
    /// forwards.
    #[test]
    fn thinning_keeps_the_order() {
        let n = 100_000;
        let saw = |rises: bool| move |i: usize| if rises { i % 700 } else { 699 - i % 700 } as f64 / 700.0;
        for rises in [false, true] {
            let points: Vec<Point> = (0..n).map(|i| (i as f64 / n as f64, saw(rises)(i))).collect();
            let pieces = strokes(&points, &unit(), &unit(), false, 100);
            assert!(pieces.len() == 1 && pieces[0].len() <= 400, "{}", pieces.len());
            assert!(pieces[0].is_sorted_by(|a, b| a.0 <= b.0), "rises: {rises}");
        }
    }

    /// A block of ink becomes a mean and a range; a visible saw, a smooth curve and a line that turns back do not.
    #[test]
    fn a_line_that_turns_too_often_becomes_its_envelope() {
        let every = |n: usize, period: usize| -> Vec<Point> {
            (0..n).map(|i| (i as f64 / n as f64, if i % period < period / 2 { 0.2 } else { 0.8 })).collect()
        };
        let dense = envelope(&every(3000, 4), &unit(), &unit()).expect("1500 turns cannot be seen");
        let drawn = dense.band.iter().filter(|b| b.0.is_finite());
        assert!(drawn.clone().count() <= COLUMNS && drawn.clone().all(|b| (b.1, b.2) == (0.2, 0.8)));
        assert!(dense.mean.iter().filter(|p| p.0.is_finite()).all(|p| (p.1 - 0.5).abs() < 0.1));
        assert!(envelope(&every(3000, 60), &unit(), &unit()).is_none(), "50 periods can be seen");
        let mut back = every(3000, 4);
        back.reverse();
        assert!(envelope(&back, &unit(), &unit()).is_none(), "time runs forwards");
        let mut broken = every(3000, 4);
        broken[1500].1 = f64::NAN;
        let broken = envelope(&broken, &unit(), &unit()).expect("still dense");
        assert_eq!(bands(&broken.band, &unit(), &unit(), 560, false).len(), 2, "a gap is a gap");
    }

    #[test]
    fn a_curve_that_turns_back_is_thinned_by_distance() {
        let turn = |i: usize| {
            let (s, c) = libm::sincos(i as f64 * 1e-4 * core::f64::consts::TAU);
            (0.5 + 0.4 * c, 0.5 + 0.4 * s)
        };
        let points: Vec<Point> = (0..10_000).map(turn).collect();
        let pieces = strokes(&points, &unit(), &unit(), false, 100);
        assert!(pieces[0].len() < 900 && pieces[0].len() > 150, "{}", pieces[0].len());
    }

    #[test]
    fn a_band_is_cut_at_gaps_and_stays_inside() {
        let band = [(0.0, 0.1, 0.2), (0.5, -1.0, 3.0), (0.7, f64::NAN, 0.2), (0.9, 0.4, 0.3)];
        let pieces = bands(&band, &unit(), &unit(), 100, false);
        assert_eq!(pieces, [vec![(0.0, 0.1, 0.2), (0.5, 0.0, 1.0)], vec![(0.9, 0.3, 0.4)]]);
    }

    /// The upper limit of a band of a stack is the lower one of the next: in a drawing of few columns too.
    #[test]
    fn bands_of_a_stack_touch_and_do_not_overlap() {
        let n = 10_000;
        let at = |i: usize| i as f64 / n as f64;
        let first = |i: usize| if i.is_multiple_of(3) { 0.5 } else { 0.1 };
        let below: Vec<(f64, f64, f64)> = (0..n).map(|i| (at(i), 0.0, first(i))).collect();
        let above: Vec<(f64, f64, f64)> = (0..n).map(|i| (at(i), first(i), first(i) + 0.2)).collect();
        let drawn = [below, above].map(|band| bands(&band, &unit(), &unit(), 100, true).remove(0));
        assert_eq!(drawn[0].len(), 100);
        for (below, above) in drawn[0].iter().zip(&drawn[1]) {
            assert_eq!((below.0, below.2), (above.0, above.1));
            assert!((above.2 - above.1 - 0.2).abs() < 1e-12, "as high as its value");
        }
    }
}
