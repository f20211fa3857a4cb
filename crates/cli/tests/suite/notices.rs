//! Licences of the crates that the command and the Python package are linked with: each is one that `deny.toml` allows, and `THIRD-PARTY.md` has
//! its name and its text. `PENSTOCK_BLESS=1 cargo test -p penstock-cli --test suite notices` writes that file anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// Files that hold a licence, the ones that are taken first where a crate offers several.
const TEXTS: &[&str] =
    &["LICENSE-MIT", "LICENSE-MIT.txt", "LICENSE-MIT.md", "LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"];

/// A crate that is linked with.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    licence: String,
    folder: PathBuf,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Crates of others in the command and in the Python package, by `Cargo.lock`; those that only build or test it are left out.
/// `more`: other arguments of `cargo metadata`, such as features.
fn crates(more: &[&str]) -> BTreeSet<Crate> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"];
    let ask = |offline: &[&str]| {
        let words = arguments.iter().chain(offline).chain(more);
        Command::new(&cargo).args(words).current_dir(root()).output().unwrap()
    };
    let mut output = ask(&["--offline"]);
    // Those of the Python package are not here before it is built for the first time.
    if !output.status.success() {
        output = ask(&[]);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let by_id = |all: &Value| -> BTreeMap<String, Value> {
        list(all).into_iter().map(|one| (text(&one["id"]).to_owned(), one)).collect()
    };
    let (packages, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
    let linked = |name: &str| packages.iter().find(|(_, package)| package["name"] == name).unwrap().0.clone();
    let (mut found, mut waiting) = (BTreeSet::new(), vec![linked("penstock-cli"), linked("penstock-python")]);
    while let Some(id) = waiting.pop() {
        for dependency in list(&nodes[&id]["deps"]) {
            let linked = list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            let id = text(&dependency["pkg"]).to_owned();
            if linked && found.insert(id.clone()) {
                waiting.push(id);
            }
        }
    }
    let described = found.iter().map(|id| &packages[id]).filter(|package| !package["source"].is_null());
    described
        .map(|package| Crate {
            name: text(&package["name"]).to_owned(),
            version: text(&package["version"]).to_owned(),
            licence: text(&package["license"]).to_owned(),
            folder: Path::new(text(&package["manifest_path"])).parent().unwrap().to_path_buf(),
        })
        .collect()
}

/// The file: a table, and each different text once.
fn notices(crates: &BTreeSet<Crate>) -> String {
    let mut page = String::from(
        "# Third-party software\n\nThe command `penstock` and the Python package are linked with these crates. `make bless` writes this file from \
         `Cargo.lock`, and a test compares it.\nWhere a crate offers several licences, the text below is of one of them.\n\n\
         Reports contain the viewer of `web/` with d3-array, d3-scale and what they use, from npm under ISC. Their licences stand \
         at the top of its script, in every report.\n\n\
         | crate | version | licence |\n| --- | --- | --- |\n",
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for each in crates {
        let Crate { name, version, licence, folder } = each;
        writeln!(page, "| {name} | {version} | {licence} |").unwrap();
        let found = TEXTS.iter().find_map(|file| fs::read_to_string(folder.join(file)).ok());
        if let Some(found) = found {
            let lines: Vec<&str> = found.trim().lines().map(str::trim_end).collect();
            texts.entry(lines.join("\n")).or_default().push(name.clone());
        }
    }
    let mut texts: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        write!(page, "\n## {}\n\n", names.join(", ")).unwrap();
        for line in text.lines() {
            page += if line.is_empty() { "" } else { "    " };
            page += line;
            page.push('\n');
        }
    }
    page
}

#[test]
fn third_party_md_has_every_crate() {
    let (page, file) = (notices(&crates(&[])), root().join("THIRD-PARTY.md"));
    if env::var_os("PENSTOCK_BLESS").is_some() {
        assert!(env::var_os("CI").is_none(), "PENSTOCK_BLESS accepts anything: it has no place where CI is set");
        fs::write(&file, &page).unwrap();
    }
    let written = fs::read_to_string(&file).unwrap();
    let other = page.lines().zip(written.lines()).find(|(is, was)| is != was);
    assert!(page == written, "THIRD-PARTY.md is not what Cargo.lock says, from {other:?}; `make bless` writes it");
}

/// Licences that `deny.toml` allows.
fn allowed() -> BTreeSet<String> {
    let deny: toml::Table = fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let allow = deny["licenses"]["allow"].as_array().unwrap();
    allow.iter().map(|licence| licence.as_str().unwrap().to_owned()).collect()
}

/// Whether the licences that are allowed fulfil an SPDX expression.
fn fulfilled(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX);
    let expression = expression.unwrap_or_else(|error| panic!("{error}"));
    expression.evaluate(|licence| licence.license.id().is_some_and(|id| allowed.contains(id.name)))
}

/// Crates that nobody maintains, by the RustSec database, and that were replaced.
#[test]
fn crates_without_a_maintainer_stay_away() {
    let crates = crates(&[]);
    for (name, advisory) in
        [("paste", "RUSTSEC-2024-0436"), ("atty", "RUSTSEC-2024-0375"), ("instant", "RUSTSEC-2024-0384")]
    {
        assert!(!crates.iter().any(|each| each.name == name), "{name}: {advisory}");
    }
}

/// Programs in the kernel have other licences than the rest: both texts are there.
#[test]
fn the_texts_of_the_licences_of_the_kernel_programs_are_there() {
    for (file, words) in
        [("LICENSE-GPL-2.0", "GNU GENERAL PUBLIC LICENSE"), ("LICENSE-BSD-2-Clause", "Redistribution and use")]
    {
        let text = fs::read_to_string(root().join("bpf").join(file)).unwrap_or_else(|e| panic!("bpf/{file}: {e}"));
        assert!(text.contains(words), "bpf/{file}");
    }
}

#[test]
fn every_licence_is_allowed() {
    // What a feature adds is only here where the tests are built with it.
    let features = if cfg!(feature = "s2n") { &["--features", "penstock-cli/s2n"][..] } else { &[] };
    let (crates, allowed) = (crates(features), allowed());
    assert_eq!(crates.iter().any(|each| each.name == "aws-lc-sys"), cfg!(feature = "s2n"));
    assert!(crates.len() > 50, "{} crates", crates.len());
    let refused: Vec<&Crate> = crates.iter().filter(|each| !fulfilled(&each.licence, &allowed)).collect();
    assert!(refused.is_empty(), "{refused:?}");
    assert!(!fulfilled("GPL-3.0-only", &allowed) && !fulfilled("MIT AND AGPL-3.0-only", &allowed));
}
