//! The page of a paper: its figures and tables as reproduced, each with its claims and their verdicts.

use penstock_scenario::text::law_names;

use crate::assemble::scenario_code;
use crate::figure::Figure;
use crate::page::{Callout, ClaimView, Code, Page, Section, TableView, Tally, Tone};

/// A paper, as a page shows it.
#[derive(Debug, Clone, Default)]
pub struct PaperView {
    /// Its title.
    pub title: String,
    /// Authors, where and when it appeared.
    pub citation: String,
    /// The results in a few words, for those who read no further; may be empty.
    pub results: String,
    /// Where the results come from: version, machine.
    pub header: Vec<(String, String)>,
    /// The file of the repository that explains at length; may be empty.
    pub explained_in: String,
    /// Whether these are short runs, which show a part of each figure.
    pub short: bool,
    /// Its figures and tables.
    pub figures: Vec<PaperFigure>,
}

/// A figure or table of a paper.
#[derive(Debug, Clone, Default)]
pub struct PaperFigure {
    /// Which: `Figure 5`, `Table 2`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its reproduction, and the choices where the paper is silent.
    pub prose: String,
    /// Our plots.
    pub figures: Vec<Figure>,
    /// Our tables.
    pub tables: Vec<TableView>,
    /// The paper's claims about it.
    pub claims: Vec<ClaimView>,
    /// The scenario.
    pub scenario_text: String,
    /// The command that runs it again.
    pub command: String,
    /// Why it does not run here; none where it does.
    pub not_run: Option<String>,
}

/// The verdicts on top, then one section a figure.
pub fn of_paper(view: &PaperView) -> Page {
    let mut page = Page {
        title: if view.short { format!("{}: short runs", view.title) } else { view.title.clone() },
        subtitle: match (view.short, view.citation.is_empty()) {
            (true, false) => format!("{} {SHORT}", view.citation),
            (true, true) => SHORT.to_owned(),
            (false, _) => view.citation.clone(),
        },
        facts: view.header.clone(),
        sections: vec![verdicts(view)],
    };
    for figure in &view.figures {
        let heading = match (figure.id.is_empty(), figure.title.is_empty()) {
            (false, false) => format!("{}: {}", figure.id, figure.title),
            _ => format!("{}{}", figure.id, figure.title),
        };
        let mut section = Section::new(heading);
        section.label = label(figure);
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
        section.laws = law_names(&figure.scenario_text);
        page.sections.push(section);
    }
    page
}

/// The note on a page of short runs.
const SHORT: &str = "Short runs: some cells and seeds of each figure, held against the verdicts recorded for short runs. \
                     Without `--short` the command runs all of them.";

/// A line of the contents: Fig. 5, a dash, its title.
fn label(figure: &PaperFigure) -> String {
    let capital = |text: &str| {
        let mut letters = text.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    let short = [("figures ", "Figs. "), ("figure ", "Fig. ")].into_iter().find_map(|(long, short)| {
        let head = figure.id.get(..long.len()).filter(|head| head.eq_ignore_ascii_case(long))?;
        Some(format!("{short}{}", &figure.id[head.len()..]))
    });
    let id = short.unwrap_or_else(|| capital(&figure.id));
    match (id.is_empty(), figure.title.is_empty()) {
        (false, false) => format!("{id} \u{2014} {}", figure.title),
        _ => format!("{id}{}", figure.title),
    }
}

fn verdicts(view: &PaperView) -> Section {
    let mut section = Section::new("Verdicts");
    "Verdicts".clone_into(&mut section.label);
    section.prose.clone_from(&view.results);
    let claims = || view.figures.iter().flat_map(|f| &f.claims);
    if claims().next().is_none() {
        return section;
    }
    let tally = Tally::of(claims());
    section.tally = Some(tally);
    if tally.stated.fails + tally.unstated.fails > 0 && !view.explained_in.is_empty() {
        let more = format!("The reason for a failure is next to its claim; {} has more.", view.explained_in);
        section.prose = format!("{}\n\n{more}", section.prose);
    }
    let placed = view.figures.iter().flat_map(|f| f.claims.iter().map(|c| (f.id.as_str(), c)));
    section.tables.push(TableView::of_claims("Every claim", placed));
    section
}
