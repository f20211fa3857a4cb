//! No two files of a crate use each other, be it through others.
//!
//! A use by a file of those below it, as `read.rs` does of `read/links.rs`, does not count: it declares and lists them.
//! A name that a file has by `use` belongs to the file that declares it. A file that adds methods to a type of another is
//! used by the files of that type's methods that call them, by `self.` or `Self::`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use super::{ARROWS, files, root};

/// Circles that stay: the crate, the files, and the reason.
const KEPT: &[(&str, &[&str], &str)] = &[(
    "crates/packets",
    &[
        "ahead.rs",
        "clients.rs",
        "detail.rs",
        "ends.rs",
        "ends/fast.rs",
        "engine.rs",
        "entry.rs",
        "feedback.rs",
        "flow.rs",
        "handshake.rs",
        "measure.rs",
        "receiving.rs",
        "sender/window.rs",
        "sight.rs",
        "station.rs",
        "traffic.rs",
    ],
    "One state and its events: `engine.rs` has the state, and each of the others adds what one kind of event does to it.",
)];

/// Files of a crate by their place below `src`, each with those that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The module that a file is, as a path: none for `lib.rs`.
fn module(file: &str) -> Vec<&str> {
    if file == "lib.rs" { Vec::new() } else { file.trim_end_matches(".rs").split('/').collect() }
}

/// A path as a program has it, from the crate on.
struct Named {
    path: Vec<String>,
    /// Its name by `use`.
    name: String,
    /// It is a function or a macro, which may have the name of a module beside it.
    called: bool,
}

/// The words and signs of a program. Comments, strings and characters are left out, and the inline module of tests: tests
/// may use what they like.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if word > 0 {
            found.push(rest[..word].to_owned());
            word
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else if c == '"' {
            // The end is a quotation mark with an even number of backslashes before it.
            let raw = found.last().is_some_and(|before| ["r", "br"].contains(&before.as_str()));
            let even = |end: &usize| raw || rest[..*end].bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 0;
            rest.match_indices('"').map(|(at, _)| at).skip(1).find(even).map_or(rest.len(), |end| end + 1)
        } else if rest.starts_with("'\\") {
            rest[3..].find('\'').map_or(rest.len(), |end| end + 4)
        } else if c == '\'' && rest.chars().nth(2) == Some('\'') {
            rest.chars().take(3).map(char::len_utf8).sum()
        } else if rest.starts_with("#\"") && found.last().is_some_and(|before| before == "r") {
            rest[2..].find("\"#").map_or(rest.len(), |end| end + 4)
        } else {
            if !c.is_whitespace() {
                found.push(c.to_string());
            }
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    let tests = ["cfg", "(", "test", ")", "]", "mod", "tests", "{"];
    if let Some(begin) = found.windows(tests.len()).position(|words| words == tests) {
        let open = begin + tests.len() - 1;
        found.drain(begin..=closing(&found, open, ["{", "}"]));
    }
    found
}

/// Where the bracket closes that opens at `open`.
fn closing(tokens: &[String], open: usize, [opens, closes]: [&str; 2]) -> usize {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        // The arrow of a function is no bracket.
        depth += i32::from(token == opens) - i32::from(token == closes && tokens[at - 1] != "-");
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}

/// The paths that begin at `at` with `base` before them, and where the last one ends: several where there are braces.
fn paths(tokens: &[String], mut at: usize, mut path: Vec<String>, found: &mut Vec<Named>) -> usize {
    let sign = |at: usize| tokens.get(at).map_or("", String::as_str);
    loop {
        match sign(at) {
            "{" => {
                at += 1;
                while !["}", ""].contains(&sign(at)) {
                    at = if sign(at) == "," { at + 1 } else { paths(tokens, at, path.clone(), found).max(at + 1) };
                }
                return at + 1;
            }
            "crate" => path.clear(),
            "super" => drop(path.pop()),
            "self" => {}
            word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => path.push(word.to_owned()),
            _ => break,
        }
        at += 1;
        if sign(at) != "::" {
            break;
        }
        at += 1;
    }
    let called = ["(", "!"].contains(&sign(at));
    let mut name = path.last().cloned().unwrap_or_default();
    if sign(at) == "as" {
        sign(at + 1).clone_into(&mut name);
        at += 2;
    }
    found.push(Named { path, name, called });
    at
}

