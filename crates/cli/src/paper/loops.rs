//! Loops of analyses and formulas as figures: in the complex plane, and their modulus and phase against frequency.

use penstock_fluid::Complex;
use penstock_papers::{Item, LoopPlot};
use penstock_report::assemble::{CurveView, NyquistView, nyquist};
use penstock_report::figure::{Axis, Figure, Line, Mark, Style};
use penstock_report::palette;

/// The gain of a loop along the frequency.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    /// Its name in the legend.
    pub(super) name: String,
    /// Whether it is there to be compared with: dashed.
    pub(super) comparison: bool,
    /// Frequencies [rad/s] and gains.
    pub(super) points: Vec<(f64, Complex)>,
}

/// The figures that `item` asks for.
pub(super) fn figures(item: &Item, curves: &[Curve]) -> Vec<Figure> {
    if curves.is_empty() {
        return Vec::new();
    }
    item.loops.iter().map(|plot| figure(item, *plot, curves)).collect()
}

fn figure(item: &Item, plot: LoopPlot, curves: &[Curve]) -> Figure {
    let frequency = || Axis::new("Frequency", "rad/s").log();
    match plot {
        LoopPlot::Nyquist => {
            let view = |c: &Curve| CurveView {
                name: c.name.clone(),
                colour: None,
                comparison: c.comparison,
                points: c.points.iter().map(|(_, l)| (l.re, l.im)).collect(),
            };
            nyquist(&NyquistView {
                title: format!("{}: the complex plane", item.title),
                caption: String::new(),
                curves: curves.iter().map(view).collect(),
            })
        }
        LoopPlot::Gain => {
            let gain = Figure::new(format!("{}: gain", item.title), frequency(), Axis::new("Modulus", "").log());
            let modulus = |c: &Curve| c.points.iter().map(|(w, l)| (*w, l.abs())).collect();
            with_lines(gain, curves, modulus, 1.0)
        }
        LoopPlot::Phase => {
            let phase = Figure::new(format!("{}: phase", item.title), frequency(), Axis::new("Phase", "\u{b0}"));
            with_lines(phase, curves, |c| unwrapped(&c.points), -180.0)
        }
    }
}

fn with_lines(mut figure: Figure, curves: &[Curve], of: impl Fn(&Curve) -> Vec<(f64, f64)>, mark: f64) -> Figure {
    for (curve, colour) in curves.iter().zip(palette::assign(&vec![None; curves.len()])) {
        let style = if curve.comparison { Style::Dashed } else { Style::Solid };
        figure.lines.push(Line::new(&curve.name, of(curve)).coloured(colour).styled(style));
    }
    figure.marks = vec![Mark::Horizontal { at: mark, label: String::new() }];
    figure
}

/// Phases along a curve [degrees], without the jumps by a whole turn.
pub(crate) fn unwrapped(points: &[(f64, Complex)]) -> Vec<(f64, f64)> {
    let (mut turns, mut before) = (0.0, None::<f64>);
    let along = |&(w, gain): &(f64, Complex)| {
        let angle = gain.arg().to_degrees() + turns;
        let jump = before.map_or(0.0, |b| ((angle - b) / 360.0).round() * 360.0);
        turns -= jump;
        before = Some(angle - jump);
        (w, angle - jump)
    };
    points.iter().map(along).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `exp(-s)/s` lags by a quarter turn and by its delay, however many turns that is.
    #[test]
    fn phases_go_on_beyond_a_turn() {
        let gain = |w: f64| (w, (-Complex::axis(w)).exp() / Complex::axis(w));
        let points: Vec<(f64, Complex)> = (1..=200).map(|k| gain(0.1 * f64::from(k))).collect();
        for (w, phase) in unwrapped(&points) {
            assert!((phase + 90.0 + w.to_degrees()).abs() < 1e-9, "{w}: {phase}");
        }
    }
}
