//! The page of a paper: its figures and tables as reproduced, each with its claims and their verdicts.

use crate::assemble::scenario_code;
use crate::figure::Figure;
use crate::page::{Callout, ClaimView, Code, Page, Section, TableView, Tone, Verdict};
use crate::text;

/// A paper, as a page shows it.
#[derive(Debug, Clone, Default)]
pub struct PaperView {
    /// Its title.
    pub title: String,
    /// Authors, where and when it appeared.
    pub citation: String,
    /// What was found, for those who read no further; may be empty.
    pub findings: String,
    /// Where the results come from: version, machine.
    pub header: Vec<(String, String)>,
    /// Its figures and tables.
    pub figures: Vec<PaperFigure>,
}

/// A figure or table of a paper.
#[derive(Debug, Clone, Default)]
pub struct PaperFigure {
    /// Which: `Figure 5`, `Table 2`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How it was reproduced, and what was chosen where the paper does not say.
    pub prose: String,
    /// Our plots.
    pub figures: Vec<Figure>,
    /// Our tables.
    pub tables: Vec<TableView>,
    /// What the paper says of it.
    pub claims: Vec<ClaimView>,
    /// The scenario.
    pub scenario_text: String,
    /// What runs it again.
    pub command: String,
    /// Why it does not run here; none where it does.
    pub not_run: Option<String>,
}

/// The verdicts on top, then one section a figure.
pub fn of_paper(view: &PaperView) -> Page {
    let mut page = Page {
        title: view.title.clone(),
        subtitle: view.citation.clone(),
        facts: view.header.clone(),
        sections: vec![verdicts(view)],
    };
    for figure in &view.figures {
        let heading = match (figure.id.is_empty(), figure.title.is_empty()) {
            (false, false) => format!("{}: {}", figure.id, figure.title),
            _ => format!("{}{}", figure.id, figure.title),
        };
        let mut section = Section::new(heading);
        section.prose.clone_from(&figure.prose);
        if let Some(reason) = &figure.not_run {
            let text = format!("Not run here: {reason}");
            section.callout = Some(Callout { tone: Tone::Neutral, text });
        }
        section.figures.clone_from(&figure.figures);
        section.tables.clone_from(&figure.tables);
        section.claims.clone_from(&figure.claims);
        if !figure.command.trim().is_empty() {
            section.code.push(Code {
                label: "To run this again".to_owned(),
                text: figure.command.clone(),
                folded: false,
            });
        }
        section.code.extend(scenario_code(&figure.scenario_text));
        page.sections.push(section);
    }
    page
}

fn verdicts(view: &PaperView) -> Section {
    let mut section = Section::new("Verdicts");
    section.prose.clone_from(&view.findings);
    let claims: Vec<ClaimView> = view.figures.iter().flat_map(|f| f.claims.iter().cloned()).collect();
    if claims.is_empty() {
        return section;
    }
    let differs = claims.iter().any(ClaimView::differs);
    let unrecorded = claims.iter().any(|c| c.recorded.is_none() && c.verdict == Verdict::Fails);
    let good = !differs && !unrecorded && claims.iter().any(|c| c.verdict == Verdict::Holds);
    let tone = match (good, differs || unrecorded) {
        (true, _) => Tone::Good,
        (false, true) => Tone::Bad,
        (false, false) => Tone::Neutral,
    };
    let n = claims.len();
    let head = format!("{n} {}: ", if n == 1 { "claim" } else { "claims" });
    section.callout = Some(Callout { tone, text: format!("{head}{}.", text::tally(&claims)) });
    let placed = view.figures.iter().flat_map(|f| f.claims.iter().map(|c| (f.id.as_str(), c)));
    section.tables.push(text::verdict_table("", placed));
    section
}
