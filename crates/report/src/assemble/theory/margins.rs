//! Margins of a loop as rows of a table.

use penstock_fluid::{LoopModel, Margins, Verdict};

use crate::assemble::analysis::MarginRow;

/// Explanation of the models, for a table with a row for each.
pub(super) fn caption() -> String {
    let model = |model: LoopModel| format!("\u{201c}{}\u{201d}: {}.", model.name(), model.counts());
    let what = LoopModel::ALL.map(model).join(" ");
    format!("Margins in three loop models. The last model includes most and gives the verdict. {what}")
}

/// Margins as a row of their table.
pub(super) fn row(model: String, decides: bool, m: &Margins) -> MarginRow {
    MarginRow {
        model,
        decides,
        moment: String::new(),
        stable: m.verdict == Verdict::Stable,
        gain_margin: m.gain_margin,
        phase_margin_deg: m.phase_margin_deg,
        delay_margin_s: m.delay_margin_s,
        crossover_rad_per_s: m.gain_crossover_rad_per_s,
    }
}
