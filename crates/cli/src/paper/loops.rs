//! Loops of analyses and formulas as figures: in the complex plane, and their modulus and phase against frequency.

use penstock_papers::{Curve, Item, LoopPlot};
use penstock_report::assemble::{CurveView, NyquistView, nyquist, phases, within_three_turns};
use penstock_report::figure::{Axis, Figure, Line, Mark, Style};
use penstock_report::palette;

/// The figures of `item`.
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
                points: c.points.iter().map(|p| (p.re, p.im)).collect(),
            };
            nyquist(&NyquistView {
                title: format!("{}: the complex plane", item.title),
                caption: String::new(),
                curves: curves.iter().map(view).collect(),
            })
        }
        LoopPlot::Gain => {
            let gain = Figure::new(format!("{}: gain", item.title), frequency(), Axis::new("Modulus", "").log());
            let modulus = |c: &Curve| c.points.iter().map(|p| (p.frequency_rad_per_s, p.gain().abs())).collect();
            with_lines(gain, curves, modulus, 1.0)
        }
        LoopPlot::Phase => {
            let phase = Figure::new(format!("{}: phase", item.title), frequency(), Axis::new("Phase", "\u{b0}"));
            let mut phase = with_lines(phase, curves, |c| phases(&c.points), -180.0);
            within_three_turns(&mut phase);
            phase
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
