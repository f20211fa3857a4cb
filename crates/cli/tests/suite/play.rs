//! `penstock play`: what a browser gets from it, and others do not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

fn get(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_playground_is_served_to_this_machine_or_said_to_be_missing() {
    let mut play = Command::new(env!("CARGO_BIN_EXE_penstock"))
        .args(["play", "--port", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(play.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let Some(address) = line.trim().strip_prefix("http://").map(|rest| rest.trim_end_matches('/')) else {
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
