//! Tells the command which commit it was built from, where there is one.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../.git/logs/HEAD");
    let git = Command::new("git").args(["rev-parse", "--short=9", "HEAD"]).output();
    let commit = git.ok().filter(|o| o.status.success()).and_then(|o| String::from_utf8(o.stdout).ok());
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    match commit.as_deref().map(str::trim) {
        Some(commit) => {
            println!("cargo::rustc-env=PENSTOCK_COMMIT={commit}");
            println!("cargo::rustc-env=PENSTOCK_VERSION={version} ({commit})");
        }
        None => println!("cargo::rustc-env=PENSTOCK_VERSION={version}"),
    }
}
