//! The rates at which classes of traffic were served, beside their fair shares.

use indexmap::IndexMap;
use penstock_law::quantity::Time;

use crate::fairness::{Want, max_min, weighted_index};
use crate::model::{Group, Scenario};
use crate::summary::ClassSummary;
use crate::world::{Kind, Rows};

/// Columns of the series of classes, in this order.
pub const CLASS_COLUMNS: [(&str, Kind); 2] =
    [("offered_bit_per_s", Kind::Average), ("served_bit_per_s", Kind::Average)];

/// The classes of a span, and how fair it was to them.
#[derive(Debug, Clone)]
pub struct Classes {
    /// Each class.
    pub each: IndexMap<String, ClassSummary>,
    /// Weighted fairness index over the span.
    pub index: Option<f64>,
    /// The same averaged over the span's samples.
    pub index_mean: Option<f64>,
}

/// Measurements of classes over a span.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    /// The scenario of the run.
    pub scenario: &'a Scenario,
    /// From when to when.
    pub between: (Time, Time),
    /// Offered and served rate of each class, in the order of [`Scenario::class_names`] [bit/s].
    pub rates: &'a [(f64, f64)],
    /// The series of classes, with [`CLASS_COLUMNS`]: a row for each class in each sample.
    pub samples: &'a Rows,
    /// Capacity in the span of a link's line, the link counted in the order of the file [bit].
    pub capacity_bits: &'a dyn Fn(usize) -> f64,
}

impl Scenario {
    /// Every class, and what flows without one are called together: what laws that treat classes apart count.
    pub fn queue_names(&self) -> Vec<String> {
        let names = self.class_names().into_iter().map(str::to_owned);
        names.chain(self.groups.values().any(|group| group.class.is_none()).then(|| "(none)".to_owned())).collect()
    }
}

impl Span<'_> {
    /// The summary of the classes over the span.
    pub fn classes(&self) -> Classes {
        let names = self.scenario.class_names();
        let share = |name: &str| self.scenario.classes.get(name).and_then(|class| class.share);
        let total: f64 = self.rates.iter().map(|(_, served)| served).sum();
        let wanted = self.max_min(&names);
        let index = |served: &[f64]| {
            let wanted = wanted.as_ref()?;
            weighted_index(served.iter().copied().zip(wanted.iter().copied()).filter(|(_, wanted)| *wanted > 0.0))
        };
        let samples = self.sampled(names.len());
        let indices: Option<Vec<f64>> = samples.iter().map(|served| index(served)).collect();
        let class = |(at, name): (usize, &&str)| {
            let (offered, served) = self.rates[at];
            let ratios = samples.iter().map(|served| served[at] / (served.iter().sum::<f64>() - served[at]));
            let summary = ClassSummary {
                offered_bit_per_s: offered,
                served_bit_per_s: served,
                ratio: (total > served).then(|| served / (total - served)),
                reference: share(name).filter(|share| *share < 1.0).map(|share| share / (1.0 - share)),
                deviation: share(name).filter(|_| total > 0.0).map(|share| (served / total / share - 1.0).abs()),
                ratio_sd: sd(&ratios.collect::<Vec<f64>>()).filter(|sd| sd.is_finite()),
                max_min_bit_per_s: wanted.as_ref().map(|wanted| wanted[at]),
            };
            ((*name).to_owned(), summary)
        };
        Classes {
            each: names.iter().enumerate().map(class).collect(),
            index: index(&self.rates.iter().map(|(_, served)| *served).collect::<Vec<f64>>()),
            index_mean: indices.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64),
        }
    }

    /// Served rate of each class in each sample that lies in the span.
    fn sampled(&self, classes: usize) -> Vec<Vec<f64>> {
        if classes == 0 {
            return Vec::new();
        }
        let (from, to) = self.between;
        let served = self.samples.values("served_bit_per_s").chunks(classes);
        let times = self.samples.times_s().chunks(classes).map(|times| times[0]);
        let from = from + self.scenario.sample;
        let inside = |(time, _): &(f64, _)| (from.seconds()..=to.seconds()).contains(time);
        times.zip(served).filter(inside).map(|(_, served)| served.to_vec()).collect()
    }

    /// The max-min share of each class of the narrowest link that data of all cross; see
    /// [`ClassSummary::max_min_bit_per_s`].
    fn max_min(&self, names: &[&str]) -> Option<Vec<f64>> {
        let groups = || self.scenario.groups.values();
        let any = |class: &str, is: &dyn Fn(&Group) -> bool| {
            groups().any(|group| group.class.as_deref() == Some(class) && is(group))
        };
        let seconds = self.between.1.since(self.between.0).seconds();
        let link = |(at, name): (usize, &String)| {
            let all = names.iter().all(|class| any(class, &|group| group.forward.contains(name)));
            let others = groups().any(|group| group.class.is_none() && group.forward.contains(name));
            all.then(|| ((self.capacity_bits)(at) / seconds, others))
        };
        let links = self.scenario.links.keys().enumerate().filter_map(link);
        let (capacity, others) = links.min_by(|x, y| x.0.total_cmp(&y.0))?;
        let weights = self.weights(names);
        if others || names.is_empty() || weights.iter().any(|weight| *weight <= 0.0) {
            return None;
        }
        let want = |((name, weight), (offered, _)): ((&&str, f64), &(f64, f64))| {
            let class = self.scenario.classes.get(*name);
            let greedy = any(name, &|group| self.is_greedy(group));
            Want {
                demand: if greedy { f64::INFINITY } else { *offered },
                floor: class.map_or(0.0, |class| class.floor.bit_per_s()),
                ceiling: class
                    .and_then(|class| class.ceiling)
                    .map_or(f64::INFINITY, penstock_law::quantity::Rate::bit_per_s),
                weight,
            }
        };
        let wants: Vec<Want> = names.iter().zip(weights).zip(self.rates).map(want).collect();
        Some(max_min(capacity, &wants))
    }

    /// Weights by share; classes without one divide the remainder equally.
    fn weights(&self, names: &[&str]) -> Vec<f64> {
        let shares: Vec<Option<f64>> =
            names.iter().map(|name| self.scenario.classes.get(*name).and_then(|class| class.share)).collect();
        let given: f64 = shares.iter().flatten().sum();
        let others = shares.iter().filter(|share| share.is_none()).count() as f64;
        shares.iter().map(|share| share.unwrap_or((1.0 - given) / others)).collect()
    }

    /// Whether a group's flows respond to congestion: their sent rate is then not their demand.
    fn is_greedy(&self, group: &Group) -> bool {
        group.requirements(self.scenario.packet).is_ok_and(|needs| needs.reliable)
    }
}

/// Standard deviation of two or more.
fn sd(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.len() > 1).then(|| (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt())
}
