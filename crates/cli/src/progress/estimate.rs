//! Remaining time of several pieces of work: the times of finished and running pieces, carried over to those
//! that wait.
//!
//! The cost of a piece is known up to a factor only, and that factor differs from one file to another by a hundred and
//! more, so each group of pieces has its own, measured one. No upper limit is given while a group waits of which nothing
//! was measured.

/// A piece of work.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Pieces of one group cost alike: cells of one file.
    pub(crate) group: usize,
    /// Its cost, in a unit that is the same for all of its group.
    pub(crate) cost: f64,
    /// Its progress.
    pub(crate) state: State,
}

/// Progress of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum State {
    /// Not begun.
    Waiting,
    /// Begun at that time [s], and done to that share.
    Running {
        /// When it began [s].
        since_s: f64,
        /// 0 to 1.
        share: f64,
    },
    /// Took so long [s].
    Finished(f64),
}

/// Remaining time [s].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rest {
    /// At least about this.
    pub(crate) least_s: f64,
    /// At most about this; none where that is not known.
    pub(crate) most_s: Option<f64>,
}

/// A running piece is evidence of its speed from this share on.
const TELLS: f64 = 0.02;
/// Distance of the limits in standard deviations.
const WIDTH: f64 = 2.0;
/// Relative deviation of one group's pieces before there are several of them.
const UNSEEN: f64 = 0.5;
/// Relative error of the remainder of a running piece.
const UNEVEN: f64 = 0.25;

/// Time of the pieces of a group, for each unit of cost [s].
#[derive(Debug, Clone, Copy)]
struct Speed {
    mean: f64,
    sd: f64,
    slowest: f64,
    count: f64,
}

/// Remaining time of `pieces`, which begin in the order of `order` on `threads` threads, at the time `now_s`. None where
/// nothing is known.
pub(crate) fn rest(pieces: &[Piece], order: &[usize], threads: usize, now_s: f64) -> Option<Rest> {
    let groups = pieces.iter().map(|piece| piece.group + 1).max()?;
    let speeds: Vec<Option<Speed>> = (0..groups).map(|group| speed(pieces, now_s, |p| p.group == group)).collect();
    let all = speed(pieces, now_s, |_| true)?;
    let of = |piece: &Piece| speeds[piece.group].unwrap_or(all);
    let waits = |piece: &&Piece| piece.state == State::Waiting;

    // What the waiting pieces of a group take together is off by their own scatter, and by that of the mean.
    let (mut work, mut variance) = (0.0, 0.0);
    for group in 0..groups {
        let own = || pieces.iter().filter(waits).filter(|piece| piece.group == group);
        let Some(first) = own().next() else { continue };
        let speed = of(first);
        let (sum, squares) = own().fold((0.0, 0.0), |(sum, squares), p| (sum + p.cost, squares + p.cost * p.cost));
        work += sum * speed.mean;
        variance += speed.sd * speed.sd * (squares + sum * sum / speed.count);
    }
    let off = if work > 0.0 { WIDTH * variance.sqrt() / work } else { 0.0 };
    let unknown = pieces.iter().filter(waits).any(|piece| speeds[piece.group].is_none());

    let left = |piece: &Piece| match piece.state {
        State::Finished(_) => 0.0,
        State::Waiting => piece.cost * of(piece).mean,
        State::Running { since_s, share } if share >= TELLS => (now_s - since_s) * (1.0 - share) / share,
        // Nothing is heard of it: as much again as it took, if it is late already.
        State::Running { since_s, .. } => (piece.cost * of(piece).mean - (now_s - since_s)).max(now_s - since_s),
    };
    // The last to begin decides the end; it may be as slow as the slowest.
    let last = order.iter().rev().copied().find(|&at| pieces[at].state == State::Waiting);
    let end = |of_running: f64, of_waiting: f64, straggler: bool| {
        let mut free = vec![0.0_f64; threads.max(1)];
        let running = (0..pieces.len()).filter(|&at| matches!(pieces[at].state, State::Running { .. }));
        for (thread, at) in free.iter_mut().zip(running) {
            *thread = left(&pieces[at]) * of_running;
        }
        for &at in order.iter().filter(|&&at| pieces[at].state == State::Waiting) {
            let slow = pieces[at].cost * of(&pieces[at]).slowest;
            let takes = left(&pieces[at]) * of_waiting;
            let next = free.iter_mut().min_by(|a, b| a.total_cmp(b));
            if let Some(next) = next {
                *next += if straggler && Some(at) == last { takes.max(slow) } else { takes };
            }
        }
        free.into_iter().fold(0.0, f64::max)
    };
    Some(Rest {
        least_s: end(1.0 - UNEVEN, libm::exp(-off), false),
        most_s: (!unknown).then(|| end(1.0 + UNEVEN, 1.0 + off, true)),
    })
}