/// The names in a file.
#[derive(Default)]
struct Names {
    /// By `use`.
    brought: Vec<Named>,
    /// By `crate`, `super` or `self`.
    used: Vec<Named>,
    /// Types to which it has methods, and which.
    extended: Vec<(Named, BTreeSet<String>)>,
    /// Methods that it calls of `self` or `Self`.
    called: BTreeSet<String>,
}

impl Names {
    fn of(file: &str, text: &str) -> Self {
        let (tokens, mut names) = (tokens(text), Self::default());
        let here = || module(file).into_iter().map(str::to_owned).collect::<Vec<_>>();
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).map_or(";", |before| tokens[before].as_str());
            let after = tokens.get(at + 1).map_or("", String::as_str);
            match token.as_str() {
                "use" if after != "<" => drop(paths(&tokens, at + 1, here(), &mut names.brought)),
                "crate" | "super" | "self" if after == "::" && before != "::" && before != "." => {
                    paths(&tokens, at, here(), &mut names.used);
                }
                "impl" if [";", "}", "]"].contains(&before) => {
                    let of = if after == "<" { closing(&tokens, at + 1, ["<", ">"]) + 1 } else { at + 1 };
                    let open = (of..tokens.len()).find(|at| tokens[*at] == "{").unwrap_or(of);
                    // The methods of a trait are the trait's.
                    if tokens[of..open].iter().all(|token| token != "for") {
                        let body = &tokens[open..=closing(&tokens, open, ["{", "}"])];
                        let methods = body.windows(2).filter(|words| words[0] == "fn").map(|words| words[1].clone());
                        let mut of_type = Vec::new();
                        paths(&tokens, of, here(), &mut of_type);
                        names.extended.extend(of_type.pop().map(|named| (named, methods.collect())));
                    }
                }
                "self" | "Self"
                    if [".", "::"].contains(&after) && tokens.get(at + 3).is_some_and(|sign| sign == "(") =>
                {
                    names.called.insert(tokens[at + 2].clone());
                }
                _ => {}
            }
        }
        names
    }
}

/// The names that each file uses of the others.
fn uses(texts: &BTreeMap<String, String>) -> Uses {
    let modules: BTreeMap<Vec<&str>, &String> = texts.keys().map(|file| (module(file), file)).collect();
    let is_module = |path: &[String]| modules.contains_key(&path.iter().map(String::as_str).collect::<Vec<_>>());
    let names: BTreeMap<&String, Names> = texts.iter().map(|(file, text)| (file, Names::of(file, text))).collect();
    let mut brought: BTreeMap<Vec<String>, &Vec<String>> = BTreeMap::new();
    for (file, names) in &names {
        for Named { path, name, .. } in &names.brought {
            let known = module(file).into_iter().chain([name.as_str()]).map(str::to_owned).collect();
            brought.insert(known, path);
        }
    }
    // The file that declares what a path leads to, be it through `use` of `use`.
    let declares = |named: &Named| {
        let (mut path, called) = (named.path.clone(), named.called);
        for _ in 0..8 {
            let is_name = |end: usize| !is_module(&path[..end]) || called && end == path.len();
            let step =
                (1..=path.len()).find_map(|end| Some((end, *brought.get(&path[..end]).filter(|_| is_name(end))?)));
            let Some((end, to)) = step else { break };
            path = [to, &path[end..]].concat();
        }
        let most = path.len() - usize::from(called && !path.is_empty());
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        (0..=most).rev().find_map(|length| modules.get(&path[..length]).copied())
    };
    let (mut found, mut added) = (Vec::new(), Vec::new());
    for (file, names) in &names {
        let used = names.used.iter().filter_map(declares).map(|to| (*file, to));
        found.extend(used);
        let extended = names.extended.iter().filter_map(|(of, methods)| Some((*file, declares(of)?, methods)));
        added.extend(extended);
    }
    for (to, of, methods) in &added {
        let beside = added.iter().filter(|(_, other, _)| other == of).map(|(from, _, _)| *from).chain([*of]);
        found.extend(beside.filter(|from| !names[from].called.is_disjoint(methods)).map(|from| (from, *to)));
    }
    let mut uses: Uses = texts.keys().map(|file| (file.clone(), BTreeSet::new())).collect();
    for (from, to) in found.into_iter().filter(|(from, to)| !module(to).starts_with(&module(from))) {
        uses.entry(from.clone()).or_default().insert(to.clone());
    }
    uses
}

