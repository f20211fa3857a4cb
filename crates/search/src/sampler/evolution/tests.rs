//! Functions with known optima, which are points of their grids.
//!
//! Evaluations: CMA-ES needs about a hundred for each dimension to come from 1 to 10^-4 on the sphere, a few times as many
//! where it must learn a matrix first. The bounds below are 100 `n`, 300 `n` and, on Rosenbrock's valley, 500 `n`. They
//! were chosen before the first run. On a grid the valley has optima of its own, where the strategy may end: it starts again.

use penstock_scenario::seed::Seed;

use super::*;
use crate::gene::ordered;
use crate::sampler::hypercube::Hypercube;

const SEEDS: u64 = 20;

/// A function to be made small, over positions from 0 to 1.
type Function = fn(&[f64]) -> f64;

/// The optimum is at 0.25 of the first gene, 0.5 of the second, 0.75 of the third, and so on again.
fn from_optimum(x: &[f64]) -> impl Iterator<Item = f64> {
    x.iter().enumerate().map(|(at, x)| x - [0.25, 0.5, 0.75][at % 3])
}

fn sphere(x: &[f64]) -> f64 {
    from_optimum(x).map(|d| d * d).sum()
}

/// An ellipsoid whose axes are those of the genes, with a condition number of 1000.
fn ellipsoid(x: &[f64]) -> f64 {
    let last = (x.len() - 1) as f64;
    from_optimum(x).enumerate().map(|(at, d)| libm::pow(1e3, at as f64 / last) * d * d).sum()
}

/// Rosenbrock's valley between -2 and 2, with its optimum at (1, 1).
fn rosenbrock(x: &[f64]) -> f64 {
    let y: Vec<f64> = x.iter().map(|x| 4.0 * x - 2.0).collect();
    y.windows(2).map(|y| 100.0 * (y[1] - y[0] * y[0]) * (y[1] - y[0] * y[0]) + (1.0 - y[0]) * (1.0 - y[0])).sum()
}

/// Positions of a genome, from 0 to 1.
fn positions(genome: &Genome, values: usize) -> Vec<f64> {
    let position = |allele: &Allele| match allele {
        Allele::At(at) => *at as f64 / (values - 1) as f64,
        _ => f64::NAN,
    };
    genome.0.iter().map(position).collect()
}

/// The genome with the least value that a sampler meets before it ends, this value, and how many evaluations it took.
fn least(sampler: &mut impl Sampler, stream: &mut Stream, values: usize, function: Function) -> (Genome, f64, usize) {
    let (mut best, mut least, mut used) = (Genome(vec![]), f64::INFINITY, 0);
    loop {
        let genomes = sampler.ask(stream);
        if genomes.is_empty() {
            return (best, least, used);
        }
        used += genomes.len();
        let mut scores = Vec::new();
        for genome in genomes {
            let value = function(&positions(&genome, values));
            scores.push(-value);
            if value < least {
                (best, least) = (genome, value);
            }
        }
        sampler.learn(&scores);
    }
}

/// The number of 20 seeds that find the optimum, which is zero but for rounding, and of those that are better than a
/// hypercube of as many points. The search starts in a corner. If the sampler ends before it used its evaluations,
/// another one starts from the best genome with those that are left.
fn count(dimensions: usize, values: usize, evaluations: usize, function: Function) -> (usize, usize) {
    let genes = vec![ordered(values); dimensions];
    let (mut found, mut better) = (0, 0);
    for seed in 0..SEEDS {
        let mut stream = Seed(seed).stream("evolution");
        let (mut best, mut ours, mut left) =
            (Genome(vec![Allele::At(values / 10); dimensions]), f64::INFINITY, evaluations);
        loop {
            let (genome, value, used) =
                least(&mut Evolution::new(&genes, best.clone(), left), &mut stream, values, function);
            if used == 0 {
                break;
            }
            left = left.checked_sub(used).unwrap();
            if value < ours {
                (best, ours) = (genome, value);
            }
        }
        let (_, hypercube, points) =
            least(&mut Hypercube::new(genes.clone(), evaluations), &mut stream, values, function);
        assert_eq!(points, evaluations);
        found += usize::from(ours < 1e-12);
        better += usize::from(ours < hypercube);
    }
    (found, better)
}

/// Nine in ten seeds: the sampler may miss the exact point on the grid.
const FOUND: usize = 18;

#[test]
fn the_optimum_of_a_sphere_is_found() {
    let (found, better) = count(6, 101, 600, sphere);
    assert!(found >= FOUND && better == 20, "{found} {better}");
}

