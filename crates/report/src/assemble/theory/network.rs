//! The loop of senders and queues, as a page.

use penstock_fluid::phase::NyquistPoint;
use penstock_fluid::sessions::Sessions;
use penstock_fluid::{Analysis, LoopModel, Verdict};

use super::disturbance;
use super::margins::{caption, row};
use crate::assemble::analysis::{
    AnalysisSource, AnalysisView, CurveView, EquilibriumRow, NyquistView, phases, within_three_turns,
};
use crate::figure::{Axis, Figure, Line, Mark, Style};
use crate::palette;

/// The sentence about several sessions whose predictors count their own packets.
fn sentence(of: &Sessions) -> String {
    let most = match of.stable_up_to {
        0 => "not even one would be".to_owned(),
        1 => "one alone would be".to_owned(),
        n => format!("{n} would be"),
    };
    format!(
        "{} sessions of `{}` are not stable together, {most}. Each session accounts for its own packets in flight, \
         but not for those of the others, which reach the queue within a round trip.",
        of.count, of.group
    )
}

/// The loop of senders and queues; `sessions` are how many would be stable together, where those there are are not.
pub(super) fn view(analysis: &Analysis, sessions: Option<&Sessions>, source: &AnalysisSource<'_>) -> AnalysisView {
    let limit = analysis.limiting_class.as_ref().map(|class| format!("; `{class}` limits it")).unwrap_or_default();
    let dissent = dissent(analysis);
    let (stable, verdict) = match analysis.verdict {
        Verdict::Stable => (Some(true), format!("The equilibrium is locally stable{limit}.{dissent}")),
        Verdict::Unstable => (Some(false), format!("The equilibrium is unstable{limit}.{dissent}")),
        Verdict::Undecided => (None, "The Nyquist criterion gives no verdict.".to_owned()),
    };
    let decides = |of: LoopModel| of == LoopModel::DECISIVE;
    let margins = analysis.models.iter().map(|r| row(r.model.name().to_owned(), decides(r.model), &r.margins));
    let curves = analysis.models.iter().enumerate().flat_map(|(at, result)| {
        let comparison = at + 1 < analysis.models.len();
        let several = result.nyquist.len() > 1;
        result.nyquist.iter().enumerate().map(move |(locus, points)| CurveView {
            name: if several {
                format!("{} {}", result.model.name(), locus + 1)
            } else {
                result.model.name().to_owned()
            },
            colour: None,
            comparison,
            points: points.iter().map(|p| (p.re, p.im)).collect(),
        })
    });
    let nyquist = NyquistView {
        title: "Loop gain".into(),
        caption: "The three loop models. The loop is stable if its curve passes with -1 on its left.".into(),
        curves: curves.chain([bound()]).collect(),
    };
    AnalysisView {
        title: analysis.title.clone(),
        header: source.header.to_vec(),
        stable,
        verdict: sessions.map_or_else(|| verdict.clone(), |sessions| format!("{verdict} {}", sentence(sessions))),
        equilibrium: equilibrium(analysis),
        margins: margins.collect(),
        models: caption(),
        nyquist: vec![nyquist],
        figures: figures(analysis).into_iter().chain(disturbance::figures(&analysis.disturbance)).collect(),
        notes: analysis.warnings.iter().chain(&analysis.assumptions).cloned().collect(),
        scenario_text: source.scenario_text.to_owned(),
        command: source.command.to_owned(),
    }
}

