//! Identity of results: the hash of the sources that compute them.

#[path = "../../build/code.rs"]
mod code;

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::{Bench, SMALL};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

/// A copy of what counts, elsewhere and without git.
fn workspace() -> tempfile::TempDir {
    let copied = tempfile::tempdir().unwrap();
    for place in code::counted(&root()).unwrap() {
        copy(&root().join(&place), &copied.path().join(&place));
    }
    copied
}

fn hash(root: &Path) -> String {
    code::hash(root, "rustc 1").unwrap().expect("a workspace")
}

#[test]
fn the_same_sources_have_the_same_hash_anywhere_and_others_another() {
    let copied = workspace();
    let whole = hash(&root());
    assert_eq!(hash(copied.path()), whole, "places and times of files do not count, nor does git");
    assert_ne!(code::hash(&root(), "rustc 2").unwrap().unwrap(), whole, "another compiler");
    // One character of each kind of file.
    for file in [
        "crates/law/src/cc/cubic.rs",
        "crates/packets/src/agenda.rs",
        "crates/fluid/src/run.rs",
        "crates/link/src/port.rs",
        "crates/kernel/src/kernel_laws.rs",
        "crates/linux/src/run.rs",
        "crates/machine/src/clock.rs",
        "crates/path/src/router.rs",
        "crates/record/src/seal.rs",
        "crates/scenario/Cargo.toml",
        "bpf/law/fast.h",
        "Cargo.lock",
        "Cargo.toml",
    ] {
        let path = copied.path().join(file);
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        fs::write(&path, [&bytes, &b" "[..]].concat()).unwrap();
        assert_ne!(hash(copied.path()), whole, "{file}");
        fs::write(&path, bytes).unwrap();
    }
    let law = copied.path().join("crates/law/src");
    fs::rename(law.join("cc/cubic.rs"), law.join("cc/cubic2.rs")).unwrap();
    assert_ne!(hash(copied.path()), whole, "another name");
    fs::rename(law.join("cc/cubic2.rs"), law.join("cc/cubic.rs")).unwrap();
    // A crate that nobody has thought of counts.
    copy(&law.join("lib.rs"), &copied.path().join("crates/more/src/lib.rs"));
    assert_ne!(hash(copied.path()), whole, "another crate");
    fs::remove_dir_all(copied.path().join("crates/more")).unwrap();
    // What computes nothing does not, nor does what an editor leaves.
    fs::create_dir_all(copied.path().join("crates/report/src")).unwrap();
    for file in ["crates/report/src/lib.rs", "crates/law/tests/suite/x.rs", "crates/law/src/.lib.rs.swp", "README.md"] {
        fs::create_dir_all(copied.path().join(file).parent().unwrap()).unwrap();
        fs::write(copied.path().join(file), "x").unwrap();
    }
    assert_eq!(hash(copied.path()), whole);
}

/// Of a package there is no workspace: the program is hashed then.
#[test]
fn without_the_workspace_there_is_no_hash_of_it() {
    let copied = workspace();
    fs::remove_file(copied.path().join("Cargo.lock")).unwrap();
    assert_eq!(code::hash(copied.path(), "rustc 1").unwrap(), None);
}

#[test]
fn a_record_says_which_sources_it_is_of() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml"]);
    let header = fs::read_to_string(bench.path("out/small-seed1/record.toml")).unwrap();
    let header: toml::Table = header.parse().unwrap();
    let code = header["code"].as_str().unwrap();
    let hash = code.strip_prefix("sources ").unwrap_or_else(|| panic!("{code}"));
    assert!(hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "{code}");
    assert_eq!(header["format"].as_integer(), Some(2));
}