#[test]
fn the_optimum_of_an_ellipsoid_is_found() {
    let (found, better) = count(6, 101, 1_800, ellipsoid);
    assert!(found >= FOUND && better == 20, "{found} {better}");
}

#[test]
fn the_optimum_of_rosenbrocks_valley_is_found() {
    let (found, better) = count(2, 401, 1_000, rosenbrock);
    assert!(found >= FOUND && better >= FOUND, "{found} {better}");
}

#[test]
fn other_genes_and_what_cannot_vary_stay_as_they_are() {
    let choice = Gene { domain: Domain::Choice { values: 5 }, optional: false };
    let absent = Gene { optional: true, ..ordered(50) };
    let genes = vec![choice, ordered(50), absent, ordered(1), ordered(50)];
    let start = Genome(vec![Allele::At(3), Allele::At(49), Allele::Absent, Allele::At(0), Allele::At(0)]);
    let mut sampler = Evolution::new(&genes, start.clone(), 100);
    let mut stream = Seed(1).stream("evolution");
    let genomes = sampler.ask(&mut stream);
    assert!(!genomes.is_empty() && genomes.iter().any(|genome| *genome != start));
    for genome in genomes {
        assert!(admits(&genes, &genome));
        assert_eq!((&genome.0[0], &genome.0[2..4]), (&start.0[0], &start.0[2..4]));
    }
    for wrong in [vec![], vec![Allele::At(5); 5]] {
        assert_eq!(Evolution::new(&genes, Genome(wrong), 100).ask(&mut stream), []);
    }
    let fixed = [ordered(1)];
    assert_eq!(Evolution::new(&fixed, Genome(vec![Allele::At(0)]), 100).ask(&mut stream), []);
}

/// Twelve of 15 genes vary.
#[test]
fn at_most_twelve_genes_vary() {
    let start = Genome(vec![Allele::At(500); 15]);
    let mut sampler = Evolution::new(&vec![ordered(1_001); 15], start, 100);
    let genomes = sampler.ask(&mut Seed(1).stream("evolution"));
    let varies = |at: usize| genomes.iter().any(|genome| genome.0[at] != Allele::At(500));
    assert_eq!((0..15).filter(|at| varies(*at)).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
}

/// Only one corner is admissible: the strategy contracts around its start, which is there, and finds the best of it.
#[test]
fn what_is_not_admissible_is_left() {
    let genes = vec![ordered(101); 3];
    let corner: Function = |x| {
        let value = x.iter().map(|x| (x - 0.15) * (x - 0.15)).sum();
        if x.iter().all(|x| *x <= 0.2) { value } else { f64::INFINITY }
    };
    let mut found = 0;
    for seed in 0..SEEDS {
        let mut sampler = Evolution::new(&genes, Genome(vec![Allele::At(5); 3]), 300);
        found += usize::from(least(&mut sampler, &mut Seed(seed).stream("corner"), 101, corner).1 < 1e-12);
    }
    assert!(found >= FOUND, "{found}");
}

/// It never proposes more evaluations than it has, and ends by itself if nothing is admissible.
#[test]
fn it_ends() {
    let genes = vec![ordered(30); 4];
    for score in [0.0, f64::NEG_INFINITY] {
        // A generation of four genes has eight draws.
        for evaluations in [0, 1, 7, 8, 9, 100, 5_000] {
            let mut sampler = Evolution::new(&genes, Genome(vec![Allele::At(3); 4]), evaluations);
            let mut stream = Seed(1).stream("evolution");
            let mut used = 0;
            loop {
                let genomes = sampler.ask(&mut stream);
                if genomes.is_empty() {
                    break;
                }
                used += genomes.len();
                sampler.learn(&vec![score; genomes.len()]);
            }
            assert!(used <= evaluations && (score == 0.0 || used < 1_000), "{used} of {evaluations}");
        }
    }
}

/// From the definition: with a drift of zero, each generation multiplies the step by `exp(-c_sigma / d_sigma)`.
#[test]
fn where_nothing_is_admissible_it_contracts_around_its_start() {
    let mut sampler = Evolution::new(&vec![ordered(1_001); 4], Genome(vec![Allele::At(200); 4]), 1_000);
    let mut stream = Seed(1).stream("evolution");
    for _ in 0..10 {
        let genomes = sampler.ask(&mut stream);
        sampler.learn(&vec![f64::NEG_INFINITY; genomes.len()]);
    }
    assert_eq!(sampler.mean, [0.2; 4]);
    let Defaults { c_sigma, d_sigma, .. } = sampler.defaults;
    let expected = STEP * libm::exp(-10.0 * c_sigma / d_sigma);
    assert!((sampler.step / expected - 1.0).abs() < 1e-12, "{} {expected}", sampler.step);
}
