//! `penstock play`: serves the playground to a browser on this machine, and to nobody else.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

use miniz_oxide::inflate::decompress_to_vec_zlib;

use crate::arguments::Play;
use crate::failure::{Done, Failure};
use crate::named::Shown as _;
use crate::terminal;

// `FILES: &[(&str, &[u8])]`, written by build.rs.
include!(concat!(env!("OUT_DIR"), "/playground.rs"));

/// The longest head of a request that is read [B].
const LONGEST_HEAD: usize = 16_384;
/// The most headers of a request.
const MOST_HEADERS: usize = 64;
/// The most connections at a time; a browser opens six.
const MOST_CONNECTIONS: usize = 64;
/// Longest silence of a browser.
const PATIENCE: Duration = Duration::from_secs(15);
/// Permissions of the pages: their own files, WebAssembly, and nothing else. No other page may frame them.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; \
                      style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The files of the playground, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Those of a folder, or the path that cannot be read.
fn read(folder: &Path) -> Result<Files, (PathBuf, io::Error)> {
    let of_folder = |e| (folder.to_path_buf(), e);
    let mut files = Files::new();
    for entry in fs::read_dir(folder).map_err(of_folder)? {
        let path = entry.map_err(of_folder)?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file()) {
            files.insert(name.to_owned(), fs::read(&path).map_err(|e| (path.clone(), e))?);
        }
    }
    Ok(files)
}

/// Where a package puts them: the static command has none of its own.
fn beside() -> Option<PathBuf> {
    // Without /proc the name that it was called by does, if it is a path.
    let command = env::current_exe().ok().or_else(|| fs::canonicalize(env::args_os().next()?).ok())?;
    let folder = command.parent()?.parent()?.join("share/penstock/playground");
    folder.is_dir().then_some(folder)
}

/// Those of the folder that was named, of the command, or of its package.
fn files(named: Option<&Path>) -> Result<Files, Failure> {
    let of = |folder: &Path, key: &str| {
        let wrong = |path: &Path, what: String| Failure::Input(format!("{key}{}: {what}", path.shown()));
        // A folder of other things is refused before all of it is read.
        if folder.is_dir() && !folder.join("index.html").is_file() {
            let what = "no playground is there, for it has no index.html; `make web` builds one in target/web/dist";
            return Err(wrong(folder, what.into()));
        }
        read(folder).map_err(|(path, e)| wrong(&path, format!("cannot read it: {e}")))
    };
    if let Some(folder) = named {
        return of(folder, "--files: ");
    }
    if FILES.iter().any(|(name, _)| *name == "index.html") {
        let unpacked = |packed| decompress_to_vec_zlib(packed).expect("build.rs packed it");
        return Ok(FILES.iter().map(|(name, packed)| ((*name).to_owned(), unpacked(packed))).collect());
    }
    let Some(folder) = beside() else {
        return Err(Failure::Machine(
            "this command was built without the playground; in the repository, `rustup target add wasm32-unknown-unknown`, \
             then `make web build`, which takes node 20 and npm too; or name its folder by --files"
                .into(),
        ));
    };
    of(&folder, "")
}

/// Runs the command, until somebody ends it.
pub(crate) fn play(arguments: &Play) -> Result<Done, Failure> {
    let files = Arc::new(files(arguments.files.as_deref())?);
    let port = arguments.port;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
        let remedy = if e.kind() == ErrorKind::AddrInUse { ": take another one, or 0 for a free one" } else { "" };
        Failure::Machine(format!("--port: cannot listen on 127.0.0.1:{port}: {e}{remedy}"))
    })?;
    let address = listener.local_addr().map_err(|e| Failure::Machine(format!("cannot listen: {e}")))?;
    terminal::say(format!("http://{address}/"))?;
    terminal::note("serves the playground to this machine; Ctrl-C ends it");
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        // A browser that is gone before it is heard is no reason to end.
        let Ok(stream) = stream else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (held, files) = (Arc::clone(&open), Arc::clone(&files));
        let serve = move || {
            let _ = serve(stream, address.port(), &files);
            held.fetch_sub(1, Ordering::Relaxed);
        };
        if thread::Builder::new().name("browser".to_owned()).spawn(serve).is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
    Ok(Done::Well)
}