/// Every file that `file` uses, be it through others.
fn reached<'a>(uses: &'a Uses, file: &'a str) -> BTreeSet<String> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![file]);
    while let Some(next) = open.pop() {
        open.extend(uses[next].iter().filter(|to| reached.insert((*to).clone())).map(String::as_str));
    }
    reached
}

/// The files of each circle.
fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let (mut found, mut seen): (Vec<BTreeSet<String>>, BTreeSet<String>) = Default::default();
    for file in uses.keys() {
        if seen.contains(file) {
            continue;
        }
        let mut circle = reached(uses, file);
        circle.retain(|other| reached(uses, other).contains(file));
        seen.extend(circle.iter().cloned());
        found.extend((!circle.is_empty()).then_some(circle));
    }
    found
}

/// The name of the crate in a folder of the repository: none of other folders.
fn folder_of(folder: &str) -> Option<&str> {
    let below = folder.strip_prefix("crates/").filter(|name| !name.contains('/'));
    below.or((folder == "python").then_some(folder))
}

/// The circles of each crate, with what closes them.
fn all() -> Vec<(String, BTreeSet<String>, String)> {
    let mut crates: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for path in files() {
        let Some((of, file)) = path.split_once("/src/") else { continue };
        let test = file.ends_with("tests.rs") || file.contains("tests/");
        let counts = std::path::Path::new(file).extension().is_some_and(|ending| ending == "rs") && file != "main.rs";
        if folder_of(of).is_none() {
            continue;
        }
        let texts = crates.entry(of.to_owned()).or_default();
        if counts && !test {
            texts.insert(file.to_owned(), fs::read_to_string(root().join(&path)).unwrap());
        }
    }
    let read: BTreeSet<&str> = crates.keys().filter_map(|of| folder_of(of)).collect();
    assert_eq!(read, ARROWS.iter().map(|(name, _)| *name).collect(), "every crate of the workspace");
    let mut all = Vec::new();
    for (of, texts) in crates {
        let uses = uses(&texts);
        for circle in circles(&uses) {
            let closes = circle.iter().fold(String::new(), |mut text, file| {
                let to: Vec<&str> = uses[file].intersection(&circle).map(String::as_str).collect();
                let _ = writeln!(text, "    {file} uses {}", to.join(", "));
                text
            });
            all.push((of.clone(), circle, closes));
        }
    }
    all
}

