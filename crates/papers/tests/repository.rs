//! The papers of the repository: each is well formed, complete against its list of targets, and on record.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use penstock_papers::{Paper, Verdicts};

fn folders() -> Vec<PathBuf> {
    let papers = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(papers).unwrap().map(|f| f.unwrap().path()).filter(|f| f.join("paper.toml").is_file()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

fn read(folder: &std::path::Path, name: &str) -> String {
    let path = folder.join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn paper(folder: &std::path::Path) -> Paper {
    Paper::parse(&read(folder, "paper.toml"), "paper.toml").unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
}

/// Claims of `targets.toml` by id.
fn stated(folder: &std::path::Path) -> BTreeSet<String> {
    let targets: toml::Table = read(folder, "targets.toml").parse().unwrap();
    let text = |v: &toml::Value| v["id"].as_str().unwrap().to_owned();
    let claims = |t: &toml::Value| t.get("claim").and_then(|c| c.as_array().cloned()).unwrap_or_default();
    let mut all = BTreeSet::new();
    for target in targets["target"].as_array().unwrap() {
        for claim in claims(target) {
            let id = text(&claim);
            assert!(id.starts_with(&format!("{}.", text(target))), "{id} stands under {}", text(target));
            assert!(all.insert(id.clone()), "{id} stands twice");
        }
    }
    all
}

/// Each claim of the paper is judged or says why not, and no claim is made that the paper does not make.
#[test]
fn claims_are_those_of_the_list_of_targets() {
    for folder in folders() {
        let made: BTreeSet<String> = paper(&folder)
            .claims
            .iter()
            .map(|c| {
                c.id.get_ref().split_once('/').unwrap_or_else(|| panic!("{}: no `/`", c.id.get_ref())).0.to_owned()
            })
            .collect();
        assert_eq!(made, stated(&folder), "{}", folder.display());
    }
}

#[test]
fn every_figure_and_table_of_the_targets_is_listed() {
    for folder in folders() {
        let targets: toml::Table = read(&folder, "targets.toml").parse().unwrap();
        let paper = paper(&folder);
        for target in targets["target"].as_array().unwrap() {
            let id = target["id"].as_str().unwrap().split_once('.').unwrap().1;
            if id.starts_with("fig") || id.starts_with("table") {
                assert!(paper.item(id).is_some(), "{}: {id} is not in paper.toml", folder.display());
            }
        }
    }
}

#[test]
fn scenarios_and_the_first_page_exist() {
    for folder in folders() {
        for item in &paper(&folder).items {
            for scenario in item.scenario.iter().chain(&item.analysis) {
                assert!(folder.join(scenario).is_file(), "{scenario}");
            }
        }
        assert!(folder.join("README.md").is_file(), "{}", folder.display());
    }
}

/// The record speaks of claims that exist only. It may lack some: then the command says so and ends with status 1.
#[test]
fn the_record_knows_no_claim_that_is_gone() {
    for folder in folders() {
        let Ok(text) = fs::read_to_string(folder.join("verdicts.toml")) else { continue };
        let verdicts = Verdicts::parse(&text, "verdicts.toml").unwrap();
        let paper = paper(&folder);
        for id in verdicts.claims() {
            assert!(paper.claims.iter().any(|c| c.id.get_ref() == id), "{id}");
        }
    }
}
