//! The promises of all samplers, over random spaces.

use penstock_scenario::seed::{Seed, Stream};
use proptest::prelude::*;

use super::variation::{admits, cross, mutate, random};
use super::{Evolution, Genetic, Hypercube, Sampler};
use crate::gene::{Allele, Domain, Gene, Genome};

/// Landmarks, of which some may be beyond the grid.
fn landmarks() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::btree_set(0..40_usize, 0..4).prop_map(|landmarks| landmarks.into_iter().collect())
}

fn gene() -> impl Strategy<Value = Gene> {
    let domain = prop_oneof![
        (1..30_usize, landmarks()).prop_map(|(values, landmarks)| Domain::Ordered { values, landmarks }),
        (1..6_usize).prop_map(|values| Domain::Choice { values }),
        (1..30_usize, landmarks(), 1..9_usize, 1..4_usize, 0..6_usize).prop_map(
            |(lengths, landmarks, values, fewest, more)| {
                Domain::Steps { lengths, landmarks, values, fewest, most: fewest + more }
            }
        ),
    ];
    (domain, any::<bool>()).prop_map(|(domain, optional)| Gene { domain, optional })
}

fn genes() -> impl Strategy<Value = Vec<Gene>> {
    proptest::collection::vec(gene(), 0..6)
}

/// Genomes that fit no space in particular.
fn genome() -> impl Strategy<Value = Genome> {
    let allele = prop_oneof![
        Just(Allele::Absent),
        (0..60_usize).prop_map(Allele::At),
        proptest::collection::vec((0..60_usize, 0..20_usize), 0..12).prop_map(Allele::Steps),
    ];
    proptest::collection::vec(allele, 0..8).prop_map(Genome)
}

/// One sampler of each kind. Two start from a random genome.
fn samplers(genes: &[Gene], stream: &mut Stream) -> Vec<Box<dyn Sampler>> {
    let start = random(genes, stream);
    vec![
        Box::new(Hypercube::new(genes.to_vec(), 25)),
        Box::new(Genetic::new(genes.to_vec(), vec![])),
        Box::new(Genetic::new(genes.to_vec(), vec![start.clone()])),
        Box::new(Evolution::new(genes, start, 200)),
    ]
}

/// A score that depends on the genome in some way, and is sometimes not admissible.
fn score(genome: &Genome) -> f64 {
    let part = |allele: &Allele| match allele {
        Allele::Absent => 5,
        Allele::At(at) => at * 7 % 11,
        Allele::Steps(steps) => steps.iter().map(|(length, value)| length * 3 + value).sum::<usize>() % 13,
    };
    let sum: usize = genome.0.iter().map(part).sum();
    if sum % 9 == 8 { f64::NEG_INFINITY } else { sum as f64 }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn variation_stays_in_the_space(genes in genes(), seed in any::<u64>(), one in genome(), other in genome()) {
        let mut stream = Seed(seed).stream("variation");
        let (mut a, mut b) = (random(&genes, &mut stream), random(&genes, &mut stream));
        prop_assert!(admits(&genes, &a));
        for _ in 0..20 {
            a = mutate(&genes, &cross(&genes, &a, &b, &mut stream), &mut stream);
            b = cross(&genes, &b, &mutate(&genes, &a, &mut stream), &mut stream);
            prop_assert!(admits(&genes, &a) && admits(&genes, &b), "{a:?} {b:?}");
        }
        // Whatever the parents are.
        prop_assert!(admits(&genes, &mutate(&genes, &one, &mut stream)));
        prop_assert!(admits(&genes, &cross(&genes, &one, &other, &mut stream)));
        prop_assert!(admits(&genes, &cross(&genes, &one, &a, &mut stream)));
    }

    /// Equal seeds and scores give equal proposals, all of them in the space.
    #[test]
    fn equal_seeds_give_equal_proposals(genes in genes(), seed in any::<u64>()) {
        let run = || {
            let mut stream = Seed(seed).stream("samplers");
            let mut proposals = Vec::new();
            for mut sampler in samplers(&genes, &mut stream) {
                for _ in 0..12 {
                    let genomes = sampler.ask(&mut stream);
                    sampler.learn(&genomes.iter().map(score).collect::<Vec<_>>());
                    proposals.push(genomes);
                }
            }
            proposals
        };
        let proposals = run();
        prop_assert!(proposals.iter().flatten().all(|genome| admits(&genes, genome)));
        prop_assert_eq!(&proposals, &run());
    }

    /// A mistake of the caller changes nothing: a second call gets the same again, and nothing is drawn.
    #[test]
    fn asking_twice_and_wrong_scores_do_no_harm(
        genes in genes(),
        seed in any::<u64>(),
        scores in proptest::collection::vec(proptest::num::f64::ANY, 0..60),
    ) {
        let mut stream = Seed(seed).stream("samplers");
        for mut sampler in samplers(&genes, &mut stream) {
            sampler.learn(&scores);
            for _ in 0..6 {
                let genomes = sampler.ask(&mut stream);
                let mut untouched = stream.clone();
                prop_assert_eq!(&sampler.ask(&mut stream), &genomes);
                if !genomes.is_empty() {
                    prop_assert_eq!(untouched.bits(), stream.clone().bits());
                }
                sampler.learn(&scores);
                sampler.learn(&scores);
            }
        }
    }
}

#[test]
fn other_seeds_give_other_proposals() {
    let genes = vec![crate::gene::ordered(1_000); 4];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let mut stream = Seed(seed).stream("samplers");
        for (kind, mut sampler) in samplers(&genes, &mut stream).into_iter().enumerate() {
            assert!(seen.insert((kind, sampler.ask(&mut stream))), "{kind}");
        }
    }
}
