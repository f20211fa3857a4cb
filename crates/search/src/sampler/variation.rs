//! Random genomes, mutation and crossover. Their results are in the space, whatever they are given.
//!
//! Sources: mutation of each gene with a probability of its own, and two-point crossover, are those of genetic algorithms
//! (Holland 1975; Goldberg 1989), uniform crossover is that of Syswerda (1989), and moves of geometric length on a grid are
//! those of Rudolph (1994) for integers. Changes to steps are our own: they make and break repetition in time, and put
//! lengths where a host has a timer.

use penstock_scenario::seed::Stream;

use super::draw::{below, geometric, one_of};
use crate::gene::{Allele, Domain, Gene, Genome};

/// The probability that a mutation changes a gene.
const MUTATED: f64 = 0.2;

/// The probability that a mutation of an optional gene that is present takes it away.
const VANISHES: f64 = 0.25;

/// The mean length of a move, as a share of the grid.
const MOVE: f64 = 0.1;

/// Length and value of a step, by their indices.
type Step = (usize, usize);

/// True if `genome` is in the space of these genes.
pub(super) fn admits(genes: &[Gene], genome: &Genome) -> bool {
    genome.0.len() == genes.len() && genes.iter().zip(&genome.0).all(|(gene, allele)| gene.admits(allele))
}

/// A genome of independent draws. Optional genes are present in half of the genomes.
pub(super) fn random(genes: &[Gene], stream: &mut Stream) -> Genome {
    Genome(genes.iter().map(|gene| random_allele(gene, stream)).collect())
}

/// A neighbour of `genome`: each gene changes with probability 0.2. If the draws choose none, one gene changes, each as
/// likely.
pub(super) fn mutate(genes: &[Gene], genome: &Genome, stream: &mut Stream) -> Genome {
    let mut chosen: Vec<bool> = genes.iter().map(|_| stream.lands(MUTATED)).collect();
    if !chosen.contains(&true) {
        let one = below(stream, genes.len());
        chosen.iter_mut().skip(one).take(1).for_each(|chosen| *chosen = true);
    }
    let mutated = genes.iter().enumerate().map(|(at, gene)| match genome.0.get(at).filter(|a| gene.admits(a)) {
        None => random_allele(gene, stream),
        Some(allele) if chosen[at] => mutate_allele(gene, allele, stream),
        Some(allele) => allele.clone(),
    });
    Genome(mutated.collect())
}

/// A child: each gene is from one of the parents, each as likely. Steps of both are crossed at two points.
pub(super) fn cross(genes: &[Gene], one: &Genome, other: &Genome, stream: &mut Stream) -> Genome {
    let crossed = genes.iter().enumerate().map(|(at, gene)| {
        let (mut first, mut second) = (one.0.get(at), other.0.get(at));
        if stream.lands(0.5) {
            (first, second) = (second, first);
        }
        let child = match (&gene.domain, first, second) {
            (Domain::Steps { fewest, most, .. }, Some(Allele::Steps(a)), Some(Allele::Steps(b))) => {
                Some(Allele::Steps(cross_steps(a, b, *fewest, *most, stream)))
            }
            _ => first.cloned(),
        };
        child.filter(|child| gene.admits(child)).unwrap_or_else(|| random_allele(gene, stream))
    });
    Genome(crossed.collect())
}

/// Steps of a gene: so many, with lengths and values drawn.
pub(super) fn random_steps(count: usize, lengths: usize, values: usize, stream: &mut Stream) -> Vec<Step> {
    (0..count).map(|_| (below(stream, lengths), below(stream, values))).collect()
}

/// A random allele; an optional gene is present with probability 1/2.
fn random_allele(gene: &Gene, stream: &mut Stream) -> Allele {
    if gene.optional && stream.lands(0.5) { Allele::Absent } else { present(gene, stream) }
}