#[test]
fn no_two_files_use_each_other() {
    let mut known: Vec<(&str, BTreeSet<String>)> = Vec::new();
    for (of, files, _) in KEPT {
        known.push((of, files.iter().map(|file| (*file).to_owned()).collect()));
    }
    let mut wrong = String::new();
    for (of, circle, closes) in all() {
        let listed = known.iter().position(|(other, files)| *other == of && *files == circle);
        if let Some(at) = listed {
            known.remove(at);
        } else {
            let _ = write!(wrong, "a circle in {of}; move what two files share to a third:\n{closes}");
        }
    }
    for (of, files) in known {
        let _ = writeln!(wrong, "no such circle is in {of} any more, so take it from the list: {files:?}");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(KEPT.iter().all(|(_, _, reason)| reason.ends_with('.')));
}

/// The circles of a crate of these files.
fn among(texts: &[(&str, &str)]) -> Vec<Vec<String>> {
    let texts = texts.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
    circles(&uses(&texts)).into_iter().map(|circle| circle.into_iter().collect()).collect()
}

#[test]
fn a_circle_is_noticed_however_it_is_written() {
    for text in [
        "use crate::{c, a::{B as D, E}};",
        "fn f() { super::a::f() }",
        "static A: &str = \"x\\\"\"; crate::a::B",
        "#[cfg(test)]\nmod tests { const A: [char; 2] = ['{', '\\'']; }\nuse crate::a;",
    ] {
        let found =
            among(&[("lib.rs", "mod a; mod b; mod c;"), ("a.rs", "use crate::b;"), ("b.rs", text), ("c.rs", "")]);
        assert_eq!(found, [["a.rs", "b.rs"]], "{text}");
    }
    let found = among(&[("a.rs", "use crate::b;"), ("a/x.rs", "super::f()"), ("b.rs", "use crate::a::x::f;")]);
    assert_eq!(found, [["a.rs", "a/x.rs", "b.rs"]], "through the file above");
    let found = among(&[("a.rs", ""), ("a/x.rs", "use super::y;"), ("a/y.rs", "use super::{f, x::g};")]);
    assert_eq!(found, [["a/x.rs", "a/y.rs"]], "two below the same");
}

#[test]
fn a_name_that_another_file_brings_is_of_the_file_that_declares_it() {
    let above = [("lib.rs", "mod a; mod b; pub use b::B;"), ("a.rs", "use crate::B;"), ("b.rs", "use crate::a::A;")];
    assert_eq!(among(&above), [["a.rs", "b.rs"]]);
    for (brings, text) in [
        ("pub(crate) use x::X;", "crate::a::X::new()"),
        ("pub use self::x::{f, X as Y};", "use crate::{a::Y};"),
        ("pub use x::f;", "crate::a::f()"),
        ("pub use x::x;", "crate::a::x()"),
        ("pub(crate) use crate::c::X;", "use crate::a::X;"),
    ] {
        let below =
            [("a.rs", brings), ("a/x.rs", "use crate::b;"), ("b.rs", text), ("c.rs", "pub use crate::a::x::X;")];
        assert_eq!(among(&below), [["a/x.rs", "b.rs"]], "{brings}");
    }
}

#[test]
fn a_file_that_adds_methods_is_used_where_they_are_called() {
    let none: [Vec<String>; 0] = [];
    let declares = ("a.rs", "struct A; impl A { fn f(&self) { self.g(); } }");
    let with = |text: &str| among(&[("lib.rs", "mod a; mod b;"), declares, ("b.rs", text)]);
    for text in [
        "use crate::a::A; impl A { fn g(&self) {} }",
        "impl super::a::A { fn g(&self) {} }",
        "use crate::a::A as B; #[rustfmt::skip] impl<'a, F: Fn() -> u8> B<'a, F> { fn g(&self) {} }",
    ] {
        assert_eq!(with(text), [["a.rs", "b.rs"]], "{text}");
    }
    for text in [
        "use crate::a::A; impl A { fn h(&self) {} }",
        "use crate::a::A; impl Drop for A { fn g(&self) {} }",
        "use crate::a::A; fn f(x: impl Into<A>) { fn g() {} }",
        "impl A { fn g(&self) {} }",
    ] {
        assert_eq!(with(text), none, "{text}");
    }
    assert_eq!(among(&[("a.rs", "mod b; self.g()"), ("a/b.rs", "impl super::A { fn g() {} }")]), none, "below");
    let [g, h] =
        ["use crate::a::A; impl A { fn g(&self) { Self::h() } }", "use crate::a::A; impl A { fn h() { self.g() } }"];
    let beside = among(&[("a.rs", "struct A;"), ("b.rs", g), ("c.rs", h)]);
    assert_eq!(beside, [["b.rs", "c.rs"]], "of a third file's type");
}

#[test]
fn what_is_no_circle_is_none() {
    let none: [Vec<String>; 0] = [];
    let tests = "#[cfg(test)]\nmod tests {\n use crate::a;";
    for text in [
        "// crate::a::f()",
        "\"crate::a::f\"",
        "r\"\\\" \"crate::a::f()\"",
        "'\"'; //\"\ncrate::c::f()",
        tests,
        "crate::a()",
    ] {
        assert_eq!(among(&[("lib.rs", ""), ("a.rs", "use crate::b;"), ("b.rs", text), ("c.rs", "")]), none, "{text}");
    }
    let family =
        [("a.rs", "mod x; use x::f; pub use self::y::g;"), ("a/x.rs", "use super::h;"), ("a/y.rs", "super::x::f()")];
    assert_eq!(among(&family), none, "a file and those below it");
}
