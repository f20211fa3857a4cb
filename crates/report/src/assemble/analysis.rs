//! The page of a stability analysis.

use penstock_fluid::phase::NyquistPoint;

use crate::assemble::{command_code, scenario_code};
use crate::figure::{Axis, Figure, Line, Mark, Style};
use crate::number::{ABSENT, quantity, short};
use crate::page::{Callout, Column, Page, Section, TableView, Tone};
use crate::palette;

/// Results of an analysis, as a page shows them.
#[derive(Debug, Clone, Default)]
pub struct AnalysisView {
    /// The scenario's title.
    pub title: String,
    /// Where it comes from: version, machine.
    pub header: Vec<(String, String)>,
    /// Whether the loop is stable; none where the analysis does not decide.
    pub stable: Option<bool>,
    /// The verdict in a sentence, with the class that limits it.
    pub verdict: String,
    /// Equilibrium of the loop.
    pub equilibrium: Vec<EquilibriumRow>,
    /// Its distances from instability.
    pub margins: Vec<MarginRow>,
    /// Explanation of the models that the margins are of; may be empty.
    pub models: String,
    /// Loops in the complex plane.
    pub nyquist: Vec<NyquistView>,
    /// Anything else worth a figure: gain and phase, roots, maps of stability.
    pub figures: Vec<Figure>,
    /// Notes for a reader: approximations, laws that were left out.
    pub notes: Vec<String>,
    /// The scenario with all defaults filled in.
    pub scenario_text: String,
    /// The command that runs it again.
    pub command: String,
}

/// Where an analysis comes from.
#[derive(Debug, Clone, Copy)]
pub struct AnalysisSource<'a> {
    /// Version and machine.
    pub header: &'a [(String, String)],
    /// The scenario with all defaults filled in.
    pub scenario_text: &'a str,
    /// The command that runs it again; may be empty.
    pub command: &'a str,
}

/// One number of the equilibrium.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EquilibriumRow {
    /// Its entity: a link, a group.
    pub entity: String,
    /// Its quantity: `price`, `window of a flow`.
    pub quantity: String,
    /// The number.
    pub value: f64,
    /// Its unit without prefix.
    pub unit: String,
}

impl EquilibriumRow {
    /// A row; `unit` is empty where there is none.
    pub fn new(entity: &str, quantity: &str, value: f64, unit: &str) -> Self {
        Self { entity: entity.to_owned(), quantity: quantity.to_owned(), value, unit: unit.to_owned() }
    }
}

/// Margins of one loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MarginRow {
    /// Which model of the loop, or whose loop.
    pub model: String,
    /// Whether the verdict on the page is this one; others stand beside it for comparison.
    pub decides: bool,
    /// When: `start`, `after 30 s`; may be empty.
    pub moment: String,
    /// Whether the loop is stable in this model.
    pub stable: bool,
    /// The factor by which the gain may grow.
    pub gain_margin: Option<f64>,
    /// The phase that is left where the gain is one, in degrees.
    pub phase_margin_deg: Option<f64>,
    /// The delay that is left there, in seconds.
    pub delay_margin_s: Option<f64>,
    /// Where the gain is one, in rad/s.
    pub crossover_rad_per_s: Option<f64>,
}

/// A plot in the complex plane.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NyquistView {
    /// Its title.
    pub title: String,
    /// Explanation for a reader.
    pub caption: String,
    /// Its curves.
    pub curves: Vec<CurveView>,
}

/// A curve in the complex plane.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CurveView {
    /// Its name.
    pub name: String,
    /// `#rrggbb`, if it has a colour of its own.
    pub colour: Option<String>,
    /// Whether it is there for comparison.
    pub comparison: bool,
    /// Real and imaginary part along the frequencies.
    pub points: Vec<(f64, f64)>,
}

/// The verdict and the margins, Nyquist plots, the equilibrium, further tables, and the scenario.
pub fn of_analysis(view: &AnalysisView) -> Page {
    let mut page = Page {
        title: view.title.clone(),
        subtitle: "Equilibrium and stability with exact delays".to_owned(),
        facts: view.header.clone(),
        sections: Vec::new(),
    };
    let mut verdict = Section::new("Verdict");
    let (tone, default) = match view.stable {
        Some(true) => (Tone::Good, "The equilibrium is locally stable."),
        Some(false) => (Tone::Bad, "The equilibrium is not stable."),
        None => (Tone::Neutral, "The analysis gives no verdict on the stability of the equilibrium."),
    };
    let text = if view.verdict.is_empty() { default } else { view.verdict.as_str() };
    verdict.callout = Some(Callout { tone, text: text.to_owned() });
    verdict.prose = view.notes.join("\n\n");
    if !view.margins.is_empty() {
        verdict.tables.push(margins(&view.models, &view.margins));
    }
    page.sections.push(verdict);

    if !view.nyquist.is_empty() {
        let mut section = Section::new("Loop gain");
        section.figures = view.nyquist.iter().map(nyquist).collect();
        page.sections.push(section);
    }
    if !view.figures.is_empty() {
        let mut section = Section::new("Further figures");
        section.figures.clone_from(&view.figures);
        page.sections.push(section);
    }
    if !view.equilibrium.is_empty() {
        let mut section = Section::new("Equilibrium");
        section.tables.push(equilibrium(&view.equilibrium));
        page.sections.push(section);
    }
    let mut source = Section::new("Scenario");
    source.code = command_code(&view.command);
    source.code.extend(scenario_code(&view.scenario_text));
    if !source.code.is_empty() {
        page.sections.push(source);
    }
    page
}