/// Which models contradict the verdict, and why that does not count.
fn dissent(analysis: &Analysis) -> String {
    let (says, other) = match analysis.verdict {
        Verdict::Stable => ("unstable", Verdict::Unstable),
        Verdict::Unstable => ("stable", Verdict::Stable),
        Verdict::Undecided => return String::new(),
    };
    let others = analysis.models.iter().filter(|result| result.margins.verdict == other);
    let names: Vec<&str> = others.map(|result| result.model.name()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(" Simpler models of the loop ({}) are {says}; the effects that they ignore decide here.", names.join(", "))
}

/// Gain and phase of the model that counts most, and the roots of each.
fn figures(analysis: &Analysis) -> Vec<Figure> {
    let Some(last) = analysis.models.last() else { return Vec::new() };
    let axis = || Axis::new("Frequency", "rad/s").log();
    let mut gain = Figure::new("Gain of the loop", axis(), Axis::new("Modulus", "").log());
    let mut phase = Figure::new("Phase of the loop", axis(), Axis::new("Phase", "\u{b0}"));
    for (k, locus) in last.nyquist.iter().enumerate() {
        let name = if last.nyquist.len() > 1 { format!("eigenlocus {}", k + 1) } else { last.model.name().to_owned() };
        let at = |p: &NyquistPoint| p.frequency_rad_per_s;
        let modulus = locus.iter().map(|p| (at(p), p.gain().abs())).collect();
        gain.lines.push(Line::new(name.clone(), modulus));
        phase.lines.push(Line::new(name, phases(locus)));
    }
    gain.marks = vec![Mark::Horizontal { at: 1.0, label: String::new() }];
    phase.marks = vec![Mark::Horizontal { at: -180.0, label: String::new() }];
    if let Some(w) = last.margins.gain_crossover_rad_per_s {
        phase.marks.push(Mark::Vertical { at: w, label: "gain crossover".into() });
    }
    within_three_turns(&mut phase);
    let mut roots = Figure::new("Rightmost roots", Axis::new("Real part", "1/s"), Axis::new("Imaginary part", "rad/s"))
        .captioned("Disturbances decay if every root lies left of zero. The root nearest to zero decays most slowly.");
    for result in &analysis.models {
        let points = result.roots.iter().flat_map(|r| {
            let mirrored = (r.im_rad_per_s != 0.0).then_some((r.re_per_s, -r.im_rad_per_s));
            core::iter::once((r.re_per_s, r.im_rad_per_s)).chain(mirrored)
        });
        roots.lines.push(Line::new(result.model.name(), points.collect()).styled(Style::Points));
    }
    roots.marks = vec![Mark::Vertical { at: 0.0, label: String::new() }];
    let mut figures = vec![gain, phase, roots];
    figures.retain(|f| !f.is_empty());
    for figure in &mut figures {
        let colours = palette::assign(&vec![None; figure.lines.len()]);
        for (line, colour) in figure.lines.iter_mut().zip(colours) {
            line.colour = colour;
        }
    }
    figures
}

/// The bound of Theorem 2 of fast-aqm: the static law's spiral at its bound, through -1.
fn bound() -> CurveView {
    let spiral = |k: i32| {
        let angle = 0.2 * libm::pow(1.02, f64::from(k));
        let size = core::f64::consts::FRAC_PI_2 / angle;
        (-size * libm::sin(angle), -size * libm::cos(angle))
    };
    CurveView {
        name: "bound of Theorem 2 of Paganini et al., INFOCOM 2003 (alpha = pi/2)".into(),
        colour: Some("#8a8f94".into()),
        comparison: true,
        points: (0..250).map(spiral).collect(),
    }
}

fn equilibrium(analysis: &Analysis) -> Vec<EquilibriumRow> {
    let mut rows = Vec::new();
    let mut add = |entity: &str, quantity: &str, value, unit: &str| {
        rows.push(EquilibriumRow::new(entity, quantity, value, unit));
    };
    for link in &analysis.links {
        add(&link.name, "utilization", link.utilization, "");
        if !link.binding {
            continue;
        }
        add(&link.name, "queue", link.queue_packets, "packets");
        add(&link.name, "queueing delay", link.queueing_delay_s, "s");
        add(&link.name, "mark probability", link.mark_probability, "");
        if let Some(price) = link.price_s {
            add(&link.name, "price", price, "s");
        }
    }
    for class in &analysis.classes {
        add(&class.name, "rate of a flow", class.rate_bit_per_s, "bit/s");
        add(&class.name, "window of a flow", class.window_packets, "packets");
        add(&class.name, "round-trip time", class.rtt_s, "s");
        if let Some(share) = class.share {
            add(&class.name, "share of the link", share, "");
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other papers have a Theorem 2 too.
    #[test]
    fn the_bound_names_its_paper() {
        assert!(bound().name.contains("Theorem 2 of Paganini et al., INFOCOM 2003"), "{}", bound().name);
    }
}
