//! `penstock play`: what a browser gets from it, and others do not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::bench::Bench;

fn get(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The first line that `penstock play` prints with these arguments, and the command.
fn started(command: &str, more: &[&str]) -> (String, Child) {
    let mut play = Command::new(command)
        .args(["play", "--port", "0"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(play.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (line, play)
}

fn address(line: &str) -> Option<&str> {
    line.trim().strip_prefix("http://").map(|rest| rest.trim_end_matches('/'))
}

#[test]
fn the_playground_is_served_to_this_machine_or_said_to_be_missing() {
    let (line, mut play) = started(env!("CARGO_BIN_EXE_penstock"), &[]);
    let Some(address) = address(&line) else {
        let done = play.wait_with_output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(3), "{said}");
        assert!(said.contains("built without the playground") && said.contains("rustup target add"), "{said}");
        return;
    };
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let page = get(address, address, "/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<title>Penstock playground</title>"), "{page}");
    assert!(page.contains("default-src 'none'") && page.contains("nosniff"), "{page}");
    assert!(get(address, address, "/penstock.wasm").contains("Content-Type: application/wasm\r\n"));
    assert!(get(address, "evil.example", "/").starts_with("HTTP/1.1 421 "));
    play.kill().unwrap();
    play.wait().unwrap();
}

/// The files of a folder are served where it is named, whole, and nothing beside them.
#[test]
fn the_files_of_a_folder_are_served() {
    let bench = Bench::new();
    bench.write("play/index.html", "<!doctype html>mine");
    bench.write("play/deep/other.js", "x");
    bench.write("secret", "x");
    let folder = bench.path("play");
    let (line, mut play) = started(env!("CARGO_BIN_EXE_penstock"), &["--files", folder.to_str().unwrap()]);
    let address = address(&line).unwrap();
    assert!(get(address, address, "/").ends_with("\r\n\r\n<!doctype html>mine"));
    for path in ["/deep/other.js", "/deep", "/../secret"] {
        assert!(get(address, address, path).starts_with("HTTP/1.1 404 "), "{path}");
    }
    play.kill().unwrap();
    play.wait().unwrap();
    for (folder, said) in [("play/deep", "no index.html"), ("none", "cannot read it: ")] {
        let refused = bench.run(&["play", "--files", folder]);
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains(&format!("--files: {folder}: ")) && refused.err.contains(said), "{}", refused.err);
    }
}

/// A command that was built without the playground serves that of its package.
#[test]
fn the_playground_of_a_package_is_found() {
    let bench = Bench::new();
    bench.write("usr/share/penstock/playground/index.html", "<!doctype html>packaged");
    bench.write("usr/bin/here", "");
    let command = bench.path("usr/bin/penstock");
    if std::fs::hard_link(env!("CARGO_BIN_EXE_penstock"), &command).is_err() {
        // By another program: a file that this process wrote may be open in a child of another test, and does not run then.
        assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_penstock")).arg(&command).status().unwrap().success());
    }
    let (line, mut play) = started(command.to_str().unwrap(), &[]);
    let address = address(&line).unwrap();
    let page = get(address, address, "/");
    // One that has a playground serves its own.
    assert!(page.ends_with("packaged") || page.contains("<title>Penstock playground</title>"), "{page}");
    play.kill().unwrap();
    play.wait().unwrap();
}