/// A random allele of a gene that is present.
fn present(gene: &Gene, stream: &mut Stream) -> Allele {
    match gene.domain {
        Domain::Ordered { values, .. } | Domain::Choice { values } => Allele::At(below(stream, values)),
        Domain::Steps { lengths, values, fewest, most, .. } => {
            let count = fewest + below(stream, most.saturating_sub(fewest).saturating_add(1));
            Allele::Steps(random_steps(count, lengths, values, stream))
        }
    }
}

/// Another allele. It is the same only where the gene has no other.
fn mutate_allele(gene: &Gene, allele: &Allele, stream: &mut Stream) -> Allele {
    if gene.optional && *allele != Allele::Absent && stream.lands(VANISHES) {
        return Allele::Absent;
    }
    match (&gene.domain, allele) {
        (Domain::Ordered { values, landmarks }, Allele::At(at)) => Allele::At(vary(*at, *values, landmarks, stream)),
        (Domain::Choice { values }, Allele::At(at)) => Allele::At(other(*at, *values, stream)),
        (Domain::Steps { .. }, Allele::Steps(steps)) => Allele::Steps(mutate_steps(&gene.domain, steps, stream)),
        // It appears.
        _ => present(gene, stream),
    }
}

/// Another index in a list, each as likely.
fn other(at: usize, values: usize, stream: &mut Stream) -> usize {
    let drawn = below(stream, values.saturating_sub(1));
    if values > 1 && drawn >= at { drawn + 1 } else { drawn }
}

/// An index on a grid, some steps away from `at`, of geometric length. At an end of the grid it goes to the other side.
fn walk(at: usize, values: usize, stream: &mut Stream) -> usize {
    let most = values.saturating_sub(1);
    let by = geometric(stream, MOVE * values as f64);
    let up = stream.lands(0.5);
    if at >= most || at > 0 && !up { at.saturating_sub(by) } else { at.saturating_add(by).min(most) }
}

/// Another index on a grid: a walk, twice as likely as a new draw or a snap to a landmark.
fn vary(at: usize, values: usize, landmarks: &[usize], stream: &mut Stream) -> usize {
    match (below(stream, 4), snap(at, values, landmarks, stream)) {
        (0, _) => other(at, values, stream),
        (1, Some(landmark)) => landmark,
        _ => walk(at, values, stream),
    }
}

/// A landmark other than `at`, each as likely, if there is one.
fn snap(at: usize, values: usize, landmarks: &[usize], stream: &mut Stream) -> Option<usize> {
    let others: Vec<usize> =
        landmarks.iter().copied().filter(|landmark| *landmark < values && *landmark != at).collect();
    one_of(stream, &others).copied()
}

/// A change of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// A step has another value.
    Value,
    /// A step has another length.
    Length,
    /// A step becomes two, none longer, of which one keeps the value.
    Split,
    /// Two neighbours become one, with the longer length and the value of either.
    Merge,
    /// A step goes.
    Delete,
    /// A step occurs twice in a row.
    Repeat,
    /// A step occurs a second time elsewhere: between others, or, if there are as many as there may be, instead of another.
    Copy,
    /// A length becomes a landmark.
    Snap,
}

