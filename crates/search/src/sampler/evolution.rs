//! CMA-ES: the evolution strategy that adapts the covariance matrix of its draws, for numbers that act together.
//!
//! Source: Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv 1604.00772: the (mu/mu_w, lambda) strategy with positive
//! weights, both evolution paths, and the default parameters for the number of dimensions. Differs: genes are on grids. A
//! draw is evaluated at the nearest point of the grid within the range, and the strategy learns from this point. Steps to
//! such points are cut as those of solutions from elsewhere (Hansen, "Injecting External Solutions Into CMA-ES", arXiv
//! 1110.4181). A point that is not admissible counts as the mean itself, so that a strategy that meets nothing else
//! contracts. At the end, the neighbours of the best genome on the grid are tried, one gene at a time.

use std::collections::BTreeSet;

use penstock_scenario::seed::Stream;

use super::Sampler;
use super::draw::normal;
use super::eigen::{Matrix, eigen, identity};
use super::proposal::{Proposal, Scored};
use super::variation::admits;
use crate::gene::{Allele, Domain, Gene, Genome};

/// The most genes that it varies. A search of a few hundred evaluations has no use of more.
const DIMENSIONS: usize = 12;

/// The first standard deviation, as a share of the range of each gene, as the tutorial advises.
const STEP: f64 = 0.3;

/// The largest standard deviation: the range of a gene bounds it.
const WIDEST: f64 = 1.0;

/// The least eigenvalue of the covariance matrix: below, rounding would decide.
const LEAST: f64 = 1e-14;

/// Improves the ordered genes of one genome that are present and have two values or more: the first twelve of them. All
/// others stay.
///
/// Once its step is below half a step of each grid, or the evaluations left are too few for a generation, it tries the
/// neighbours of the best genome, and those of a better one, until none is better or no evaluation is left. Genomes that it
/// proposes again count as evaluations too.
#[derive(Debug, Clone)]
pub struct Evolution {
    start: Genome,
    /// The genes that vary: their indices in the genome, and the number of values of each.
    axes: Vec<(usize, usize)>,
    /// Evaluations left.
    left: usize,
    defaults: Defaults,
    /// Of each gene from 0, the lowest value, to 1, the highest.
    mean: Vec<f64>,
    /// The standard deviation of draws beside their covariance: `sigma`.
    step: f64,
    covariance: Matrix,
    /// The square roots of the eigenvalues of the covariance, and its eigenvectors as columns.
    basis: (Vec<f64>, Matrix),
    /// The evolution path of the covariance: `p_c`.
    path: Vec<f64>,
    /// The evolution path of the step: `p_sigma`.
    step_path: Vec<f64>,
    /// The number of generations that have their scores.
    generations: usize,
    /// True if the genomes that wait for their scores are draws. If not, they are neighbours of the best genome.
    draws: bool,
    best: Option<Scored>,
    /// All genomes proposed so far.
    known: BTreeSet<Genome>,
    proposal: Proposal,
}

/// The default parameters of the tutorial.
#[derive(Debug, Clone)]
struct Defaults {
    /// Draws of a generation.
    lambda: usize,
    /// Weights of the best draws, in their order. Their sum is 1.
    weights: Vec<f64>,
    /// The variance effective selection mass.
    mu_w: f64,
    c_sigma: f64,
    d_sigma: f64,
    c_c: f64,
    c_1: f64,
    c_mu: f64,
    /// The expected length of a normal vector.
    chi: f64,
}