/// Serves one request, and closes the connection.
fn serve(mut stream: TcpStream, port: u16, files: &Files) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    loop {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        head.extend_from_slice(&piece[..read]);
        if let Some(answer) = answer(&head, port, files) {
            let length = answer.body.len();
            let (status, kind) = (answer.status, answer.kind);
            write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\
                 Cache-Control: no-cache\r\nContent-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
                 Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n"
            )?;
            if answer.with_body {
                stream.write_all(answer.body)?;
            }
            return stream.flush();
        }
    }
}

/// A response to a browser.
#[derive(Debug, PartialEq, Eq)]
struct Answer<'a> {
    status: &'static str,
    kind: &'static str,
    body: &'a [u8],
    with_body: bool,
}

impl Answer<'_> {
    fn refusal(status: &'static str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: status.as_bytes(), with_body: true }
    }
}

/// The response to a request, once its head is whole.
fn answer<'a>(head: &[u8], port: u16, files: &'a Files) -> Option<Answer<'a>> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if head.len() < LONGEST_HEAD => return None,
        _ => return Some(Answer::refusal("400 Bad Request")),
    }
    // A page of somebody else's that its name server leads here has another name in this header.
    let mut hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    let (host, second) = (hosts.next(), hosts.next());
    let ours = |host: &httparse::Header<'_>| {
        ["127.0.0.1", "localhost"].iter().any(|name| host.value == format!("{name}:{port}").as_bytes())
    };
    if second.is_some() || !host.is_some_and(ours) {
        return Some(Answer::refusal("421 Misdirected Request"));
    }
    let with_body = match request.method {
        Some("GET") => true,
        Some("HEAD") => false,
        _ => return Some(Answer::refusal("405 Method Not Allowed")),
    };
    let path = request.path.unwrap_or_default().split(['?', '#']).next().unwrap_or_default();
    let name = if path == "/" { "index.html" } else { path.strip_prefix('/').unwrap_or_default() };
    let Some(body) = files.get(name) else {
        return Some(Answer::refusal("404 Not Found"));
    };
    Some(Answer { status: "200 OK", kind: kind(name), body, with_body })
}

/// The media type of a file, by its ending.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &str) -> Option<&'static str> {
        let files = Files::from([("index.html".to_owned(), b"<!doctype html>".to_vec())]);
        answer(request.as_bytes(), 8622, &files).map(|answer| answer.status)
    }

    #[test]
    fn other_hosts_are_refused() {
        for host in ["evil.example:8622", "127.0.0.1", "127.0.0.1:80", "localhost:8622.evil.example", ""] {
            let said = status(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert_eq!(said, Some("421 Misdirected Request"), "{host}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), Some("421 Misdirected Request"));
        let two = "GET / HTTP/1.1\r\nHost: localhost:8622\r\nHost: evil.example\r\n\r\n";
        assert_eq!(status(two), Some("421 Misdirected Request"));
    }

    #[test]
    fn only_files_of_the_playground_are_served() {
        let get = |path: &str| status(&format!("GET {path} HTTP/1.1\r\nHost: localhost:8622\r\n\r\n"));
        for path in ["/../Cargo.toml", "/etc/passwd", "//etc/passwd", "/index.html/..", "/%2e%2e/x", "http://a/b"] {
            assert_eq!(get(path), Some("404 Not Found"), "{path}");
        }
        assert_eq!(get("/"), Some("200 OK"));
        assert_eq!(get("/index.html?x=1"), Some("200 OK"));
        assert_eq!(status("POST / HTTP/1.1\r\nHost: localhost:8622\r\n\r\n"), Some("405 Method Not Allowed"));
    }

    #[test]
    fn a_head_that_is_not_whole_is_waited_for_and_one_without_end_is_not() {
        assert_eq!(status("GET / HTTP/1.1\r\nHost: local"), None);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(LONGEST_HEAD))), Some("400 Bad Request"));
        assert_eq!(status("\u{0}\u{1}"), Some("400 Bad Request"));
    }
}