/// Steps with one change, each as likely of those that are possible.
fn mutate_steps(domain: &Domain, steps: &[Step], stream: &mut Stream) -> Vec<Step> {
    let Domain::Steps { lengths, landmarks, values, fewest, most } = domain else { return steps.to_vec() };
    let mut steps = steps.to_vec();
    let count = steps.len();
    let possible: Vec<Change> = [
        (Change::Value, *values > 1),
        (Change::Length, *lengths > 1),
        (Change::Split, count < *most),
        (Change::Merge, count > *fewest && count > 1),
        (Change::Delete, count > *fewest && count > 1),
        (Change::Repeat, count < *most),
        (Change::Copy, count > 1),
        (Change::Snap, landmarks.iter().any(|landmark| landmark < lengths)),
    ]
    .into_iter()
    .filter_map(|(change, possible)| possible.then_some(change))
    .collect();
    let at = below(stream, count);
    let (Some(change), Some(&(length, value))) = (one_of(stream, &possible), steps.get(at)) else { return steps };
    match change {
        Change::Value => steps[at].1 = vary(value, *values, &[], stream),
        Change::Length => steps[at].0 = vary(length, *lengths, &[], stream),
        Change::Split => {
            let parts = [(below(stream, length + 1), value), (below(stream, length + 1), walk(value, *values, stream))];
            steps.splice(at..=at, parts);
            if stream.lands(0.5) {
                steps.swap(at, at + 1);
            }
        }
        Change::Merge => {
            let at = at.min(count - 2);
            let (one, two) = (steps[at], steps[at + 1]);
            let value = if stream.lands(0.5) { one.1 } else { two.1 };
            steps.splice(at..at + 2, [(one.0.max(two.0), value)]);
        }
        Change::Delete => drop(steps.remove(at)),
        Change::Repeat => steps.insert(at, (length, value)),
        Change::Copy if count < *most => steps.insert(below(stream, count + 1), (length, value)),
        Change::Copy => steps[other(at, count, stream)] = (length, value),
        Change::Snap => steps[at].0 = snap(length, *lengths, landmarks, stream).unwrap_or(length),
    }
    steps
}

/// Steps of `one` with a stretch of `two` instead of a stretch of theirs; both stretches begin and end at boundaries of
/// steps. A child with too many steps loses the last ones. One with too few is not born: it is `one`.
fn cross_steps(one: &[Step], two: &[Step], fewest: usize, most: usize, stream: &mut Stream) -> Vec<Step> {
    let mut stretch = |steps: &[Step]| {
        let (a, b) = (below(stream, steps.len() + 1), below(stream, steps.len() + 1));
        (a.min(b), a.max(b))
    };
    let ((from, to), (begin, end)) = (stretch(one), stretch(two));
    let mut child = [&one[..from], &two[begin..end], &one[to..]].concat();
    child.truncate(most);
    if child.len() < fewest { one.to_vec() } else { child }
}

#[cfg(test)]
mod tests {
    use penstock_scenario::seed::Seed;

    use super::*;

    fn steps(fewest: usize, most: usize, landmarks: Vec<usize>) -> Gene {
        Gene { domain: Domain::Steps { lengths: 40, landmarks, values: 9, fewest, most }, optional: false }
    }

    fn stream() -> Stream {
        Seed(5).stream("variation")
    }

    #[test]
    fn a_mutation_changes_a_fifth_of_the_genes() {
        let genes: Vec<Gene> = (0..20).map(|_| crate::gene::ordered(30)).collect();
        let mut stream = stream();
        let start = random(&genes, &mut stream);
        let mut changed = 0;
        for _ in 0..2_000 {
            let mutant = mutate(&genes, &start, &mut stream);
            let differ = start.0.iter().zip(&mutant.0).filter(|(a, b)| a != b).count();
            assert!(differ > 0);
            changed += differ;
        }
        // 40,000 genes, a change with p = 0.2, and one more in 0.8^20 of the genomes: 8,023 with a standard deviation of 80.
        assert!((7_623..=8_423).contains(&changed), "{changed}");
    }

    #[test]
    fn a_walk_leaves_its_place_and_stays_on_the_grid() {
        let mut stream = stream();
        for at in (0..24).cycle().take(5_000) {
            let to = walk(at, 24, &mut stream);
            assert!(to < 24 && to != at);
            assert_ne!(other(at, 24, &mut stream), at);
        }
        assert_eq!((walk(0, 1, &mut stream), other(0, 1, &mut stream)), (0, 0));
    }

    #[test]
    fn snaps_reach_every_landmark_and_only_those_on_the_grid() {
        let mut stream = stream();
        let snaps: std::collections::BTreeSet<_> =
            (0..500).filter_map(|_| snap(4, 10, &[2, 4, 7, 12], &mut stream)).collect();
        assert_eq!(snaps, [2, 7].into());
        assert_eq!(snap(4, 10, &[4], &mut stream), None);
    }

