//! The loop in each model: margins, roots, the class that limits, and the Nyquist plot.

use core::cell::Cell;

use super::{Busy, LoopResult, POINTS, ROOTS, Root};
use crate::complex::Complex;
use crate::loop_model::LoopModel;
use crate::margin::{Margins, Span, Verdict, margins_and_locus, matrix_margins};
use crate::phase::{self, NyquistPoint};
use crate::response::Loop;
use crate::roots::rightmost;

/// Every model, from the least to the most that is counted. One that counts nothing more than the one before is that
/// one: no law of `closed` need be called again.
pub(super) fn models(closed: &Loop, names: &[&str], watch: &dyn Fn(Busy)) -> Vec<LoopResult> {
    let parts = closed.parts();
    let mut models: Vec<LoopResult> = Vec::with_capacity(LoopModel::ALL.len());
    for model in LoopModel::ALL {
        let next = match models.last() {
            Some(last) if !closed.adds(model) => LoopResult { model, ..last.clone() },
            _ => read(&parts, model, names, watch),
        };
        models.push(next);
    }
    models
}

/// The margins of the last model of [`models`], and no more: of the last one that counts more than those before it.
pub(super) fn decided(closed: &Loop, watch: &dyn Fn(Busy)) -> Margins {
    let model = LoopModel::ALL.into_iter().rev().find(|model| closed.adds(*model)).unwrap_or(LoopModel::Laws);
    let parts = closed.parts();
    let count = counter(model, watch);
    together(&parts, parts.iter().map(|(_, part)| measured(part, model, &count).0))
}

/// Counts the frequencies at which a model is taken.
fn counter(model: LoopModel, watch: &dyn Fn(Busy)) -> impl Fn() {
    let taken = Cell::new(0);
    move || {
        taken.set(taken.get() + 1);
        watch(Busy::Loop(model, taken.get()));
    }
}

/// The worst of the margins of all parts.
fn together(parts: &[(Vec<usize>, Loop)], of_parts: impl Iterator<Item = Margins>) -> Margins {
    let mut margins = Margins::worst(of_parts);
    if parts.iter().any(|(_, part)| part.members.iter().any(|m| m.response.is_ack_clocked())) {
        margins.delay_margin_s = None;
    }
    margins
}

/// The result of one part of a loop in one model.
struct Followed {
    margins: Margins,
    loci: Vec<Vec<(f64, Complex)>>,
    roots: Vec<Complex>,
}

fn read(parts: &[(Vec<usize>, Loop)], model: LoopModel, names: &[&str], watch: &dyn Fn(Busy)) -> LoopResult {
    let count = counter(model, watch);
    let followed: Vec<Followed> = parts.iter().map(|(_, part)| follow(part, model, &count)).collect();
    let margins = together(parts, followed.iter().map(|f| f.margins.clone()));
    let mut roots: Vec<Complex> = followed.iter().flat_map(|f| f.roots.iter().copied()).collect();
    roots.sort_by(|a, b| b.re.total_cmp(&a.re));
    roots.truncate(ROOTS);
    let critical = margins.phase_crossover_rad_per_s.unwrap_or(margins.least_distance_rad_per_s);
    // The part that the worst margin is of.
    let has = |m: &Margins| [m.phase_crossover_rad_per_s, Some(m.least_distance_rad_per_s)].contains(&Some(critical));
    let worst = followed.iter().position(|f| has(&f.margins)).unwrap_or(0);
    let slowest_s = parts.iter().map(|(_, part)| part.span().0).fold(0.0, f64::max);
    let middle = margins.gain_crossover_rad_per_s.or(margins.phase_crossover_rad_per_s).unwrap_or(1.0 / slowest_s);
    let nyquist = parts.iter().zip(&followed).flat_map(|((_, part), f)| plot(part, model, f, middle, &count)).collect();
    LoopResult {
        model,
        limiting_class: limiting(&parts[worst], model, critical).map(|at| names[at].to_owned()),
        roots: roots.into_iter().map(|s| Root { re_per_s: s.re, im_rad_per_s: s.im }).collect(),
        nyquist,
        margins,
    }
}

/// Margins, loci and roots of one part.
fn follow(part: &Loop, model: LoopModel, count: &dyn Fn()) -> Followed {
    let (margins, loci) = measured(part, model, count);
    let matrix = |s: Complex| {
        count();
        if part.links.len() == 1 { vec![vec![part.gain(s, model)]] } else { part.matrix(s, model) }
    };
    let roots = rightmost(&matrix, &loci, part.span().0, ROOTS);
    Followed { margins, loci, roots }
}

/// Margins and loci of one part.
fn measured(part: &Loop, model: LoopModel, count: &dyn Fn()) -> (Margins, Vec<Vec<(f64, Complex)>>) {
    let (slowest_s, fastest_s) = part.span();
    let span = Span { slowest_s, fastest_s };
    let (mut margins, loci) = if part.links.len() == 1 {
        let gain = |s: Complex| {
            count();
            part.gain(s, model)
        };
        let (margins, locus) = margins_and_locus(&gain, span);
        (margins, vec![locus])
    } else {
        let matrix = |s: Complex| {
            count();
            part.matrix(s, model)
        };
        matrix_margins(&matrix, span)
    };
    if part.links.iter().any(|l| l.runs_away) || part.members.iter().any(|m| m.response.runs_away) {
        // The count of encirclements supposes that each law alone is stable or at the border.
        margins.verdict = Verdict::Undecided;
    }
    (margins, loci)
}

/// The class of a part whose own loop is nearest to -1 at the critical frequency [rad/s], as its index among all classes.
fn limiting((members, part): &(Vec<usize>, Loop), model: LoopModel, critical: f64) -> Option<usize> {
    let s = Complex::axis(critical);
    let own = members.iter().enumerate().map(|(i, at)| (*at, part.lambda(i, s, model)));
    own.filter(|(_, l)| l.abs() > 0.0)
        .min_by(|(_, a), (_, b)| (*a + Complex::ONE).abs().total_cmp(&(*b + Complex::ONE).abs()))
        .map(|(at, _)| at)
}

/// The Nyquist plot of one part, about `middle` [rad/s].
fn plot(part: &Loop, model: LoopModel, of: &Followed, middle: f64, count: &dyn Fn()) -> Vec<Vec<NyquistPoint>> {
    let frequencies = around(middle);
    if part.links.len() == 1 {
        let gain = |s: Complex| {
            count();
            part.gain(s, model)
        };
        return vec![phase::at(&gain, &frequencies, part.span().0)];
    }
    let (lowest, highest) = (frequencies[0], frequencies[frequencies.len() - 1]);
    let thin = |locus: &Vec<(f64, Complex)>| {
        let mut points = phase::along(locus);
        points.retain(|p| (lowest..=highest).contains(&p.frequency_rad_per_s));
        let every = points.len().div_ceil(POINTS as usize).max(1);
        points.into_iter().step_by(every).collect()
    };
    of.loci.iter().map(thin).collect()
}

/// The frequencies of a plot, two decades to each side of `middle` [rad/s].
pub(crate) fn around(middle: f64) -> Vec<f64> {
    let step = libm::pow(1e4, 1.0 / f64::from(POINTS - 1));
    core::iter::successors(Some(middle / 100.0), |w| Some(w * step)).take(POINTS as usize).collect()
}
