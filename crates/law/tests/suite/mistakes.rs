//! The compiler's words for the likeliest mistakes in a first law. Each mistake is given to the compiler. The message of the
//! first two must name the remedy, which attributes of this crate's traits add. The message of the third is rustc's own: a trait
//! cannot change what rustc prints where a literal stands for the type `N`. docs/own-law.md has all three messages, each with
//! its remedy.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A law that compiles, but for what a test replaces.
const LAW: &str = r#"
use penstock_law::cc::{Context, Controller, Event, Observation, Output, Requirements};
use penstock_law::law::{Build, build};
use penstock_law::{Dual, Law, Number, Values, numbers};

#[derive(Debug)]
pub struct Mine<N> {
    half: N,
}

numbers! {
    /// State.
    pub struct State {
        /// Congestion window.
        window: "packets" as "Congestion window",
    }
}

impl<N: Number> Law<N> for Mine<N> {
    type Role = Controller;
    type State = State<N>;
    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self { half: N::of(0.5) })
    }
    fn initial_state(&self) -> State<N> {
        State { window: N::of(10.0) }
    }
    fn on_event(&self, state: &mut State<N>, event: Event, _: &Observation<N>) {
        if event == Event::Congestion {
            state.window = state.window * self.half;
        }
    }
    fn output(&self, state: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: state.window, gap_s: N::of(0.0) }
    }
    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}

pub static REAL: Build<f64, Controller> = &build::<f64, Mine<f64>>;
pub static DUAL: Build<Dual, Controller> = &build::<Dual, Mine<Dual>>;
"#;

/// Libraries of this crate beside the test that runs, the newest first: cargo names them by a hash.
fn libraries() -> (PathBuf, Vec<PathBuf>) {
    let folder = env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let found = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("libpenstock_law-") && path.extension().is_some_and(|ending| ending == "rlib")
    };
    let mut found: Vec<PathBuf> = found.filter(is_ours).collect();
    found.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).unwrap().modified().unwrap()));
    (folder, found)
}

/// The compiler's error for `source`; nothing if it compiles.
fn compiled(source: &str, folder: &Path, library: &Path) -> Result<(), String> {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("mine.rs");
    fs::write(&file, source).unwrap();
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--color=never", "-L"]);
    rustc.arg(format!("dependency={}", folder.display())).arg("--extern");
    rustc.arg(format!("penstock_law={}", library.display())).arg("--out-dir").arg(out.path()).arg(&file);
    let output = rustc.output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8(output.stderr).unwrap()) }
}

#[test]
fn likely_mistakes_have_a_remedy() {
    let (folder, libraries) = libraries();
    let library = libraries.iter().find(|library| compiled(LAW, &folder, library).is_ok());
    let library = library.unwrap_or_else(|| panic!("{}", compiled(LAW, &folder, &libraries[0]).unwrap_err()));
    // The crate is packaged without the page.
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/own-law.md")).ok();
    for (right, wrong, answers) in [
        // A state that is a plain struct.
        (
            "numbers! {\n    /// State.\n    pub struct State {\n        /// Congestion window.\n        window: \"packets\" as \"Congestion window\",\n    }\n}",
            "#[derive(Debug, Clone)]\npub struct State<N> {\n    window: N,\n}",
            &["`State<N>` is not a struct of numbers over `N`", "write `numbers! {"][..],
        ),
        // A law over one arithmetic only.
        (
            "impl<N: Number> Law<N> for Mine<N> {\n    type Role = Controller;\n    type State = State<N>;",
            "type N = f64;\nimpl Law<N> for Mine<N> {\n    type Role = Controller;\n    type State = State<N>;",
            &["`Mine<Dual>` is not a law over `Dual`", "write `impl<N: Number> Law<N> for MyLaw<N>`"],
        ),
        // A literal where the arithmetic is generic.
        (
            "state.window * self.half",
            "state.window * 0.5",
            &["expected type parameter `N`, found floating-point number"],
        ),
    ] {
        let source = LAW.replace(right, wrong);
        assert_ne!(source, LAW);
        let said = compiled(&source, &folder, library).unwrap_err();
        for answer in answers {
            assert!(said.contains(answer), "no `{answer}` in\n{said}");
        }
        let row = format!("| {} |", answers[0]);
        assert!(page.as_ref().is_none_or(|page| page.contains(&row)), "docs/own-law.md has not\n{row}");
    }
}