    /// From three steps, each of these is one change away: the test knows each from the definition of the change.
    #[test]
    fn every_change_of_steps_occurs() {
        let gene = steps(1, 4, vec![33]);
        let start = [(10, 1), (20, 2), (30, 3)];
        let [a, b, c] = start;
        let mut stream = stream();
        let all: Vec<Vec<Step>> = (0..20_000).map(|_| mutate_steps(&gene.domain, &start, &mut stream)).collect();
        // One change in eight is a snap, with a standard deviation of 47. New draws of a length meet the landmark a few
        // dozen times.
        let snaps = all.iter().filter(|mutant| mutant.len() == 3 && mutant.iter().any(|step| step.0 == 33)).count();
        assert!((2_265..=2_800).contains(&snaps), "{snaps}");
        let mutants: std::collections::BTreeSet<Vec<Step>> = all.into_iter().collect();
        assert!(
            mutants.iter().any(|m| m.len() == 3 && m[0] == a && m[1].0 == b.0 && m[1].1 != b.1 && m[2] == c),
            "value"
        );
        assert!(
            mutants.iter().any(|m| m.len() == 3 && m[0] == a && m[1].1 == b.1 && m[1].0 != b.0 && m[2] == c),
            "length"
        );
        let halves =
            |m: &Vec<Step>| m[0] == a && m[1].0 < 20 && m[2].0 < 20 && (m[1].1 == 2) != (m[2].1 == 2) && m[3] == c;
        assert!(mutants.iter().any(|m| m.len() == 4 && halves(m)), "split");
        assert!(mutants.contains(&vec![a, (30, 2)]) && mutants.contains(&vec![a, (30, 3)]), "merge");
        assert!(mutants.contains(&vec![a, c]), "delete");
        assert!(mutants.contains(&vec![a, b, b, c]), "repeat");
        assert!(mutants.contains(&vec![a, b, c, a]) && mutants.contains(&vec![c, a, b, c]), "copy");
        for at in 0..3 {
            let mut snapped = start;
            snapped[at].0 = 33;
            assert!(mutants.contains(snapped.as_slice()), "snap");
        }
        let full: std::collections::BTreeSet<Vec<Step>> =
            (0..20_000).map(|_| mutate_steps(&steps(3, 3, vec![]).domain, &start, &mut stream)).collect();
        assert!(full.contains(&vec![a, a, c]) && full.iter().all(|m| m.len() == 3), "copy in place of another");
    }

    #[test]
    fn steps_are_crossed_at_their_boundaries() {
        let (one, two) = ([(1, 0), (2, 0), (3, 0), (4, 0)], [(5, 1), (6, 1), (7, 1)]);
        let mut stream = stream();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..5_000 {
            let child = cross_steps(&one, &two, 2, 5, &mut stream);
            assert!((2..=5).contains(&child.len()));
            assert!(child.iter().all(|step| one.contains(step) || two.contains(step)));
            let switches = child.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
            assert!(switches <= 2, "{child:?}");
            seen.insert(child);
        }
        assert!(
            seen.contains(&vec![(1, 0), (6, 1), (4, 0)])
                && seen.contains(two.as_slice())
                && seen.contains(one.as_slice())
        );
    }

    #[test]
    fn optional_genes_appear_and_vanish() {
        let gene = Gene { optional: true, ..crate::gene::ordered(5) };
        let genes = [gene];
        let mut stream = stream();
        let absent = Genome(vec![Allele::Absent]);
        assert!((0..100).all(|_| mutate(&genes, &absent, &mut stream) != absent));
        let there = Genome(vec![Allele::At(2)]);
        let gone = (0..10_000).filter(|_| mutate(&genes, &there, &mut stream) == absent).count();
        // p = 0.25, and five standard deviations of 43.
        assert!(gone.abs_diff(2_500) < 217, "{gone}");
        let present = (0..10_000).filter(|_| random(&genes, &mut stream) != absent).count();
        assert!(present.abs_diff(5_000) < 250, "{present}");
    }
}
