//! The reader of scenarios.

use penstock_scenario::read::{Cell, Document, ReadErrors};
use penstock_scenario::write::print;

use super::files;

fn read(text: &str) -> Result<Vec<Cell>, ReadErrors> {
    let trace = |file: &str| match file {
        "csv" => Ok("time,rate\n0,5e6\n2.5,0\n".to_owned()),
        short if short.len() <= 3 => Ok("0\n1\n1\n7\n".to_owned()),
        _ => Err("no".to_owned()),
    };
    Document::parse_with(text, "fuzz.toml", trace)?.cells()
}

/// The reader never panics; each error says on which line it is and what would do; what is accepted prints and reads back
/// as itself.
///
/// # Panics
/// If not.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let cells = match read(&text) {
        Err(errors) => {
            for error in errors.all() {
                assert!(error.line.is_some(), "an error without a line: {error}");
                assert!(!error.found.is_empty() && !error.remedy.is_empty(), "an error without words: {error}");
                let spanned = |e: &penstock_scenario::read::Excerpt| e.text.get(e.span.clone()).is_some();
                assert!(error.excerpt.as_ref().is_none_or(spanned), "an excerpt without its span: {error}");
            }
            return;
        }
        Ok(cells) => cells,
    };
    // The first and the last say enough of a sweep.
    for cell in cells.first().into_iter().chain(cells.last()) {
        let printed = print(&cell.scenario);
        let again = read(&printed).unwrap_or_else(|error| panic!("prints what cannot be read: {error}\n{printed}"));
        assert!(again.len() == 1 && again[0].id == cell.id, "reads back as another scenario:\n{printed}");
        assert_eq!(print(&again[0].scenario), printed);
        assert_eq!(format!("{:?}", again[0].scenario), format!("{:?}", cell.scenario), "prints the same and is not");
    }
}

/// The scenarios of the repository.
pub fn seeds() -> Vec<Vec<u8>> {
    [files("scenarios", ".toml"), files("papers/fast-tcp", "1.toml"), files("crates/scenario/examples", ".toml")]
        .concat()
}
