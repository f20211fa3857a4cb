//! The variables of a search: genes, each a value of a finite list, so that every scenario is short, exact and repeatable.

/// The values that a gene may have, by their indices in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Domain {
    /// One of a grid of values in rising order.
    Ordered {
        /// The number of values, at least one.
        values: usize,
        /// Indices of values that mean something to a host: a round trip, a timeout, the interval of a probe. In rising order.
        landmarks: Vec<usize>,
    },
    /// One of a list without order.
    Choice {
        /// The number of values, at least one.
        values: usize,
    },
    /// Steps in time, which repeat: each has a length and a value, both from grids in rising order.
    Steps {
        /// The number of lengths, at least one.
        lengths: usize,
        /// Indices of lengths that mean something to a host, in rising order.
        landmarks: Vec<usize>,
        /// The number of values, at least one.
        values: usize,
        /// The fewest steps, at least one.
        fewest: usize,
        /// The most steps.
        most: usize,
    },
}

/// A gene: something of a scenario that a search varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gene {
    /// The values that it may have.
    pub domain: Domain,
    /// True if it may also be absent: the scenario is then without this setting.
    pub optional: bool,
}

/// The value of a gene in one genome.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allele {
    /// The scenario is without it.
    Absent,
    /// The value at this index of [`Domain::Ordered`] or [`Domain::Choice`].
    At(usize),
    /// Steps: of each the index of its length and of its value.
    Steps(Vec<(usize, usize)>),
}

/// One allele for each gene of a space, in the same order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Genome(pub Vec<Allele>);

impl Gene {
    /// True if the gene may be `allele`.
    pub fn admits(&self, allele: &Allele) -> bool {
        match (&self.domain, allele) {
            (_, Allele::Absent) => self.optional,
            (Domain::Ordered { values, .. } | Domain::Choice { values }, Allele::At(at)) => at < values,
            (Domain::Steps { lengths, values, fewest, most, .. }, Allele::Steps(steps)) => {
                (*fewest..=*most).contains(&steps.len())
                    && steps.iter().all(|(length, value)| length < lengths && value < values)
            }
            _ => false,
        }
    }
}

/// A gene with a domain of its own, as most tests want it.
#[cfg(test)]
pub(crate) fn ordered(values: usize) -> Gene {
    Gene { domain: Domain::Ordered { values, landmarks: Vec::new() }, optional: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gene_admits_what_its_domain_has() {
        let steps = |fewest, most| Gene {
            domain: Domain::Steps { lengths: 3, landmarks: vec![1], values: 4, fewest, most },
            optional: true,
        };
        assert!(ordered(3).admits(&Allele::At(2)) && !ordered(3).admits(&Allele::At(3)));
        assert!(!ordered(3).admits(&Allele::Absent) && steps(1, 2).admits(&Allele::Absent));
        assert!(steps(1, 2).admits(&Allele::Steps(vec![(2, 3)])));
        for wrong in [vec![], vec![(3, 0)], vec![(0, 4)], vec![(0, 0); 3]] {
            assert!(!steps(1, 2).admits(&Allele::Steps(wrong)));
        }
        assert!(!steps(1, 2).admits(&Allele::At(0)));
    }
}
