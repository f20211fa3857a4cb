//! `make setup` installs packages for those who say so, and for nobody else.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::pty::openpty;

/// A folder of programs: `apt-get` writes its arguments down and installs nothing, and `id` says that the user is root.
fn programs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("apt-get", "#!/bin/sh\necho \"$@\" >>\"${0%/*}/called\"\n");
    write("id", "#!/bin/sh\necho 0\n");
    folder
}

/// `make setup` where a tool is missing.
fn setup(programs: &Path, install: &str) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut make = Command::new("make");
    make.args([
        "-s",
        "-C",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../.."),
        "setup",
        "WANTS=a-tool-of-nobody",
        &format!("INSTALL={install}"),
    ]);
    make.env("PATH", format!("{}:{path}", programs.display())).env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    make.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
    make
}

fn called(programs: &Path) -> String {
    fs::read_to_string(programs.join("called")).unwrap_or_default()
}

#[test]
fn setup_installs_where_it_may_and_names_what_is_missing_elsewhere() {
    let programs = programs();
    let refused = setup(programs.path(), "no").output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && called(programs.path()).is_empty(), "{said}");
    assert!(said.contains("missing; install it and try again: sudo apt-get install -y a-tool-of-nobody"), "{said}");
    for install in ["yes", "ask"] {
        // Nobody at a terminal is nobody to ask: scripts and CI install what is missing, and say so.
        let installed = setup(programs.path(), install).output().unwrap();
        let said = String::from_utf8(installed.stdout).unwrap();
        assert!(said.contains("installing a-tool-of-nobody (INSTALL=no would not)"), "{install}: {said}");
        let called = called(programs.path());
        assert!(called.contains("install") && called.contains("a-tool-of-nobody"), "{install}: {called}");
        fs::remove_file(programs.path().join("called")).unwrap();
    }
}

#[test]
fn setup_asks_whoever_is_at_a_terminal() {
    for (answer, installs) in [("n", false), ("", false), ("y", true)] {
        let programs = programs();
        let pty = openpty(None, None).unwrap();
        let mut command = setup(programs.path(), "ask");
        command.stdin(pty.slave.try_clone().unwrap()).stderr(pty.slave);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut terminal = File::from(pty.master);
        terminal.write_all(format!("{answer}\n").as_bytes()).unwrap();
        let ended = child.wait().unwrap();
        let called = called(programs.path());
        assert_eq!(called.contains("a-tool-of-nobody"), installs, "`{answer}`: {called}");
        assert_eq!(ended.success(), installs, "`{answer}`");
    }
}

/// `INSTALL` of a library's makefile is the program that copies files: `make demo INSTALL=yes` builds that library.
#[test]
fn what_setup_may_install_is_no_program_that_copies() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, library) = (folder.path().join("ours"), folder.path().join("library"));
    fs::write(&library, "INSTALL = install\nall:\n\t@echo 'copies by $(INSTALL) to $(OUT)'\n").unwrap();
    fs::write(&ours, format!("copies:\n\t@$(MAKE) -s -f {}\n", library.display())).unwrap();
    let mut make = Command::new("make");
    make.args(["-s", "-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), "-f", "Makefile", "-f"]).arg(&ours);
    make.args(["copies", "INSTALL=yes", "OUT=a folder"]);
    make.env_remove("MAKEFLAGS").env_remove("MAKEOVERRIDES").env_remove("MAKELEVEL");
    let done = make.output().unwrap();
    assert_eq!(String::from_utf8(done.stdout).unwrap(), "copies by install to a folder\n");
}
