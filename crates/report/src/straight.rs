//! Strokes without the points that nobody would miss.

/// How far from its point a stroke may pass, in tenths of a pixel: a fifth of a pixel cannot be seen.
const NEAR: i64 = 2;

/// The points, in tenths of a pixel, without those that the stroke passes near anyway (Douglas and Peucker), the first and the last kept.
pub(crate) fn straightened(points: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut kept = vec![false; points.len()];
    let mut parts: Vec<(usize, usize)> = points.len().checked_sub(1).map(|last| (0, last)).into_iter().collect();
    while let Some((first, last)) = parts.pop() {
        (kept[first], kept[last]) = (true, true);
        let between = (first + 1..last).map(|i| (i, Distance::to(points[i], points[first], points[last])));
        // Of several that are as far, the first.
        let farthest = between.reduce(|far, each| if each.1.beyond(&far.1) { each } else { far });
        if let Some((at, distance)) = farthest
            && !distance.near()
        {
            parts.extend([(first, at), (at, last)]);
        }
    }
    points.iter().zip(kept).filter_map(|(point, kept)| kept.then_some(*point)).collect()
}

/// The square of the distance of a point from a segment, as a fraction: exact, so that every machine draws the same.
struct Distance {
    over: i128,
    under: i128,
}

impl Distance {
    fn to(point: (i32, i32), a: (i32, i32), b: (i32, i32)) -> Self {
        let from =
            |p: (i32, i32), q: (i32, i32)| (i128::from(q.0) - i128::from(p.0), i128::from(q.1) - i128::from(p.1));
        let dot = |p: (i128, i128), q: (i128, i128)| p.0 * q.0 + p.1 * q.1;
        let (along, out) = (from(a, b), from(a, point));
        let (length, part) = (dot(along, along), dot(along, out));
        if part <= 0 || length == 0 {
            return Self { over: dot(out, out), under: 1 };
        }
        if part >= length {
            let out = from(b, point);
            return Self { over: dot(out, out), under: 1 };
        }
        let across = along.0 * out.1 - along.1 * out.0;
        Self { over: across * across, under: length }
    }

    const fn beyond(&self, other: &Self) -> bool {
        self.over * other.under > other.over * self.under
    }

    const fn near(&self) -> bool {
        self.over <= (NEAR * NEAR) as i128 * self.under
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straightened stroke has points of the stroke, both ends, and passes near each point that it has not.
    #[test]
    fn a_straightened_stroke_passes_near_every_point() {
        assert_eq!(straightened(&[]), []);
        assert_eq!(straightened(&[(1, 1)]), [(1, 1)]);
        assert_eq!(straightened(&[(0, 0), (5, 1), (10, 0), (15, 0), (20, 0)]), [(0, 0), (20, 0)]);
        assert_eq!(straightened(&[(0, 0), (100, 0), (0, 0)]), [(0, 0), (100, 0), (0, 0)], "there and back");
        assert_eq!(straightened(&[(0, 0), (3, 0), (3, 40), (3, 0), (6, 0)]).len(), 5, "a spike stays");
        let wave = |i: i32| (3 * i, (400.0 * libm::sin(f64::from(i) * 0.02)) as i32 + (i * i) % 7);
        let points: Vec<(i32, i32)> = (0..1500).map(wave).collect();
        let kept = straightened(&points);
        assert!(kept.len() < points.len() / 2, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        let mut segments = kept.windows(2).peekable();
        for point in &points {
            while segments.peek().is_some_and(|s| s[1].0 < point.0) {
                segments.next();
            }
            let segment = segments.peek().unwrap();
            assert!(Distance::to(*point, segment[0], segment[1]).near(), "{point:?}");
        }
    }
}
