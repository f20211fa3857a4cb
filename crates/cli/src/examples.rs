//! `penstock examples`: the scenarios of `scenarios/`, which are part of the command.

use std::ops::Range;
use std::sync::LazyLock;

use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde::Serialize;

use crate::arguments;
use crate::failure::{Done, Failure};
use crate::{pages, program, terminal};

/// A file of the repository that is part of the command.
#[derive(Debug)]
pub(crate) struct Inside {
    /// Its path below its folder, of most without the ending.
    pub(crate) name: &'static str,
    /// Its bytes among those of all files.
    pub(crate) place: Range<usize>,
}

impl Inside {
    /// Its text.
    pub(crate) fn text(&self) -> &'static str {
        // One file behind the other, packed by build.rs to a fifth of their size. Most commands read none of them.
        static ALL: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let packed = include_bytes!(concat!(env!("OUT_DIR"), "/files.z"));
            decompress_to_vec_zlib(packed).expect("build.rs packed them")
        });
        str::from_utf8(&ALL[self.place.clone()]).expect("build.rs read it as text")
    }
}

// `EXAMPLES: &[Inside]`, written by build.rs.
include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// The folders of `scenarios/`, with captions: a table of the list has the scenarios of each.
const GROUPS: [(&str, &str); 2] = [("", "Links, queues and flows"), ("today", "Laws of today, and what each promises")];

/// An example as a list has it.
#[derive(Debug, Serialize)]
struct Listed {
    name: &'static str,
    shows: String,
}

/// Runs the command.
pub(crate) fn examples(arguments: &arguments::Examples) -> Result<Done, Failure> {
    if let Some(name) = &arguments.name {
        let Some(example) = find(name) else {
            let known: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
            return Err(Failure::Input(format!("no example is named `{name}`; there are {}", known.join(", "))));
        };
        terminal::say(example.text().trim_end())?;
        return Ok(Done::Well);
    }
    let all: Vec<Listed> =
        EXAMPLES.iter().map(|example| Listed { name: example.name, shows: shows(example.text()) }).collect();
    if arguments.json {
        terminal::say_json(&all)?;
        return Ok(Done::Well);
    }
    let mut tables = Vec::new();
    for (of, caption) in GROUPS {
        let own = all.iter().filter(|listed| group(listed.name) == of);
        let rows = own.map(|listed| vec![listed.name.to_owned(), listed.shows.clone()]).collect();
        tables.push(pages::table(caption, &[("example", false), ("content", false)], rows));
    }
    terminal::say(tables.concat().trim_end())?;
    let program = program::name();
    terminal::note(format!(
        "`{program} examples NAME > my.toml` writes an example to a file, and `{program} run my.toml` runs it"
    ));
    Ok(Done::Well)
}

/// The example of that name, with or without the ending of a file and the folder.
pub(crate) fn find(name: &str) -> Option<&'static Inside> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let named = |of: fn(&str) -> &str| EXAMPLES.iter().find(|example| of(example.name) == name);
    named(|path| path).or_else(|| named(stem))
}

/// The folder of an example: none of most.
fn group(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name of an example without its folder.
pub(crate) fn stem(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, stem)| stem)
}

/// The first sentence of the comment that a scenario begins with.
fn shows(text: &str) -> String {
    let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix('#')).collect();
    // What is further in is a command.
    let prose = comment.into_iter().take_while(|line| !line.starts_with("   "));
    let comment = prose.map(str::trim).collect::<Vec<_>>().join(" ");
    let end = comment
        .match_indices(". ")
        .find(|(at, _)| comment[at + 2..].starts_with(|c: char| c.is_uppercase() || c == '`'));
    end.map_or_else(|| comment.trim_end_matches('.').to_owned(), |(at, _)| comment[..at].to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_example_says_in_a_line_what_it_shows() {
        let (mut open, mut files) = (vec![concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios").into()], Vec::new());
        while let Some(folder) = open.pop() {
            let (folders, own): (Vec<PathBuf>, Vec<_>) =
                std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).partition(|path| path.is_dir());
            open.extend(folders);
            files.extend(own.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml")));
        }
        assert_eq!(files.len(), EXAMPLES.len());
        assert!(EXAMPLES.iter().any(|example| example.name == "today/copa"));
        let mut stems = BTreeSet::new();
        for path in files {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let example = find(name).unwrap_or_else(|| panic!("{name} is not listed"));
            assert!(stems.insert(name.to_owned()), "two examples are named {name}");
            assert!(std::ptr::eq(find(example.name).unwrap(), example) && example.name.ends_with(name), "{name}");
            assert!(GROUPS.iter().any(|(of, _)| *of == group(example.name)), "{}: no table", example.name);
            assert_eq!(example.text(), std::fs::read_to_string(&path).unwrap(), "{name}");
            let shows = shows(example.text());
            assert!((20..=240).contains(&shows.chars().count()), "{name}: {shows}");
            assert!(!shows.contains("  "), "{name}: {shows}");
            // It runs from any directory only if it names no other file.
            let names_one = |line: &str| !line.starts_with('#') && line.contains("trace =");
            assert!(!example.text().lines().any(names_one), "{name} names a trace");
        }
    }

    #[test]
    fn the_first_sentence_is_the_line() {
        assert_eq!(shows("# One thing: a.toml, at\n# 1.5 s. Another.\nformat = 1"), "One thing: a.toml, at 1.5 s");
        assert_eq!(shows("# Alone.\n"), "Alone");
        assert_eq!(shows("format = 1"), "");
    }
}
