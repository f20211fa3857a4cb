//! Gives the command the code that it was built from: a hash for programs, which records go by, and for people a commit. Gives it the
//! files of the repository that it brings along.

#[path = "build/code.rs"]
mod code;
#[path = "build/examples.rs"]
mod examples;
#[path = "build/playground.rs"]
mod playground;

use std::env;
use std::path::Path;
use std::process::Command;

/// Paths of this crate and its like where a commit is to be clean, besides those of the hash.
const BESIDE: [&str; 9] = [
    "crates/cli/src",
    "crates/cli/build.rs",
    "crates/cli/build",
    "crates/cli/Cargo.toml",
    "crates/evaluation",
    "crates/papers",
    "crates/report",
    "evaluation",
    "papers",
];

fn main() -> std::io::Result<()> {
    let root = Path::new("../..");
    examples::write()?;
    playground::write()?;
    let mut watched: Vec<String> = BESIDE.map(str::to_owned).into();
    if let Ok(Some(hash)) = code::hash(root, &compiler()) {
        println!("cargo::rustc-env=PENSTOCK_CODE={hash}");
        let counted = code::counted(root).unwrap_or_default();
        watched.extend(counted.iter().map(|place| place.display().to_string()));
    }
    for place in watched.iter().map(|place| root.join(place)).filter(|place| place.exists()) {
        println!("cargo::rerun-if-changed={}", place.display());
    }
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    match commit(&watched) {
        Some(commit) => {
            println!("cargo::rustc-env=PENSTOCK_COMMIT={commit}");
            println!("cargo::rustc-env=PENSTOCK_VERSION={version} ({commit})");
        }
        None => println!("cargo::rustc-env=PENSTOCK_VERSION={version}"),
    }
    Ok(())
}

/// The compiler's version and commit, without the machine that it runs on.
fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    output(Command::new(rustc).arg("--version")).unwrap_or_default()
}

/// The commit of these sources, `-dirty` where one of `watched` is not as it was committed; none outside of a repository
/// of ours: unpacked below another one, they are not of its commit.
fn commit(watched: &[String]) -> Option<String> {
    let git = |arguments: &[&str]| output(Command::new("git").args(arguments));
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=9", "HEAD"])?;
    let mut status = Command::new("git");
    status.args(["status", "--porcelain", "--"]).args(watched).current_dir("../..");
    let clean = output(&mut status).is_some_and(|changed| changed.is_empty());
    Some(if clean { commit } else { format!("{commit}-dirty") })
}

/// The output of a program, if it ends well.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
