//! `penstock-surface DOC CRATES`: compares the public interface of each published crate with its `public-api.txt`.
//!
//! `DOC` has the JSON pages of rustdoc. With `PENSTOCK_BLESS=1` the files are written. Status 1: an interface differs.
//! Status 2: a page or a file cannot be read. Status 3: this compiler writes pages of another format.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The published crates, by name.
fn crates(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    found.sort();
    found.retain(|path| is_published(path));
    Ok(found)
}

fn is_published(path: &Path) -> bool {
    fs::read_to_string(path.join("Cargo.toml")).is_ok_and(|text| !text.contains("publish = false"))
}

/// The format of a page. Another one cannot be read.
fn format(page: &str) -> Option<u32> {
    let number = page.rsplit_once("\"format_version\":")?.1;
    number.trim_end_matches('}').trim().parse().ok()
}

/// One line an item, sorted. `Send`, derived traits and blanket implementations are left out.
fn interface(page: &Path) -> Result<String, String> {
    let builder = public_api::Builder::from_rustdoc_json(page);
    let builder = builder.omit_blanket_impls(true).omit_auto_trait_impls(true).omit_auto_derived_impls(true);
    builder.build().map(|api| api.to_string()).map_err(|e| format!("{}: {e}", page.display()))
}

/// Prints what is gone and what is new; whether anything is.
fn differs(name: &str, before: &str, now: &str) -> bool {
    let (before, now): (BTreeSet<&str>, BTreeSet<&str>) = (before.lines().collect(), now.lines().collect());
    for gone in before.difference(&now) {
        println!("{name}: - {gone}");
    }
    for new in now.difference(&before) {
        println!("{name}: + {new}");
    }
    before != now
}

fn compared(doc: &Path, folder: &Path) -> Result<u8, String> {
    let bless = std::env::var_os("PENSTOCK_BLESS").is_some();
    if bless && std::env::var_os("CI").is_some() {
        return Err("PENSTOCK_BLESS is for people who look at the difference; CI is set".to_owned());
    }
    let mut worst = 0;
    for each in crates(folder)? {
        let name = each.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let page = doc.join(format!("penstock_{}.json", name.replace('-', "_")));
        let text = fs::read_to_string(&page).map_err(|e| format!("{}: {e}", page.display()))?;
        match format(&text) {
            Some(rustdoc_types::FORMAT_VERSION) => {}
            other => {
                let (known, found) =
                    (rustdoc_types::FORMAT_VERSION, other.map_or("none".to_owned(), |n| n.to_string()));
                eprintln!("surface: not compared: rustdoc's pages have format {found}, and `public-api` reads {known}");
                return Ok(3);
            }
        }
        let (now, golden) = (interface(&page)?, each.join("public-api.txt"));
        if bless {
            fs::write(&golden, &now).map_err(|e| format!("{}: {e}", golden.display()))?;
        } else if differs(&name, &fs::read_to_string(&golden).unwrap_or_default(), &now) {
            worst = 1;
        }
    }
    if worst == 1 {
        eprintln!(
            "surface: the public interface has changed; if it was meant, say so in CHANGELOG.md and type `make bless`"
        );
    }
    Ok(worst)
}

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [doc, folder] = arguments.as_slice() else {
        eprintln!("usage: penstock-surface DOC CRATES");
        return ExitCode::from(2);
    };
    compared(doc, folder).map_or_else(
        |error| {
            eprintln!("surface: {error}");
            ExitCode::from(2)
        },
        ExitCode::from,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_its_format_at_its_end() {
        assert_eq!(format("{\"root\":1,\"format_version\":57}"), Some(57));
        assert_eq!(format("{\"root\":1}"), None);
    }

    #[test]
    fn an_item_that_is_gone_or_new_is_a_difference() {
        assert!(!differs("law", "a\nb\n", "b\na\n"));
        assert!(differs("law", "a\nb\n", "a\n"));
        assert!(differs("law", "a\n", "a\nb\n"));
    }
}
