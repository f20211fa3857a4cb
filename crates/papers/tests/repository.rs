//! The papers of the repository: each is well formed, complete against its list of targets, and on record.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use penstock_papers::{Extent, Item, Paper, Verdict, Verdicts, drawable};
use penstock_scenario::read::Document;

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

/// Each claim of the paper is judged or says why not, and no claim is made that the paper does not make: what is ours is
/// marked as unstated.
#[test]
fn claims_are_those_of_the_list_of_targets() {
    for folder in folders() {
        let (paper, stated) = (paper(&folder), stated(&folder));
        let target = |id: &str| id.split_once('/').unwrap_or_else(|| panic!("{id}: no `/`")).0.to_owned();
        let made: BTreeSet<String> = paper.claims.iter().map(|c| target(c.id.get_ref())).collect();
        let missing: Vec<&String> = stated.difference(&made).collect();
        assert!(missing.is_empty(), "{}: not judged: {missing:?}", folder.display());
        for claim in paper.claims.iter().filter(|claim| !claim.unstated) {
            let id = claim.id.get_ref();
            assert!(stated.contains(&target(id)), "{id} is not in targets.toml; what is ours has `unstated = true`");
        }
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

/// A point is the mean over seeds of one cell, in whole runs too, which no test makes.
#[test]
fn no_figure_is_a_mean_over_a_swept_key() {
    let mut figures = 0;
    for folder in folders() {
        for item in paper(&folder).items.iter().filter(|item| item.x.is_some()) {
            let labels: Vec<Vec<(String, String)>> = match item.scenario.as_ref().or(item.analysis.as_ref()) {
                Some(file) => {
                    let cells = Document::parse(&read(&folder, file), file).and_then(|document| document.cells());
                    cells.unwrap_or_else(|e| panic!("{file}: {e}")).into_iter().map(|cell| cell.labels).collect()
                }
                None => item.combinations(),
            };
            assert_eq!(drawable(item, &labels), Ok(()), "{}: {}", folder.display(), item.id.get_ref());
            figures += 1;
        }
    }
    assert!(figures > 50, "{figures}");
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

/// Whether `page` names the claim: by its id, or its target, or in a list as `(D.table1.a, .b to .d; ...)`.
fn names(page: &str, id: &str) -> bool {
    let target = id.split_once('/').unwrap().0;
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    if page.match_indices(target).any(|(at, _)| ends(&page[at + target.len()..])) {
        return true;
    }
    let (item, last) = target.rsplit_once('.').unwrap();
    page.match_indices(&format!("{item}.")).any(|(at, head)| {
        let list = page[at + head.len()..].split([')', ':', '*']).next().unwrap_or_default();
        let words: Vec<&str> = list.split([',', ';', ' ', '\n']).filter(|word| !word.is_empty()).collect();
        // The first word has lost its dot with `head`; those after it begin with one.
        let name = |word: &str| word.trim_start_matches('.').split('/').next().unwrap_or_default().to_owned();
        let listed = words.iter().skip(1).any(|word| word.starts_with('.') && name(word) == last);
        let between =
            words.windows(3).any(|w| w[1] == "to" && name(w[0]).as_str() < last && last < name(w[2]).as_str());
        listed || between
    })
}

/// The largest change that must turn a verdict. A number that is zero, or is compared with one that it is subtracted from,
/// turns at once or a little more: changes are tried in steps of a quarter.
const NOTICED: f64 = 1.25;

/// No claim holds whatever is measured: a change of the size of the number turns its verdict. Some runs on real packets
/// are older than the record of such changes.
#[test]
fn every_claim_that_holds_can_fail() {
    let mut judged = 0;
    for folder in folders() {
        let verdicts = Verdicts::parse(&read(&folder, "verdicts.toml"), "verdicts.toml").unwrap();
        let paper = paper(&folder);
        for claim in &paper.claims {
            let id = claim.id.get_ref();
            let Some(record) = verdicts.of(id, Extent::Full).filter(|r| r.verdict == Verdict::Holds) else { continue };
            let linux = paper.item(claim.item.get_ref()).and_then(Item::runs) == Some("linux");
            if linux && record.flips.is_none() {
                continue;
            }
            let turns = record.flips.unwrap_or(f64::INFINITY);
            assert!(
                turns <= NOTICED,
                "{}: {id} holds, and no change up to {NOTICED} turns it: {turns}",
                folder.display()
            );
            judged += 1;
        }
    }
    assert!(judged > 200, "{judged}");
}

/// A claim on record as `fails` is explained on the paper's first page, or at least named there.
#[test]
fn every_claim_that_fails_is_named_on_the_first_page() {
    for folder in folders() {
        let page = read(&folder, "README.md");
        let verdicts = Verdicts::parse(&read(&folder, "verdicts.toml"), "verdicts.toml").unwrap();
        for id in verdicts.claims() {
            let fails = verdicts.of(id, Extent::Full).is_some_and(|r| r.verdict == Verdict::Fails);
            assert!(!fails || names(&page, id), "{}: {id} fails and is not named", folder.display());
        }
    }
}

/// Whoever reads a verdict `fails` finds the reason beside it: each such claim has one in `paper.toml`, and no other has.
#[test]
fn every_claim_that_fails_has_a_reason() {
    for folder in folders() {
        let verdicts = Verdicts::parse(&read(&folder, "verdicts.toml"), "verdicts.toml").unwrap();
        let paper = paper(&folder);
        for id in paper.claims.iter().map(|claim| claim.id.get_ref()) {
            let fails = |extent| verdicts.of(id, extent).is_some_and(|r| r.verdict == Verdict::Fails);
            let fails = fails(Extent::Full) || fails(Extent::Short);
            assert_eq!(fails, paper.reason(id).is_some(), "{}: {id}", folder.display());
        }
    }
}

#[test]
fn a_reason_is_of_a_claim_that_exists_and_of_no_other() {
    let folder = folders().remove(0);
    let text = read(&folder, "paper.toml");
    let refused = |reason: &str| Paper::parse(&format!("{text}\n{reason}"), "p.toml").unwrap_err().what;
    assert_eq!(refused("[[reason]]\nclaims = [\"no\"]\ntext = \"t\"\n"), "no claim has the id `no`");
    let known = paper(&folder).reasons[0].claims[0].get_ref().clone();
    let twice = refused(&format!("[[reason]]\nclaims = [{known:?}]\ntext = \"t\"\n"));
    assert_eq!(twice, format!("the claim `{known}` has two reasons; write one"));
    assert!(refused("[[reason]]\nclaims = []\ntext = \"t\"\n").starts_with("a reason needs"));
    assert!(refused("[[reason]]\nclaims = [\"x\"]\ntext = \" \"\n").starts_with("a reason needs"));
}

#[test]
fn a_claim_is_named_by_its_id_by_its_target_or_in_a_list() {
    let page = "what failed (D.table1.a, .b to .d;\n  D.text.c/loss, .e/x): why. **A.fig8.tracks/prices-1**";
    for id in ["D.table1.a/x", "D.table1.b/x", "D.table1.c/x", "D.table1.d/x", "D.text.c/loss", "A.fig8.tracks/marks"] {
        assert!(names(page, id), "{id}");
    }
    for id in ["D.table1.f/x", "D.text.d/x", "D.table2.a/x", "A.fig8.track/x", "A.fig8.equal/x"] {
        assert!(!names(page, id), "{id}");
    }
}

/// The numbers of claims that hold and fail on the first page are those on record.
#[test]
fn the_first_page_counts_verdicts_as_the_record_does() {
    for folder in folders() {
        let page = read(&folder, "README.md");
        let verdicts = Verdicts::parse(&read(&folder, "verdicts.toml"), "verdicts.toml").unwrap();
        let count = |verdict| {
            let ids: BTreeSet<&str> = verdicts.claims().collect();
            ids.iter().filter(|id| verdicts.of(id, Extent::Full).is_some_and(|r| r.verdict == verdict)).count()
        };
        let words: Vec<&str> = page.split_whitespace().collect();
        for (verdict, verb) in [(Verdict::Holds, "hold"), (Verdict::Fails, "fail")] {
            let count = count(verdict).to_string();
            let said = words.windows(3).any(|w| w[0] == count && w[1..].iter().any(|word| word.starts_with(verb)));
            assert!(said, "{}: by the record {count} {verb}", folder.display());
        }
    }
}

/// "Our protocol's parameters were held constant throughout" (A New TCP/AQM, section V-A): figures 5 to 7 run one law with
/// one set of parameters over one law of the link.
#[test]
fn figures_5_to_7_have_one_set_of_parameters() {
    let papers = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../papers/fast-aqm");
    let laws = ["fig5.toml", "fig6.toml", "fig7.toml"].map(|name| {
        let scenario: toml::Table = read(&papers, name).parse().unwrap();
        let sweep = scenario["sweep"].as_table().unwrap();
        let cases: Vec<&toml::Value> = sweep.values().filter_map(toml::Value::as_array).flatten().collect();
        let set: Vec<(&toml::Value, &toml::Value)> = cases
            .iter()
            .filter_map(|case| Some((case.get("defaults.flows.cc")?, case.get("links.bottleneck.aqm")?)))
            .filter(|(cc, _)| cc["law"].as_str() == Some("leadlag"))
            .collect();
        assert_eq!(set.len(), 1, "{name}");
        format!("{} over {}", set[0].0, set[0].1)
    });
    assert!(laws.iter().all(|law| *law == laws[0]), "{laws:?}");
}

/// Table 1 of FAST TCP by its own numbers: utilization of 973.33 Mbit/s a card within a point, bits times metres within
/// 0.01, and bytes moved in units of 2^30, truncated.
#[test]
fn the_rows_of_table_1_agree_with_themselves() {
    let papers = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../papers/fast-tcp");
    let targets: toml::Table = read(&papers, "targets.toml").parse().unwrap();
    let table = targets["target"].as_array().unwrap().iter().find(|t| t["id"].as_str() == Some("B.table1")).unwrap();
    let rows = table["claim"].as_array().unwrap();
    assert_eq!(rows.len(), 7);
    for claim in rows {
        let number = |key: &str| {
            let value = &claim["row"][key];
            value.as_float().or_else(|| value.as_integer().map(|n| n as f64)).unwrap()
        };
        let (rate, flows, duration_s) = (number("throughput_mbit_per_s") * 1e6, number("flows"), number("duration_s"));
        let utilization = rate / (flows * 1e9 * 1460.0 / 1500.0);
        assert!((utilization - number("utilization")).abs() < 0.01, "{claim}: {utilization}");
        let bit_m_per_s = rate * number("distance_km") * 1e3 / 1e15;
        assert!((bit_m_per_s - number("bit_m_per_s_1e15")).abs() <= 0.0101, "{claim}: {bit_m_per_s}");
        let moved = (rate * duration_s / 8.0 / f64::from(1 << 30)).floor();
        assert!((moved - number("transfer_gib")).abs() < 0.5, "{claim}: {moved}");
    }
}
