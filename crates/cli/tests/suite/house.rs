//! The rules of the house: which crate may know which, and that nothing written down by hand has become untrue.
//!
//! `PENSTOCK_BLESS=1 cargo test -p penstock-cli --test suite house` writes the printed pages of `docs/` anew.

mod circles;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use penstock_evaluation::Criterion;
use penstock_law::quantity::Bytes;
use penstock_law::{Values, cc, law};
use penstock_record::read_table;
use penstock_scenario::read::Document;
use serde_json::Value;

/// Each crate and those of the workspace that it may depend on, for building and testing too. An arrow that is not here
/// is refused; ARCHITECTURE.md has the same table with reasons.
const ARROWS: &[(&str, &[&str])] = &[
    ("law", &[]),
    ("scenario", &["law"]),
    ("record", &["law", "scenario"]),
    ("link", &["law", "scenario"]),
    ("fluid", &["law", "scenario"]),
    ("packets", &["law", "scenario", "link"]),
    ("quinn", &["law", "scenario", "packets"]),
    ("machine", &["law"]),
    ("path", &["law", "scenario", "link", "machine"]),
    ("kernel-build", &[]),
    ("kernel", &["law", "scenario", "machine", "kernel-build"]),
    ("linux", &["law", "scenario", "link", "quinn", "machine", "path", "kernel"]),
    ("papers", &["law", "scenario", "fluid"]),
    ("evaluation", &["law", "scenario", "papers", "report"]),
    ("search", &["law", "scenario", "evaluation", "report"]),
    ("report", &["law", "scenario", "fluid"]),
    ("surface", &[]),
    ("fuzz", &["law", "scenario", "record", "path", "kernel", "papers"]),
    (
        "cli",
        &[
            "law",
            "scenario",
            "record",
            "fluid",
            "packets",
            "machine",
            "path",
            "kernel-build",
            "kernel",
            "linux",
            "papers",
            "evaluation",
            "search",
            "report",
        ],
    ),
    ("web", &["law", "scenario", "record", "fluid", "packets", "report"]),
    ("python", &["law", "scenario", "record", "packets", "fluid", "cli"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn output(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn penstock(arguments: &[&str]) -> String {
    output(Command::new(env!("CARGO_BIN_EXE_penstock")).args(arguments))
}

/// Errors in the arrows of `metadata`, the output of `cargo metadata --no-deps`, under [`ARROWS`].
fn wrong_arrows(metadata: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = text(&package["name"]);
        let Some((_, allowed)) = ARROWS.iter().find(|(of, _)| name.strip_prefix("penstock-") == Some(of)) else {
            wrong.push(format!("{name} is not in the table of arrows"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = text(&dependency["name"]);
            let ours = dependency["path"].is_string();
            if ours && !to.strip_prefix("penstock-").is_some_and(|to| allowed.contains(&to)) {
                let kind = dependency["kind"].as_str().map(|kind| format!(" ({kind})")).unwrap_or_default();
                wrong.push(format!("{name} -> {to}{kind}"));
            }
        }
    }
    wrong
}

fn metadata() -> Value {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    serde_json::from_str(&output(Command::new(cargo).args(arguments).current_dir(root()))).unwrap()
}

#[test]
fn crates_know_only_those_they_may() {
    let metadata = metadata();
    assert_eq!(metadata["packages"].as_array().unwrap().len(), ARROWS.len());
    assert_eq!(wrong_arrows(&metadata), Vec::<String>::new(), "an arrow that ARCHITECTURE.md does not have");
}

#[test]
fn a_wrong_arrow_is_noticed_of_whatever_kind() {
    let metadata = metadata();
    for (from, to) in [("law", "packets"), ("path", "kernel"), ("kernel", "path"), ("machine", "scenario")] {
        for (kind, shown) in [(Value::Null, ""), ("dev".into(), " (dev)"), ("build".into(), " (build)")] {
            let mut metadata = metadata.clone();
            let packages = metadata["packages"].as_array_mut().unwrap();
            let package = packages.iter_mut().find(|p| p["name"] == format!("penstock-{from}")).unwrap();
            let name = format!("penstock-{to}");
            let arrow = serde_json::json!({ "name": name, "kind": kind, "path": format!("crates/{to}") });
            package["dependencies"].as_array_mut().unwrap().push(arrow);
            assert_eq!(wrong_arrows(&metadata), [format!("penstock-{from} -> penstock-{to}{shown}")]);
        }
    }
}

#[test]
fn the_map_has_the_same_arrows() {
    let map = read("ARCHITECTURE.md");
    for (name, allowed) in ARROWS {
        let row = map.lines().find(|line| {
            line.starts_with(&format!("| `crates/{name}` |")) || line.starts_with(&format!("| `{name}` |"))
        });
        let row = row.unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for {name}"));
        let knows = row.split('|').nth(3).unwrap_or_default();
        let written: Vec<&str> = knows.split('`').skip(1).step_by(2).collect();
        assert_eq!(written, *allowed, "{name}");
    }
}

fn laws() -> Vec<Value> {
    serde_json::from_str(&penstock(&["laws", "--json"])).unwrap()
}

/// The page of laws, from the registry as the command prints it.
fn page() -> String {
    let mut page = String::from(
        "# Laws\n\nThis page is generated from Penstock's registry of laws. `penstock laws NAME` prints the same on a \
         terminal. In the record of\na run, series over time contain the *state* of a law: of a controller in \
         `flows-series.parquet`, of an AQM in `links.parquet` (or\nin `link_classes.parquet`, if it separates \
         classes), of a conditioner in `customers.parquet`.\n",
    );
    let cell = |text: &Value| text.as_str().unwrap_or_default().replace('|', "\\|");
    for law in laws() {
        let _ = writeln!(page, "\n## {} ({})\n\n{}.\n", cell(&law["name"]), cell(&law["role"]), cell(&law["title"]));
        let kernel_law = if law["kernel_implementation"] == true { "yes" } else { "no" };
        let _ = writeln!(page, "- Source: {}", cell(&law["source"]));
        let _ = writeln!(page, "- In the stability analysis: {}", cell(&law["linearisation"]));
        let _ = writeln!(page, "- Kernel implementation in C: {kernel_law}");
        let parameters = law["parameters"].as_array().unwrap();
        if !parameters.is_empty() {
            page += "\n| parameter | meaning | default | range | source |\n| --- | --- | --- | --- | --- |\n";
        }
        for p in parameters {
            let [name, what, default, range, source] =
                ["name", "description", "default", "range", "source"].map(|key| cell(&p[key]));
            let _ = writeln!(page, "| `{name}` | {what} | {default} | {range} | {source} |");
        }
        let state = law["state"].as_array().unwrap();
        if !state.is_empty() {
            page += "\n| state | name | unit | meaning |\n| --- | --- | --- | --- |\n";
        }
        for s in state {
            let [column, words, unit, what] = ["column", "words", "unit", "description"].map(|key| cell(&s[key]));
            let _ = writeln!(page, "| `{column}` | {words} | {} | {what} |", if unit == "1" { "" } else { &unit });
        }
    }
    page
}

/// Whether pages are to be written as they are now.
fn accepts() -> bool {
    let asked = env::var_os("PENSTOCK_BLESS").is_some();
    assert!(!asked || env::var_os("CI").is_none(), "PENSTOCK_BLESS accepts what there is: not where CI is set");
    asked
}

#[test]
fn nothing_is_accepted_where_ci_is_set() {
    let mut test = Command::new(env::current_exe().unwrap());
    test.args(["--exact", "house::the_page_of_scenarios_is_what_the_reader_says"])
        .env("CI", "1")
        .env("PENSTOCK_BLESS", "1");
    let ended = test.output().unwrap();
    assert!(!ended.status.success() && String::from_utf8_lossy(&ended.stdout).contains("not where CI is set"));
}

#[test]
fn the_page_of_own_laws_has_the_kernel_programs_of_the_example() {
    let page = read("docs/own-law.md");
    let shown = blocks(&page, "c");
    assert_eq!(shown.len(), 3);
    // Of `gauge` the page has the function of its deliveries.
    for ((law, whole), shown) in [("steady", true), ("gauge", false), ("linear", true)].into_iter().zip(shown) {
        let program = read(&format!("examples/own-law/bpf/{law}.bpf.c"));
        assert!(if whole { program.ends_with(shown) } else { program.contains(shown) }, "{shown}");
    }
}

/// The blocks of a page in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Lines of a page's code that the files of examples/own-law do not have, whatever their indentation.
fn foreign(code: &str, files: &[String]) -> Vec<String> {
    let known: BTreeSet<&str> = files.iter().flat_map(|file| file.lines()).map(str::trim).collect();
    code.lines().map(str::trim).filter(|line| !known.contains(line)).map(str::to_owned).collect()
}

#[test]
fn the_code_of_the_page_of_own_laws_is_that_of_the_example() {
    let page = read("docs/own-law.md");
    let example = |file: &str| read(&format!("examples/own-law/{file}"));
    let steady = example("src/steady.rs");
    // The law of the page has neither a kernel program nor a test.
    let [before, kernel] = [0, 1].map(|at| steady.split("/// bpf/steady.bpf.c").nth(at).unwrap());
    let law = kernel.split_once("/// The law with").unwrap().1.split("\n#[cfg(test)]").next().unwrap();
    let whole = format!("{before}/// The law with{law}")
        .replace("Fix, KernelProgram, ", "")
        .replace("Some(&build::<Fix<32>, Steady<Fix<32>>>)", "None")
        .replace("Some(&KERNEL)", "None");
    let rust = blocks(&page, "rust");
    assert!(rust.contains(&whole.as_str()), "docs/own-law.md has not\n{whole}");
    let files = ["src/main.rs", "src/gauge.rs", "src/linear.rs", "src/steady.rs", "build.rs"].map(example);
    // One law instead of two; what a controller that takes ECN writes; the name of a file.
    let others = [
        "penstock_cli::run(Registry::standard().with(&steady::ENTRY).expect(\"a valid entry\"))",
        "Requirements { marks: Marks::Congestion, ..Requirements::LEAST }",
        "// build.rs",
    ];
    for block in rust.iter().filter(|block| **block != whole) {
        let foreign: Vec<String> = foreign(block, &files).into_iter().filter(|l| !others.contains(&&**l)).collect();
        assert!(foreign.is_empty(), "docs/own-law.md: examples/own-law has not\n{}", foreign.join("\n"));
    }
    let [scenario, sweep] = ["steady.toml", "against-cubic.toml"].map(example);
    let toml = blocks(&page, "toml");
    assert!(toml.contains(&scenario.as_str()), "docs/own-law.md has not\n{scenario}");
    let (path, cases) = sweep.split_once("\n[sweep]").unwrap();
    assert!(toml.contains(&format!("[sweep]{cases}").as_str()), "docs/own-law.md has not\n[sweep]{cases}");
    // Under its title it is the other scenario.
    let below = |text: &str| text.split_once("duration").unwrap().1.to_owned();
    assert_eq!(below(path), below(&scenario));
    assert_eq!(foreign("a = 1\n  b = 2\n", &["  a = 1\n".to_owned()]), ["b = 2"]);
}

#[test]
fn the_page_of_laws_is_what_the_registry_says() {
    let page = page();
    if accepts() {
        fs::create_dir_all(root().join("docs")).unwrap();
        fs::write(root().join("docs/laws.md"), &page).unwrap();
    }
    assert!(
        read("docs/laws.md") == page,
        "docs/laws.md is not what the registry says; `make bless` writes it:\n{page}"
    );
}

#[test]
fn the_page_of_scenarios_is_what_the_reader_says() {
    let page = penstock(&["check", "--reference"]);
    if accepts() {
        fs::write(root().join("docs/scenario.md"), &page).unwrap();
    }
    assert!(read("docs/scenario.md") == page, "docs/scenario.md is not what the reader says; `make bless` writes it");
}

#[test]
fn the_page_of_records_is_what_their_types_say() {
    let page = penstock(&["report", "--reference"]);
    if accepts() {
        fs::write(root().join("docs/record.md"), &page).unwrap();
    }
    assert!(read("docs/record.md") == page, "docs/record.md is not what the types say; `make bless` writes it");
}

#[test]
fn the_page_of_the_evaluation_has_every_criterion() {
    let page = read("docs/evaluation.md");
    let listed: Vec<Value> = serde_json::from_str(&penstock(&["evaluate", "--list", "--json"])).unwrap();
    let mut known = BTreeSet::new();
    for criterion in &listed {
        let word = |key: &str| criterion[key].as_str().unwrap_or_default();
        let place = format!("{} {}", word("document"), word("section"));
        let row = format!("| {} | {} | {} | {} | ", word("id"), word("title"), place.trim_end(), word("level"));
        let last = page.lines().find_map(|line| line.strip_prefix(&row));
        let last = last.unwrap_or_else(|| panic!("docs/evaluation.md has no row that begins with\n{row}"));
        let measured = !last.starts_with("no");
        let reason = criterion.get("not_evaluated").or_else(|| criterion.get("not_applicable"));
        assert_eq!(measured, reason.is_none(), "docs/evaluation.md: whether {row} is measured");
        known.insert(word("id"));
    }
    let named = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let named = named.filter(|id| ["EV-", "L4S-", "AQ-"].iter().any(|kind| id.starts_with(kind)));
    let gone: Vec<&str> = named.filter(|id| !known.contains(id)).collect();
    assert!(known.len() > 50 && gone.is_empty(), "docs/evaluation.md: {gone:?}");
}

#[test]
fn the_page_of_the_evaluation_has_every_key() {
    let page = read("docs/evaluation.md");
    let rows: String = page.lines().filter(|line| line.starts_with('|')).collect::<Vec<_>>().join("\n");
    let code = code(&rows);
    let apart = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let places = ["", "[cells]\n", "[[part]]\n", "[[measure]]\n", "[[measure]]\nbound.", "[figure]\n", "[heat_maps]\n"];
    let words = ["battery", "applies", "[[measure]]\nscale", "[[measure]]\nworst"];
    let unknown = places.map(|place| format!("{place}usd = 1"));
    for text in unknown.into_iter().chain(words.map(|word| format!("{word} = \"usd\""))) {
        let error = Criterion::parse(&text, "EV-00.toml").unwrap_err().to_string();
        let mut known = error.split('`').skip(3).step_by(2).peekable();
        assert!(error.contains("`usd`, expected") && known.peek().is_some(), "{error}");
        for key in known {
            assert!(code.iter().any(|c| c.split(apart).any(|word| word == key)), "docs/evaluation.md lacks `{key}`");
        }
    }
}

#[test]
fn the_page_of_records_names_every_column() {
    let text = r#"
        format = 1
        duration = "2 s"
        links.l = { from = "a", to = "b", rate = "10 Mbit/s", delay = "5 ms", buffer = "50 packets" }
        flows.f = { from = "a", to = "b", cc = { law = "newreno" }, size = "20 kB", idle = "10 ms", series = true }
    "#;
    let out = tempfile::tempdir().unwrap();
    let (file, records) = (out.path().join("columns.toml"), out.path().join("out"));
    fs::write(&file, text).unwrap();
    penstock(&["run", file.to_str().unwrap(), "--out", records.to_str().unwrap()]);
    let record = fs::read_dir(&records).unwrap().next().unwrap().unwrap().path();
    let page = read("docs/record.md");
    let entry = law::find(cc::CONTROLLERS, "newreno").unwrap();
    let site = cc::Context { packet: Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
    let law = (entry.real)(&Values::defaults(entry.parameters), &site).unwrap();
    let mut columns = 0;
    for name in ["links", "groups", "flows-series", "flows", "transfers"] {
        let table = read_table(&fs::read(record.join(format!("{name}.parquet"))).unwrap()).unwrap();
        for column in &table.columns {
            let own = name == "flows-series" && law.names().iter().any(|(own, _)| column.name.starts_with(own));
            assert!(own || page.contains(&format!("`{}`", column.name)), "{name}.parquet: {}", column.name);
            columns += 1;
        }
    }
    assert!(columns > 30, "{columns}");
}

#[test]
fn the_schema_is_json_with_every_law() {
    let schema: Value = serde_json::from_str(&penstock(&["check", "--schema"])).unwrap();
    for law in laws() {
        let section = match law["role"].as_str().unwrap() {
            "AQM" => "aqm",
            "conditioner" => "conditioner",
            _ => "cc",
        };
        let definition = format!("{section}.{}", law["name"].as_str().unwrap());
        assert!(schema["$defs"][&definition].is_object(), "{definition}");
    }
}

#[test]
fn a_kernel_implementation_has_its_header_and_its_vectors() {
    let stems = |folder: &str, ending: &str| -> BTreeSet<String> {
        let files = fs::read_dir(root().join(folder)).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
        files.filter_map(|f| f.strip_suffix(ending).map(str::to_owned)).collect()
    };
    let laws = laws();
    let kernel_laws = laws.iter().filter(|law| law["kernel_implementation"] == true);
    let kernel_laws: BTreeSet<String> = kernel_laws.map(|law| law["name"].as_str().unwrap().to_owned()).collect();
    let mut headers = stems("bpf/law", ".h");
    assert!(headers.remove("fx"), "the arithmetic");
    assert!(headers.remove("bucket"), "what the conditioners share");
    assert!(headers.remove("recent"), "extremes of Copa over a time");
    assert_eq!(headers, kernel_laws, "bpf/law");
    assert_eq!(stems("vectors", ".txt"), kernel_laws, "vectors");
}

/// Scenario files of the repository, the papers' included.
fn scenarios() -> Vec<String> {
    let of_a_paper = ["paper.toml", "targets.toml", "verdicts.toml"];
    let mut scenarios = files();
    scenarios.retain(|path| {
        let (folder, name) = path.rsplit_once('/').unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(_, ending)| ending == "toml")
            && (folder == "scenarios" || folder.starts_with("papers/") && !of_a_paper.contains(&name))
    });
    assert!(scenarios.len() > 1);
    scenarios
}

#[test]
fn every_scenario_resolves_and_says_what_it_shows() {
    for path in scenarios() {
        let text = read(&path);
        let cells = Document::parse(&text, &path).and_then(|document| document.cells());
        let cells = cells.unwrap_or_else(|e| panic!("{e}"));
        assert!(!cells.is_empty() && !cells[0].scenario.title.is_empty(), "{path}: a title");
        assert!(text.starts_with("# "), "{path}: the first line is a comment that says what it shows");
    }
}

/// The text between backticks, and the lines of indented and fenced blocks.
fn code(markdown: &str) -> Vec<String> {
    let (mut code, mut fenced) = (Vec::new(), false);
    for line in markdown.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") && !line.trim_start().starts_with(['-', '*']) {
            code.push(line.trim().to_owned());
        } else {
            code.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    code
}

fn pages() -> BTreeMap<String, Vec<String>> {
    let mut pages = files();
    pages.retain(|path| path.rsplit_once('.').is_some_and(|(_, ending)| ending == "md"));
    pages.into_iter().map(|path| (path.clone(), code(&read(&path)))).collect()
}

#[test]
fn commands_on_the_pages_exist() {
    let makefile = read("Makefile");
    let mut commands = BTreeSet::new();
    for (page, code) in pages() {
        for text in code {
            let mut words = text.split_whitespace();
            match (words.next(), words.next()) {
                (Some("make"), Some(target)) => {
                    assert!(makefile.lines().any(|l| l.starts_with(&format!("{target}:"))), "{page}: make {target}");
                }
                (Some("penstock"), Some(command)) if command.starts_with(|c: char| c.is_ascii_lowercase()) => {
                    commands.insert(command.to_owned());
                }
                _ => {}
            }
        }
    }
    assert!(commands.contains("paper"));
    for command in commands {
        penstock(&[&command, "--help"]);
    }
}

/// A name in capitals or with a star stands for others, and what begins with `out/` or `target/` is made.
#[test]
fn files_on_the_pages_exist() {
    let pages = pages();
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for text in &pages[page] {
            let word = text.trim_end_matches('/');
            let path = word.contains('/') && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            let pattern = word.split(['/', '.']).any(|p| p.len() > 1 && p.chars().all(|c| c.is_ascii_uppercase()));
            let top = word.split('/').next().unwrap_or_default();
            if path && !pattern && root().join(top).is_dir() && !["out", "target"].contains(&top) {
                assert!(root().join(word).exists(), "{page}: `{text}` does not exist");
            }
        }
    }
}

/// Every file of the repository, from its root.
pub(crate) fn files() -> Vec<String> {
    fn walk(folder: &Path, name: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let file = entry.file_name().into_string().unwrap();
            let path = if name.is_empty() { file.clone() } else { format!("{name}/{file}") };
            if entry.file_type().unwrap().is_dir() {
                if file != "node_modules" && !(name.is_empty() && [".git", "target", "out"].contains(&file.as_str())) {
                    walk(&entry.path(), &path, found);
                }
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), "", &mut found);
    found.sort();
    found
}

/// Forbidden parts of `text`: paths of one machine, and work left undone.
fn leftovers(text: &str) -> Vec<&'static str> {
    let undone = [concat!("todo", "!"), concat!("unimpl", "emented!"), concat!("FIX", "ME"), concat!("XX", "X")];
    let machines = [concat!("/ro", "ot"), concat!("/ho", "me")];
    let part = |c: char| c.is_ascii_alphanumeric() || "_-.~}".contains(c);
    let at_the_top = |path: &str| {
        text.match_indices(path).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + path.len()..]);
            !before.ends_with(part) && !after.starts_with(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c))
        })
    };
    let mut found: Vec<&'static str> = undone.into_iter().filter(|word| text.contains(word)).collect();
    found.extend(machines.into_iter().filter(|path| at_the_top(path)));
    found
}

#[test]
fn nothing_is_left_over() {
    for path in files().into_iter().filter(|path| root().join(path).is_file()) {
        let bytes = fs::read(root().join(&path)).unwrap();
        let mut found = leftovers(&String::from_utf8_lossy(&bytes));
        if std::str::from_utf8(&bytes).is_err() {
            // A picture may have any three letters; a path is no chance.
            found.retain(|part| part.starts_with('/'));
        }
        assert!(found.is_empty(), "{path}: {found:?}");
    }
}

#[test]
fn a_leftover_is_noticed() {
    assert_eq!(leftovers(concat!("see /ro", "ot/main and \"/ho", "me/x\"; todo", "!()")).len(), 3);
    assert!(leftovers("src/home/here, $HOME/home, /homework").is_empty());
}