/// The speed of the pieces that `wanted` has, as far as it is known.
fn speed(pieces: &[Piece], now_s: f64, wanted: impl Fn(&Piece) -> bool) -> Option<Speed> {
    let took = |piece: &Piece| match piece.state {
        State::Finished(wall_s) => Some(wall_s),
        State::Running { since_s, share } if share >= TELLS => Some((now_s - since_s) / share),
        _ => None,
    };
    let measured = || {
        let known = pieces.iter().filter(|piece| piece.cost > 0.0 && wanted(piece));
        known.filter_map(|piece| Some((piece.cost, took(piece)?)))
    };
    let (cost, took_s) = measured().fold((0.0, 0.0), |(cost, took_s), (c, t)| (cost + c, took_s + t));
    if took_s <= 0.0 {
        return None;
    }
    let (mean, count) = (took_s / cost, measured().count() as f64);
    let squares: f64 = measured().map(|(c, t)| (t / c - mean) * (t / c - mean)).sum();
    let seen = if count > 1.0 { squares / (count - 1.0) } else { 0.0 };
    // What was assumed counts less with each piece that was seen.
    let assumed = UNSEEN * UNSEEN * mean * mean / count;
    let slowest = measured().map(|(c, t)| t / c).fold(0.0, f64::max);
    Some(Speed { mean, sd: (seen + assumed).sqrt(), slowest, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces that truly take so long, by the clock.
    struct History {
        pieces: Vec<Piece>,
        takes_s: Vec<f64>,
        order: Vec<usize>,
        threads: usize,
    }

    impl History {
        /// Of pieces with a group, a cost and the time that they take [s], begun as the command does it.
        fn of(pieces: &[(usize, f64, f64)], threads: usize) -> Self {
            let order = crate::jobs::order(&pieces.iter().map(|p| (p.0, p.1)).collect::<Vec<_>>());
            Self {
                pieces: pieces.iter().map(|p| Piece { group: p.0, cost: p.1, state: State::Waiting }).collect(),
                takes_s: pieces.iter().map(|p| p.2).collect(),
                order,
                threads,
            }
        }

        /// The estimates at a hundred times from the first to the last, and the true remaining times.
        fn said(mut self) -> Vec<(Option<Rest>, f64)> {
            let mut free = vec![0.0_f64; self.threads];
            let mut spans = vec![(0.0, 0.0); self.pieces.len()];
            for &at in &self.order {
                let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
                spans[at] = (*next, *next + self.takes_s[at]);
                *next = spans[at].1;
            }
            let end = free.into_iter().fold(0.0, f64::max);
            let mut said = Vec::new();
            for step in 0..100 {
                let now = end * f64::from(step) / 100.0;
                for (piece, (from, to)) in self.pieces.iter_mut().zip(&spans) {
                    piece.state = if now >= *to {
                        State::Finished(to - from)
                    } else if now >= *from {
                        State::Running { since_s: *from, share: (now - from) / (to - from) }
                    } else {
                        State::Waiting
                    };
                }
                said.push((rest(&self.pieces, &self.order, self.threads, now), end - now));
            }
            said
        }
    }

    /// A fixed sequence in 0..1 that looks like chance.
    fn chance(n: usize) -> impl Iterator<Item = f64> {
        (1..=n).map(|k| (k as f64 * 0.618_033_988_75).fract())
    }

    /// The share of the times with an estimate, and of these where the remaining time lay within the limits, to a
    /// tenth.
    fn right(said: &[(Option<Rest>, f64)]) -> (f64, f64) {
        let spoken: Vec<_> = said.iter().filter_map(|(rest, left)| Some(((*rest)?, *left))).collect();
        let within = |(rest, left): &&(Rest, f64)| {
            rest.least_s <= 1.1 * left + 0.1 && rest.most_s.is_none_or(|most_s| most_s >= 0.9 * left - 0.1)
        };
        (spoken.len() as f64 / said.len() as f64, spoken.iter().filter(within).count() as f64 / spoken.len() as f64)
    }

    #[test]
    fn nothing_is_said_before_anything_is_known() {
        let waiting = Piece { group: 0, cost: 1.0, state: State::Waiting };
        assert_eq!(rest(&[], &[], 2, 0.0), None);
        assert_eq!(rest(&[waiting.clone(), waiting.clone()], &[0, 1], 2, 5.0), None);
        let begun = Piece { state: State::Running { since_s: 0.0, share: 0.001 }, ..waiting };
        assert_eq!(rest(&[begun], &[0], 2, 5.0), None);
    }

    #[test]
    fn equal_pieces_are_foretold_closely() {
        let pieces: Vec<_> = (0..40).map(|_| (0, 1.0, 3.0)).collect();
        for threads in [1, 2, 7] {
            let said = History::of(&pieces, threads).said();
            assert_eq!(right(&said).1, 1.0, "{threads}");
            let (rest, left) = (said[50].0.unwrap(), said[50].1);
            assert!(rest.least_s > 0.6 * left && rest.most_s.unwrap() < 1.6 * left, "{threads}: {rest:?} {left}");
        }
    }

    #[test]
    fn heavy_tails_are_within_the_limits() {
        // Pareto with index 1.3: no variance, and a few pieces are most of the work.
        let pieces: Vec<_> = chance(120).map(|u| (0, 1.0, libm::pow(1.0 - u, -1.0 / 1.3))).collect();
        for threads in [1, 2, 4] {
            let (spoken, within) = right(&History::of(&pieces, threads).said());
            assert!(spoken > 0.95 && within > 0.9, "{threads}: {spoken} {within}");
        }
    }

    #[test]
    fn a_last_long_piece_is_seen_as_soon_as_it_runs() {
        // A hundred short ones, and one of which nobody could know that it takes as long as all of them.
        let mut pieces: Vec<_> = (0..100).map(|_| (0, 1.0, 1.0)).collect();
        pieces.extend([(0, 0.9, 100.0), (0, 0.5, 0.5)]);
        let said = History::of(&pieces, 2).said();
        for (rest, left) in said.iter().filter(|(_, left)| *left < 95.0) {
            let rest = rest.unwrap();
            // To a hundredth of the whole.
            assert!(rest.most_s.unwrap() >= 0.9 * left && rest.least_s <= 1.1 * left + 1.0, "{rest:?} {left}");
        }
    }

    #[test]
    fn what_is_cheap_by_its_packets_and_slow_by_the_clock_is_not_forgotten() {
        // The cells of a second file are a hundredth of the cost, and take ten times as long.
        let cheap = (0..50).map(|_| (0, 100.0, 1.0));
        let slow = (0..15).map(|_| (1, 1.0, 10.0));
        let pieces: Vec<_> = cheap.chain(slow).collect();
        let said = History::of(&pieces, 2).said();
        let short = said.iter().filter_map(|(rest, left)| Some((rest.as_ref()?.most_s?, *left)));
        for (most_s, left) in short {
            assert!(most_s >= 0.9 * left, "{most_s} is said, {left} is left");
        }
        let (spoken, within) = right(&said);
        assert!(spoken > 0.9 && within > 0.95, "{spoken} {within}");
    }

    #[test]
    fn of_a_group_that_waits_unseen_no_upper_limit_is_given() {
        let pieces = [
            Piece { group: 0, cost: 1.0, state: State::Finished(2.0) },
            Piece { group: 0, cost: 1.0, state: State::Running { since_s: 2.0, share: 0.5 } },
            Piece { group: 1, cost: 0.01, state: State::Waiting },
        ];
        let rest = rest(&pieces, &[0, 1, 2], 1, 3.0).unwrap();
        assert!(rest.least_s > 0.5 && rest.most_s.is_none(), "{rest:?}");
    }
}
