//! No two files of a crate use each other, be it through others.
//!
//! What a file uses of those below it, as `read.rs` does of `read/links.rs`, does not count: it declares and lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use super::{files, root};

/// Circles that stay: the crate, the files, and the reason.
const KEPT: &[(&str, &[&str], &str)] = &[(
    "packets",
    &["ahead.rs", "engine.rs", "entry.rs", "flow.rs", "measure.rs", "sender/window.rs", "station.rs", "traffic.rs"],
    "One state and its events: `engine.rs` has the state, and each of the others adds what one kind of event does to it.",
)];

/// Circles that are to be opened. The list only becomes shorter: a circle that is gone from the code leaves it.
const LEFT: &[(&str, &[&str])] = &[];

/// Files of a crate by their place below `src`, each with those that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The module that a file is, as a path: none for `lib.rs`.
fn module(file: &str) -> Vec<&str> {
    if file == "lib.rs" { Vec::new() } else { file.trim_end_matches(".rs").split('/').collect() }
}

/// The words and signs of a program. Comments, strings and what stands after `#[cfg(test)] mod tests {` are left out:
/// tests may use what they like.
fn tokens(text: &str) -> Vec<String> {
    let text = text.find("#[cfg(test)]\nmod tests {").map_or(text, |end| &text[..end]);
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
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
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
    found
}

/// The paths that begin at `at` with `base` before them, and where the last one ends: several where there are braces.
fn paths(tokens: &[String], mut at: usize, mut base: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let sign = |at: usize| tokens.get(at).map_or("", String::as_str);
    loop {
        match sign(at) {
            "{" => {
                at += 1;
                while !["}", ""].contains(&sign(at)) {
                    at = if sign(at) == "," { at + 1 } else { paths(tokens, at, base.clone(), found).max(at + 1) };
                }
                return at + 1;
            }
            "super" => drop(base.pop()),
            "self" => {}
            word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => base.push(word.to_owned()),
            _ => break,
        }
        at += 1;
        if sign(at) != "::" {
            // A function may have the name of a module beside it.
            if ["(", "!"].contains(&sign(at)) {
                base.pop();
            }
            break;
        }
        at += 1;
    }
    // `use a::b as c`
    while sign(at) == "as" {
        at += 2;
    }
    found.push(base);
    at
}

/// What each file uses of the others.
fn uses(texts: &BTreeMap<String, String>) -> Uses {
    let modules: BTreeMap<Vec<&str>, &String> = texts.keys().map(|file| (module(file), file)).collect();
    let mut uses = Uses::new();
    for (file, text) in texts {
        let (here, tokens) = (module(file), tokens(text));
        let owned = |path: &[&str]| path.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let mut found = Vec::new();
        for at in 0..tokens.len() {
            let follows = at > 0 && ["::", "."].contains(&tokens[at - 1].as_str());
            if follows || tokens.get(at + 1).is_none_or(|next| next != "::") {
                continue;
            }
            let word = tokens[at].as_str();
            match word {
                "crate" => drop(paths(&tokens, at + 2, Vec::new(), &mut found)),
                "super" | "self" => drop(paths(&tokens, at, owned(&here), &mut found)),
                _ => {}
            }
        }
        let target = |path: &Vec<String>| {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            (0..=path.len()).rev().find_map(|length| modules.get(&path[..length]).copied())
        };
        let below = |to: &str| module(to).starts_with(&here);
        let targets = found.iter().filter_map(target).filter(|to| !below(to)).cloned();
        uses.insert(file.clone(), targets.collect());
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

/// The circles of each crate, with what closes them.
fn all() -> Vec<(String, BTreeSet<String>, String)> {
    let mut crates: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for path in files() {
        let Some((of, file)) = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else { continue };
        let test = file.ends_with("tests.rs") || file.contains("tests/");
        let counts = std::path::Path::new(file).extension().is_some_and(|ending| ending == "rs") && file != "main.rs";
        if counts && !test && !of.contains('/') {
            let text = fs::read_to_string(root().join(&path)).unwrap();
            crates.entry(of.to_owned()).or_default().insert(file.to_owned(), text);
        }
    }
    assert!(crates.len() > 8, "{}", crates.len());
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
    for (of, files) in KEPT.iter().map(|(of, files, _)| (of, files)).chain(LEFT.iter().map(|(of, files)| (of, files))) {
        known.push((of, files.iter().map(|file| (*file).to_owned()).collect()));
    }
    let mut wrong = String::new();
    for (of, circle, closes) in all() {
        let listed = known.iter().position(|(other, files)| *other == of && *files == circle);
        if let Some(at) = listed {
            known.remove(at);
        } else {
            let _ = write!(wrong, "a circle in crates/{of}; move what two files share to a third:\n{closes}");
        }
    }
    for (of, files) in known {
        let _ = writeln!(wrong, "no such circle is in crates/{of} any more, so take it from the list: {files:?}");
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
    for text in
        ["use crate::{c, a::{B as D, E}};", "fn f() { super::a::f() }", "static A: &str = \"x\\\"\"; crate::a::B"]
    {
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