fn equilibrium(rows: &[EquilibriumRow]) -> TableView {
    let columns = vec![Column::words("Where"), Column::words("What"), Column::numbers("Value", "")];
    let mut view = TableView::new("Equilibrium of the loop", columns);
    let row = |r: &EquilibriumRow| vec![r.entity.clone(), r.quantity.clone(), quantity(r.value, &r.unit, 5)];
    view.rows = rows.iter().map(row).collect();
    view
}

fn margins(models: &str, rows: &[MarginRow]) -> TableView {
    let columns = vec![
        Column::words("Model"),
        Column::words("Moment"),
        Column::words("Role"),
        Column::words("Stable"),
        Column::numbers("Gain margin", "factor"),
        Column::numbers("Phase margin", "\u{b0}"),
        Column::numbers("Delay margin", ""),
        Column::numbers("Crossover", "rad/s"),
    ];
    let mut view = TableView::new(if models.is_empty() { "Margins" } else { models }, columns);
    let number = |v: Option<f64>| v.map_or_else(|| ABSENT.to_owned(), |v| short(v, 3));
    for r in rows {
        view.rows.push(vec![
            r.model.clone(),
            r.moment.clone(),
            if r.decides { "verdict" } else { "comparison" }.to_owned(),
            if r.stable { "yes" } else { "no" }.to_owned(),
            number(r.gain_margin),
            number(r.phase_margin_deg),
            r.delay_margin_s.map_or_else(|| ABSENT.to_owned(), |v| quantity(v, "s", 3)),
            number(r.crossover_rad_per_s),
        ]);
    }
    view.drop_empty_columns();
    view
}

/// The curves near the critical point: the decisive part is within a few units of it, whatever the gain at low frequencies.
pub fn nyquist(view: &NyquistView) -> Figure {
    const NEAR: f64 = 2.5;
    let mut figure = Figure::new(
        if view.title.is_empty() { "Nyquist plot" } else { &view.title },
        Axis::new("Real part", ""),
        Axis::new("Imaginary part", ""),
    )
    .captioned(view.caption.clone());
    figure.equal_aspect = true;
    let wanted: Vec<Option<&str>> = view.curves.iter().map(|c| c.colour.as_deref()).collect();
    for (curve, colour) in view.curves.iter().zip(palette::assign(&wanted)) {
        let style = if curve.comparison { Style::Dashed } else { Style::Solid };
        figure.lines.push(Line::new(curve.name.clone(), curve.points.clone()).coloured(colour).styled(style));
    }
    let circle = (0..=180).map(|i| {
        let (s, c) = libm::sincos(f64::from(i) * core::f64::consts::TAU / 180.0);
        (c, s)
    });
    figure.lines.push(Line::new("unit circle", circle.collect()).coloured("#87919a").styled(Style::Dashed));
    figure.marks = vec![
        Mark::Vertical { at: 0.0, label: String::new() },
        Mark::Horizontal { at: 0.0, label: String::new() },
        Mark::Point { x: -1.0, y: 0.0, label: "critical point \u{2212}1".to_owned() },
    ];
    let all = || view.curves.iter().flat_map(|c| &c.points).filter(|p| p.0.is_finite() && p.1.is_finite());
    let near = |low: f64, high: f64, v: f64| (low.min(v.max(-NEAR)), high.max(v.min(NEAR)));
    let (x0, x1) = all().fold((-1.4, 1.2), |(l, h), p| near(l, h, p.0));
    let (y0, y1) = all().fold((-1.2, 1.2), |(l, h), p| near(l, h, p.1));
    figure.x.range = Some((x0 - 0.1, x1 + 0.1));
    figure.y.range = Some((y0 - 0.1, y1 + 0.1));
    figure
}

/// The phase of `points` against their frequency, where it is known: rad/s and degrees.
pub fn phases(points: &[NyquistPoint]) -> Vec<(f64, f64)> {
    points.iter().filter_map(|p| Some((p.frequency_rad_per_s, p.phase_deg?))).collect()
}

/// The phases in `figure`, by three turns: a delay goes on for hundreds, and what decides is where they pass -180 degrees.
pub fn within_three_turns(figure: &mut Figure) {
    const LOWEST: f64 = -1080.0;
    let all = || figure.lines.iter().flat_map(|line| &line.points).map(|p| p.1).filter(|y| y.is_finite());
    let (low, high) = all().fold((f64::INFINITY, -180.0), |(l, h): (f64, f64), y| (l.min(y), h.max(y)));
    if low < LOWEST && high > LOWEST {
        figure.y.range = Some((LOWEST, high + 45.0));
    }
}