impl Defaults {
    fn of(dimensions: usize) -> Self {
        let n = dimensions.max(1) as f64;
        let lambda = 4 + (3.0 * libm::log(n)) as usize;
        let weight = |rank: usize| libm::log((lambda + 1) as f64 / 2.0) - libm::log(rank as f64);
        let raw: Vec<f64> = (1..=lambda / 2).map(weight).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let mu_w = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let c_sigma = (mu_w + 2.0) / (n + mu_w + 5.0);
        let c_1 = 2.0 / ((n + 1.3) * (n + 1.3) + mu_w);
        Self {
            lambda,
            weights,
            mu_w,
            c_sigma,
            d_sigma: 1.0 + 2.0 * (libm::sqrt((mu_w - 1.0) / (n + 1.0)) - 1.0).max(0.0) + c_sigma,
            c_c: (4.0 + mu_w / n) / (n + 4.0 + 2.0 * mu_w / n),
            c_1,
            c_mu: (2.0 * (mu_w - 2.0 + 1.0 / mu_w) / ((n + 2.0) * (n + 2.0) + mu_w)).min(1.0 - c_1),
            chi: libm::sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

impl Evolution {
    /// Starts from a genome, with at most so many evaluations. It proposes nothing if the genes do not admit `start`.
    pub fn new(genes: &[Gene], start: Genome, evaluations: usize) -> Self {
        let axis = |(at, (gene, allele)): (usize, (&Gene, &Allele))| match (&gene.domain, allele) {
            (Domain::Ordered { values, .. }, Allele::At(place)) if *values > 1 => Some(((at, *values), *place)),
            _ => None,
        };
        let all = if admits(genes, &start) { genes.len() } else { 0 };
        let varied = genes.iter().zip(&start.0).enumerate().take(all).filter_map(axis).take(DIMENSIONS);
        let (axes, places): (Vec<(usize, usize)>, Vec<usize>) = varied.unzip();
        let n = axes.len();
        Self {
            mean: axes.iter().zip(places).map(|((_, values), at)| at as f64 / (values - 1) as f64).collect(),
            start,
            axes,
            left: evaluations,
            defaults: Defaults::of(n),
            step: STEP,
            covariance: identity(n),
            basis: (vec![1.0; n], identity(n)),
            path: vec![0.0; n],
            step_path: vec![0.0; n],
            generations: 0,
            draws: false,
            best: None,
            known: BTreeSet::new(),
            proposal: Proposal::NONE,
        }
    }

    /// True if the step is at least half a step of some grid. One that is not a number is not.
    fn is_wide(&self) -> bool {
        let is_wide = |(at, (_, values)): (usize, &(usize, usize))| {
            self.step * libm::sqrt(self.covariance[at][at]) * (values - 1) as f64 >= 0.5
        };
        self.axes.iter().enumerate().any(is_wide)
    }

    /// The genome at the point of the grid nearest to a draw, `m + sigma N(0, C)`.
    fn draw(&self, stream: &mut Stream) -> Genome {
        let (lengths, vectors) = &self.basis;
        let along: Vec<f64> = lengths.iter().map(|length| length * normal(stream)).collect();
        let mut genome = self.start.clone();
        for (axis, (at, values)) in self.axes.iter().enumerate() {
            let position = self.mean[axis] + self.step * dot(&vectors[axis], &along);
            let place = (position.clamp(0.0, 1.0) * (values - 1) as f64).round() as usize;
            genome.0[*at] = Allele::At(place.min(values - 1));
        }
        genome
    }

    /// Genomes one point of the grid beside the best, without those that were proposed before.
    fn neighbours(&self) -> Vec<Genome> {
        let mut neighbours = Vec::new();
        let Some(Scored { genome: best, .. }) = &self.best else { return neighbours };
        for (at, values) in &self.axes {
            let Allele::At(place) = best.0[*at] else { continue };
            for beside in [place.checked_sub(1), place.checked_add(1).filter(|up| up < values)].into_iter().flatten() {
                let mut genome = best.clone();
                genome.0[*at] = Allele::At(beside);
                if !self.known.contains(&genome) {
                    neighbours.push(genome);
                }
            }
        }
        neighbours
    }

    /// The position of a genome beside the mean, in steps: at most about as far as draws are.
    fn beside_mean(&self, genome: &Genome) -> Vec<f64> {
        let beside = self.axes.iter().zip(&self.mean).map(|((at, values), mean)| match genome.0[*at] {
            Allele::At(place) => (place as f64 / (values - 1) as f64 - mean) / self.step,
            _ => 0.0,
        });
        let beside: Vec<f64> = beside.collect();
        let white = self.whiten(&beside);
        let n = self.axes.len() as f64;
        let shorter = ((libm::sqrt(n) + 2.0 * n / (n + 2.0)) / libm::sqrt(dot(&white, &white))).min(1.0);
        beside.into_iter().map(|y| y * shorter).collect()
    }

    /// `C^(-1/2) y`.
    fn whiten(&self, y: &[f64]) -> Vec<f64> {
        let (lengths, vectors) = &self.basis;
        let project = |(k, length): (usize, &f64)| {
            let along: f64 = vectors.iter().zip(y).map(|(row, y)| row[k] * y).sum();
            along / length
        };
        let along: Vec<f64> = lengths.iter().enumerate().map(project).collect();
        vectors.iter().map(|row| dot(row, &along)).collect()
    }

    /// One generation of the tutorial, from the steps to genomes in the order of their scores.
    fn update(&mut self, ranked: &[Vec<f64>]) {
        let n = self.axes.len();
        let Defaults { ref weights, mu_w, c_sigma, d_sigma, c_c, c_1, c_mu, chi, .. } = self.defaults;
        let best: Vec<(f64, &Vec<f64>)> = weights.iter().copied().zip(ranked).collect();
        let drift: Vec<f64> = (0..n).map(|at| best.iter().map(|(weight, draw)| weight * draw[at]).sum()).collect();
        let white = self.whiten(&drift);
        for (mean, drift) in self.mean.iter_mut().zip(&drift) {
            *mean += self.step * drift;
        }

        let gain = libm::sqrt(c_sigma * (2.0 - c_sigma) * mu_w);
        for (path, white) in self.step_path.iter_mut().zip(white) {
            *path = (1.0 - c_sigma) * *path + gain * white;
        }
        let length = libm::sqrt(dot(&self.step_path, &self.step_path));
        self.generations += 1;
        let settled = libm::sqrt(1.0 - libm::pow(1.0 - c_sigma, 2.0 * self.generations as f64));
        let stalls = length / settled >= (1.4 + 2.0 / (n as f64 + 1.0)) * chi;
        let h = if stalls { 0.0 } else { 1.0 };

        let gain = h * libm::sqrt(c_c * (2.0 - c_c) * mu_w);
        for (path, drift) in self.path.iter_mut().zip(&drift) {
            *path = (1.0 - c_c) * *path + gain * drift;
        }
        let old = 1.0 - c_1 - c_mu + (1.0 - h) * c_1 * c_c * (2.0 - c_c);
        for i in 0..n {
            for j in i..n {
                let rank_mu: f64 = best.iter().map(|(weight, draw)| weight * draw[i] * draw[j]).sum();
                let new = old * self.covariance[i][j] + c_1 * self.path[i] * self.path[j] + c_mu * rank_mu;
                self.covariance[i][j] = new;
                self.covariance[j][i] = new;
            }
        }
        self.step = (self.step * libm::exp((c_sigma / d_sigma * (length / chi - 1.0)).min(1.0))).min(WIDEST);
        let (squares, vectors) = eigen(self.covariance.clone());
        self.basis = (squares.into_iter().map(|square| libm::sqrt(square.max(LEAST))).collect(), vectors);
    }
}

impl Sampler for Evolution {
    fn ask(&mut self, stream: &mut Stream) -> Vec<Genome> {
        let mut proposal = std::mem::replace(&mut self.proposal, Proposal::NONE);
        let asked = proposal.again_or(|| {
            self.draws = self.left >= self.defaults.lambda && self.is_wide();
            let mut genomes = if self.draws {
                (0..self.defaults.lambda).map(|_| self.draw(stream)).collect()
            } else {
                self.neighbours()
            };
            genomes.truncate(self.left);
            self.left -= genomes.len();
            self.known.extend(genomes.iter().cloned());
            genomes
        });
        self.proposal = proposal;
        asked
    }

    fn learn(&mut self, scores: &[f64]) {
        let mut scored = self.proposal.learn(scores);
        // Stable: of equal scores, the first draw is first.
        scored.sort_by(|one, other| other.score.total_cmp(&one.score));
        let Some(first) = scored.first() else { return };
        if first.score > self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.score) {
            self.best = Some(first.clone());
        }
        if self.draws {
            let step = |Scored { genome, score }: &Scored| {
                if *score > f64::NEG_INFINITY { self.beside_mean(genome) } else { vec![0.0; self.axes.len()] }
            };
            let ranked: Vec<Vec<f64>> = scored.iter().map(step).collect();
            self.update(&ranked);
        }
    }
}

/// The sum of products, from the first on.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
