//! A Latin hypercube over all genes: the points that every other sampler must beat with as many evaluations.
//!
//! Source: McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables in the
//! analysis of output from a computer code", Technometrics 21(2), 1979. Differs: genes without order are balanced over
//! their values, and an optional gene is present in half of the points, whose strata are then of these points alone.

use penstock_scenario::seed::Stream;

use super::Sampler;
use super::draw::{below, shuffled};
use super::proposal::Proposal;
use super::variation::random_steps;
use crate::gene::{Allele, Domain, Gene, Genome};

/// Proposes the points of one Latin hypercube, all at once.
#[derive(Debug, Clone)]
pub struct Hypercube {
    genes: Vec<Gene>,
    /// The number of points that are not proposed yet: all or none.
    points: usize,
    proposal: Proposal,
}

impl Hypercube {
    /// A hypercube of so many points.
    pub const fn new(genes: Vec<Gene>, points: usize) -> Self {
        Self { genes, points, proposal: Proposal::NONE }
    }
}

impl Sampler for Hypercube {
    fn ask(&mut self, stream: &mut Stream) -> Vec<Genome> {
        let Self { genes, points, proposal } = self;
        proposal.again_or(|| {
            let points = std::mem::take(points);
            let columns: Vec<Vec<Allele>> = genes.iter().map(|gene| column(gene, points, stream)).collect();
            (0..points).map(|at| Genome(columns.iter().map(|column| column[at].clone()).collect())).collect()
        })
    }

    fn learn(&mut self, scores: &[f64]) {
        self.proposal.learn(scores);
    }
}

/// The value of a gene at each point.
fn column(gene: &Gene, points: usize, stream: &mut Stream) -> Vec<Allele> {
    let order = shuffled(stream, points);
    let present = match gene.optional {
        true if stream.lands(0.5) => points / 2,
        true => points.div_ceil(2),
        false => points,
    };
    // Of a list that the points do not fill evenly, another value is the first in each hypercube.
    let first = match gene.domain {
        Domain::Choice { values } => below(stream, values),
        _ => 0,
    };
    let mut allele = |stratum: usize| match gene.domain {
        _ if stratum >= present => Allele::Absent,
        Domain::Ordered { values, .. } => Allele::At(within(stratum, present, values, stream)),
        Domain::Choice { values } => Allele::At((first + stratum) % values.max(1)),
        Domain::Steps { lengths, values, fewest, most, .. } => {
            let counts = most.saturating_sub(fewest).saturating_add(1);
            let count = fewest + within(stratum, present, counts, stream);
            Allele::Steps(random_steps(count, lengths, values, stream))
        }
    };
    order.into_iter().map(&mut allele).collect()
}

/// A draw within one of `strata` equal parts of a grid.
fn within(stratum: usize, strata: usize, values: usize, stream: &mut Stream) -> usize {
    let share = (stratum as f64 + stream.unit()) / strata as f64;
    ((share * values as f64) as usize).min(values.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use penstock_scenario::seed::Seed;

    use super::*;
    use crate::gene::ordered;

    fn points(genes: &[Gene], n: usize, seed: u64) -> Vec<Genome> {
        Hypercube::new(genes.to_vec(), n).ask(&mut Seed(seed).stream("hypercube"))
    }

    /// The definition of a Latin hypercube: of `n` strata, each has one point. Here a stratum is five points of the grid.
    #[test]
    fn every_stratum_of_every_gene_has_one_point() {
        let genes = vec![ordered(200); 6];
        for seed in 0..10 {
            let points = points(&genes, 40, seed);
            let mut orders = Vec::new();
            for gene in 0..6 {
                let strata = points.iter().map(|point| match point.0[gene] {
                    Allele::At(at) => at / 5,
                    _ => panic!("{point:?}"),
                });
                let strata: Vec<usize> = strata.collect();
                let mut sorted = strata.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..40).collect::<Vec<_>>());
                orders.push(strata);
            }
            assert!(orders.windows(2).all(|pair| pair[0] != pair[1]), "genes are permuted apart");
        }
    }

    /// Latin hypercubes estimate the mean of a sum of monotone functions with less variance than independent draws: this
    /// is the theorem of the paper. Here the function is the mean of four genes, and the variance of independent draws is
    /// known: that of a uniform draw, divided by 4 genes and 20 points.
    #[test]
    fn the_mean_of_a_monotone_function_has_less_variance_than_of_independent_draws() {
        let genes = vec![ordered(1_000); 4];
        let mean = |seed| {
            let sum: usize = points(&genes, 20, seed)
                .iter()
                .flat_map(|point| &point.0)
                .map(|allele| match allele {
                    Allele::At(at) => *at,
                    _ => 0,
                })
                .sum();
            sum as f64 / 80.0 - 499.5
        };
        let variance = (0..200).map(|seed| mean(seed) * mean(seed)).sum::<f64>() / 200.0;
        let independent = (1_000.0 * 1_000.0 - 1.0) / 12.0 / 80.0;
        assert!(variance < independent / 10.0, "{variance} against {independent}");
    }

    #[test]
    fn choices_are_balanced_and_optional_genes_present_in_half_of_the_points() {
        let choice = Gene { domain: Domain::Choice { values: 3 }, optional: false };
        let optional = Gene { optional: true, ..ordered(20) };
        let steps = Gene {
            domain: Domain::Steps { lengths: 5, landmarks: vec![], values: 5, fewest: 1, most: 4 },
            optional: false,
        };
        let genes = [choice, optional, steps];
        for seed in 0..20 {
            let points = points(&genes, 40, seed);
            let mut counts: BTreeMap<Allele, usize> = BTreeMap::new();
            for point in &points {
                *counts.entry(point.0[0].clone()).or_default() += 1;
            }
            assert!(counts.len() == 3 && counts.values().all(|count| (13..=14).contains(count)), "{counts:?}");
            let mut present: Vec<&Allele> = points.iter().map(|p| &p.0[1]).filter(|a| **a != Allele::Absent).collect();
            present.sort_unstable();
            assert_eq!(present, (0..20).map(Allele::At).collect::<Vec<_>>().iter().collect::<Vec<_>>());
            for count in 1..=4 {
                let with = |point: &&Genome| matches!(&point.0[2], Allele::Steps(steps) if steps.len() == count);
                assert_eq!(points.iter().filter(with).count(), 10);
            }
        }
    }

    #[test]
    fn a_hypercube_has_its_points_once() {
        let mut stream = Seed(1).stream("hypercube");
        let mut hypercube = Hypercube::new(vec![ordered(9)], 5);
        assert_eq!(hypercube.ask(&mut stream).len(), 5);
        hypercube.learn(&[0.0; 5]);
        assert_eq!(hypercube.ask(&mut stream), []);
        assert_eq!(Hypercube::new(vec![ordered(9)], 0).ask(&mut stream), []);
    }
}
