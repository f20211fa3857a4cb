//! The description of a paper and the verdicts on record.

use penstock_papers::{Paper, Verdicts};

use super::files;

/// A description is read, or an error says where it is not one.
///
/// # Panics
/// If not.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(paper) = Paper::parse(&text, "fuzz.toml") {
        for item in &paper.items {
            let _ = item.combinations();
        }
    }
    let _ = Verdicts::parse(&text, "fuzz.toml");
}

/// The papers of the repository.
pub fn seeds() -> Vec<Vec<u8>> {
    ["ccpd", "clcc", "early-marking", "fast-aqm", "fast-tcp"]
        .iter()
        .flat_map(|paper| {
            files(&format!("papers/{paper}"), "r.toml").into_iter().chain(files(&format!("papers/{paper}"), "s.toml"))
        })
        .collect()
}
