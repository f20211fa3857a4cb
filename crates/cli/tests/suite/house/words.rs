//! Words that the glossary has replaced stay gone: from public names, files, help, messages and pages.
//!
//! Names are held against [`NAMES`], word by word, and text against [`PHRASES`]. What plain English has in another sense stays
//! in text: a command, a file or a computation *needs* something; a disk has *room*; a document *says* something; an event
//! *happens*; a number is *seen* in a figure; *reading* is what a parser does; a network or a zone has an *edge*; the *rest*
//! is what is left; a server *answers* a client. "What" begins questions only: elsewhere a noun says it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::{files, penstock, read};

/// Words that no public name has, and names that are gone, each with what there is instead.
const NAMES: &[(&str, &str)] = &[
    ("told", "parameters, observation or measurement"),
    ("seen", "observation or measured"),
    ("asks", "requirement"),
    ("asked", "requested"),
    ("says", "output, statement or remark"),
    ("said", "output"),
    ("needs", "requirements"),
    ("happen", "event"),
    ("happens", "event"),
    ("happened", "event"),
    ("room", "space"),
    ("rooms", "spaces"),
    ("twin", "kernel implementation"),
    ("twins", "kernel implementations"),
    ("reading", "loop model"),
    ("readings", "loop models"),
    ("edges", "thresholds, bounds or conditioners"),
    ("on_loss", "on_congestion"),
    ("EVENT_CUT", "EVENT_CONGESTION"),
];

/// Names of others, which stay: a flag of Linux's `struct tcp_congestion_ops`.
const NAMES_OF_OTHERS: &[&str] = &["TCP_CONG_NEEDS_ECN"];

/// Phrases that no text has, by what stands there now.
const PHRASES: &[(&str, &str)] = &[
    ("twin", "kernel implementation"),
    ("twins", "kernel implementations"),
    ("at rest", "at equilibrium"),
    ("comes to rest", "settles"),
    ("how manieth", "number"),
    ("whoever", "the reader or the user"),
    ("readings", "loop models"),
    ("the reading of the loop", "the loop model"),
    ("is told", "gets, measures or is called"),
    ("are told", "get, measure or are called"),
    ("was told", "got, measured or was called"),
    ("were told", "got, measured or were called"),
    ("be told", "get, measure or be called"),
    ("told of", "reported or acknowledged"),
    ("the law says", "the output of the law"),
    ("the law said", "the output of the law"),
    ("the law sees", "the observation of the law"),
    ("a law sees", "the observation of a law"),
    ("the law asks", "the law requires"),
    ("laws that ask", "laws that require"),
    ("law that asks", "law that requires"),
    ("law is asked", "law is called"),
    ("law answers", "output of the law"),
    ("answered a window", "output of the law was a window"),
    ("answered such", "output of the law was such"),
    ("answers losses", "responds to losses"),
    ("answer losses", "respond to losses"),
    ("answers the losses", "responds to the losses"),
    ("answer as to losses", "reduction as for a loss"),
    ("answers marks", "responds to marks"),
    ("answer marks", "respond to marks"),
    ("answers no marks", "does not respond to marks"),
    ("answer delay", "respond to delay"),
    ("answer nothing", "are unresponsive"),
    ("answers nothing", "is unresponsive"),
    ("losses draw", "losses set"),
    ("the law has spoken", "the output of the law"),
    ("what the law needs", "the requirements of the law"),
    ("needs of the law", "requirements of the law"),
    ("document asks", "document requires"),
    ("asks of a law", "requires of a law"),
    ("edge's law", "conditioner"),
    ("law of an edge", "conditioner"),
    ("laws of edges", "conditioners"),
    ("finding of ours", "result of ours"),
    ("findings of ours", "results of ours"),
    ("our own finding", "our own result"),
    ("finding of a search", "failure"),
    ("findings of a search", "failures"),
];

/// Texts that stay, by their file: what begins with "What" and is no question.
const KEPT: &[(&str, &str)] = &[
    // The title is part of the identity of its runs.
    ("papers/ccpd/gaps.toml", "What depends on what the paper does not give"),
];

/// A name or a paragraph of a file, and its line, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Name(String),
    Prose(String),
    /// A comment of C, which is no page: "What" may begin it.
    Comment(String),
}

type Parts = Vec<(usize, Part)>;

/// The words of a name: `LAW_EVENT` has two, and so has `lawEvent`.
fn words(name: &str) -> Vec<String> {
    let mut all = Vec::new();
    for part in name.split('_') {
        let mut word = String::new();
        let letters: Vec<char> = part.chars().collect();
        for (at, letter) in letters.iter().enumerate() {
            let low = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_lowercase);
            let new = letter.is_ascii_uppercase() && at > 0 && (low(at.checked_sub(1)) || low(Some(at + 1)));
            if new && !word.is_empty() {
                all.push(std::mem::take(&mut word));
            }
            word.push(letter.to_ascii_lowercase());
        }
        if !word.is_empty() {
            all.push(word);
        }
    }
    all
}

/// Every name in a piece of code.
fn names(code: &str) -> impl Iterator<Item = String> {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.split(move |c| !name(c)).filter(|word| word.starts_with(|c: char| !c.is_ascii_digit())).map(str::to_owned)
}

/// Code without its comments and texts, and these, each with its line. A text that is not closed ends with its line.
#[derive(Debug, Default)]
struct Split {
    code: Vec<String>,
    comments: Vec<(usize, String)>,
    /// Those of the comments that are documentation of Rust.
    docs: Vec<(usize, String)>,
    texts: Vec<(usize, String)>,
}

/// The marks that begin and end comments and texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    /// Rust, C and TypeScript.
    Braces,
    Python,
    Toml,
}

fn split(source: &str, language: Language) -> Split {
    let mut all = Split { code: vec![String::new()], ..Split::default() };
    let (mut at, mut line) = (0, 1);
    let comment = if language == Language::Braces { "//" } else { "#" };
    while at < source.len() {
        let rest = &source[at..];
        let next = rest.chars().next().unwrap_or_default();
        let long = language != Language::Braces && rest.starts_with("\"\"\"");
        let took = if rest.starts_with(comment) {
            let end = rest.find('\n').unwrap_or(rest.len());
            let text = rest[..end].trim_start_matches(['/', '#', '!']).trim().to_owned();
            if rest.starts_with("///") || rest.starts_with("//!") {
                all.docs.push((line, text.clone()));
            }
            all.comments.push((line, text));
            end
        } else if language == Language::Braces && rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            let inside = rest[2..end].trim_end_matches("*/");
            for (down, text) in inside.lines().enumerate() {
                all.comments.push((line + down, text.trim().trim_start_matches('*').trim().to_owned()));
            }
            end
        } else if language == Language::Braces && (rest.starts_with("'\"'") || rest.starts_with("'\\''")) {
            rest[1..].find('\'').map_or(1, |end| end + 2) + usize::from(rest.starts_with("'\\''"))
        } else if long {
            let end = rest[3..].find("\"\"\"").map_or(rest.len(), |end| end + 6);
            let mut down = line;
            for paragraph in rest[3..end - 3].split("\n\n") {
                for item in items(paragraph) {
                    all.texts.push((down, item));
                }
                down += paragraph.matches('\n').count() + 2;
            }
            end
        } else if let Some(hashes) = raw(rest, &all.code) {
            let close = format!("\"{}", "#".repeat(hashes));
            let begin = hashes + 2;
            let end = rest[begin..].find(&close).map_or(rest.len(), |end| begin + end + close.len());
            all.texts.push((line, rest[begin..end - close.len()].replace('\n', " ")));
            end
        } else if next == '"' || (next == '`' && language == Language::Braces) {
            let (text, end) = quoted(rest, next, language);
            all.texts.push((line, text));
            end
        } else {
            all.code.last_mut().expect("there is a line").push(next);
            next.len_utf8()
        };
        for _ in source[at..at + took].matches('\n') {
            line += 1;
            all.code.push(String::new());
        }
        at += took;
    }
    all
}

/// The lines of a paragraph of a docstring; each argument that it lists is apart.
fn items(paragraph: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in paragraph.lines().map(str::trim) {
        let argument = line.split_once(": ").filter(|(name, _)| !name.is_empty() && !name.contains([' ', '`']));
        match (argument, all.last_mut()) {
            (Some((_, what)), _) => all.push(what.to_owned()),
            (None, Some(last)) => *last = format!("{last} {line}"),
            (None, None) => all.push(line.to_owned()),
        }
    }
    all
}

/// Number of `#` of a raw text of Rust, if one begins here.
fn raw(rest: &str, code: &[String]) -> Option<usize> {
    let inside = code.last().is_some_and(|line| line.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    let after = rest.strip_prefix('r').filter(|_| !inside)?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// The text that begins here, without escapes, and how long it is in the source.
fn quoted(rest: &str, mark: char, language: Language) -> (String, usize) {
    let (mut text, mut letters) = (String::new(), rest.char_indices().skip(1).peekable());
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == mark => return (text, at + letter.len_utf8()),
            '\\' => match letters.next() {
                Some((_, '\n')) => while letters.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                Some((_, 'n' | 't')) => text.push(' '),
                Some((_, c)) => text.push(c),
                None => {}
            },
            '\n' if language != Language::Braces => return (text, at),
            '\n' => text.push(' '),
            _ => text.push(letter),
        }
    }
    (text, rest.len())
}

/// Comments of following lines are one paragraph.
fn joined(comments: Vec<(usize, String)>) -> impl Iterator<Item = (usize, String)> {
    let mut all: Vec<(usize, usize, String)> = Vec::new();
    for (line, text) in comments {
        match all.last_mut() {
            Some((_, last, before)) if *last + 1 == line && !text.is_empty() && !before.is_empty() => {
                *before = format!("{before} {text}");
                *last = line;
            }
            _ => all.push((line, line, text)),
        }
    }
    all.into_iter().map(|(line, _, text)| (line, text))
}

/// A text with a space in it is a message, another is a name or a pattern.
fn messages(texts: Vec<(usize, String)>) -> impl Iterator<Item = (usize, Part)> {
    texts.into_iter().filter(|(_, text)| text.contains(' ')).map(|(line, text)| (line, Part::Prose(text)))
}

fn names_of(code: &[String]) -> impl Iterator<Item = (usize, Part)> {
    let name =
        |(at, line): (usize, &String)| names(line).map(move |name| (at + 1, Part::Name(name))).collect::<Vec<_>>();
    code.iter().enumerate().flat_map(name).collect::<Vec<_>>().into_iter()
}

/// The names and texts of Python and its stubs, of C, and the keys and texts of a file of data.
fn code(source: &str, language: Language) -> Parts {
    let Split { mut code, comments, texts, .. } = split(source, language);
    if language == Language::Toml {
        // Keys: in front of `=`, and tables.
        for line in &mut code {
            let table = line.trim_start().starts_with('[').then(|| line.clone());
            let keys: Vec<&str> = line
                .split('=')
                .rev()
                .skip(1)
                .filter_map(|key| key.split([' ', '{', ',', '[']).rfind(|w| !w.is_empty()))
                .collect();
            *line = table.unwrap_or_else(|| keys.join(" "));
        }
    }
    let comment = if language == Language::Braces { Part::Comment } else { Part::Prose };
    let comments = joined(comments).map(|(line, text)| (line, comment(text)));
    names_of(&code).chain(comments).chain(messages(texts)).collect()
}

/// The messages and the documentation of a source of Rust or TypeScript, without its tests. Names of a crate are in its
/// `public-api.txt`.
fn sources(source: &str) -> Parts {
    let tests = source.match_indices("#[cfg(test)]\n").map(|(at, _)| at);
    let end = tests.into_iter().find(|at| {
        source[*at..].lines().nth(1).is_some_and(|line| line.contains("mod ") && line.trim_end().ends_with('{'))
    });
    let Split { docs, texts, .. } = split(&source[..end.unwrap_or(source.len())], Language::Braces);
    messages(texts).chain(joined(docs).map(|(line, text)| (line, Part::Prose(text)))).collect()
}

/// Paragraphs, cells and headings of a page; names between backticks and in blocks of code that name their language.
fn page(text: &str) -> Parts {
    let mut all: Parts = Vec::new();
    let (mut fence, mut begun): (Option<bool>, Option<(usize, String)>) = (None, None);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let apart = line.is_empty() || line.starts_with("```") || line.starts_with('|') || line.starts_with('#');
        let item = ["- ", "* "].iter().any(|mark| line.starts_with(mark))
            || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        if apart || item || fence.is_some() {
            all.extend(begun.take().map(|(line, text)| (line, Part::Prose(text))));
        }
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(!language.is_empty()) };
        } else if let Some(of_language) = fence {
            if of_language {
                all.extend(names(line).map(|name| (at + 1, Part::Name(name))));
            }
        } else if !line.is_empty() {
            let inline = line.split('`').skip(1).step_by(2).filter(|code| !code.contains(' '));
            all.extend(inline.flat_map(names).map(|name| (at + 1, Part::Name(name))));
            if line.starts_with('|') {
                all.extend(
                    line.split(" | ").map(|cell| (at + 1, Part::Prose(cell.trim_matches(['|', ' ']).to_owned()))),
                );
            } else if line.starts_with('#') {
                all.push((at + 1, Part::Prose(line.trim_start_matches(['#', ' ']).to_owned())));
            } else {
                match &mut begun {
                    Some((_, text)) => *text = format!("{text} {line}"),
                    None => begun = Some((at + 1, line.trim_start_matches(['-', '*', ' ']).to_owned())),
                }
            }
        }
    }
    all.extend(begun.map(|(line, text)| (line, Part::Prose(text))));
    all
}

/// Keys and texts of JSON.
fn json(value: &Value, all: &mut Parts) {
    match value {
        Value::String(text) if text.contains(' ') => all.push((0, Part::Prose(text.clone()))),
        Value::Array(values) => values.iter().for_each(|value| json(value, all)),
        Value::Object(values) => {
            for (key, value) in values {
                all.extend(names(key).map(|name| (0, Part::Name(name))));
                json(value, all);
            }
        }
        _ => {}
    }
}

fn in_json(text: &str) -> Parts {
    let mut all = Vec::new();
    json(&serde_json::from_str(text).unwrap(), &mut all);
    all
}

/// Paragraphs of printed help.
fn help(text: &str) -> Parts {
    let mut all = Vec::new();
    let mut line = 1;
    for paragraph in text.split("\n\n") {
        for (down, text) in paragraph.lines().enumerate() {
            // An option or a command, and in the same line what it is.
            let text = text.trim();
            let words = text.split_once("  ").map_or(text, |(_, words)| words.trim());
            all.push((line + down, words.to_owned()));
        }
        line += paragraph.matches('\n').count() + 2;
    }
    joined(all).map(|(line, text)| (line, Part::Prose(text))).collect()
}

/// The help of every command, by its words.
fn commands() -> Vec<(String, String)> {
    let (mut all, mut left) = (Vec::new(), vec![Vec::<String>::new()]);
    while let Some(command) = left.pop() {
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let text = penstock(&arguments);
        let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        // A line that is indented further goes on with the one before.
        let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        for name in names.filter(|name| !name.is_empty() && *name != "help") {
            left.push(command.iter().cloned().chain([name.to_owned()]).collect());
        }
        all.push((format!("penstock {}", arguments.join(" ")), text));
    }
    all
}

/// Whether a sentence begins with "What" and is no question.
fn states_with_what(text: &str) -> bool {
    text.match_indices("What ").any(|(at, _)| {
        let before = text[..at].trim_end_matches([' ', '*', '_', '"', '\'', '`', '(']);
        let begins = before.is_empty() || before.ends_with(['.', '?', '!', ':', '|', '>', '=']);
        let after = &text[at..];
        let ends = |(at, c): (usize, char)| {
            ".?!".contains(c) && after[at + 1..].chars().next().is_none_or(|next| !next.is_ascii_alphanumeric())
        };
        begins && after.char_indices().find(|end| ends(*end)).is_none_or(|(_, end)| end != '?')
    })
}

/// Whether a text has a phrase, apart from other words.
fn has(text: &str, phrase: &str) -> bool {
    let apart = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(phrase)
        .any(|(at, _)| apart(text[..at].chars().next_back()) && apart(text[at + phrase.len()..].chars().next()))
}

/// Errors of a part.
fn wrong(part: &Part) -> Vec<String> {
    match part {
        Part::Name(name) if NAMES_OF_OTHERS.contains(&name.as_str()) => Vec::new(),
        Part::Name(name) => {
            let words = words(name);
            let gone = NAMES.iter().filter(|(gone, _)| name == gone || words.iter().any(|word| word == gone));
            gone.map(|(gone, now)| format!("the name `{name}` has `{gone}`; write {now}")).collect()
        }
        Part::Prose(text) | Part::Comment(text) => {
            let low = text.to_ascii_lowercase();
            let gone = PHRASES.iter().filter(|(gone, _)| has(&low, gone));
            let what = matches!(part, Part::Prose(_)) && states_with_what(text);
            let what = what.then(|| format!("\"What\" begins no question: {text}"));
            gone.map(|(gone, now)| format!("`{gone}`; write {now}")).chain(what).collect()
        }
    }
}

/// The parts of a file that a user sees; none of another.
fn parts(path: &str, text: impl Fn() -> String) -> Option<Parts> {
    let folders: Vec<&str> = path.split('/').collect();
    let (top, file) = (folders[0], folders[folders.len() - 1]);
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let data = ["evaluation", "search", "failures", "papers", "scenarios", "examples", "web"].contains(&top);
    let tests = folders.contains(&"tests") || folders.contains(&"test") || file == "tests.rs";
    Some(match ending {
        // What others wrote, and what was.
        _ if ["CHANGELOG.md", "THIRD-PARTY.md", "targets.toml"].contains(&file) => return None,
        "md" => page(&text()),
        "txt" if file == "public-api.txt" => {
            let lines = text();
            lines
                .lines()
                .enumerate()
                .flat_map(|(at, line)| names(line).map(move |name| (at + 1, Part::Name(name))))
                .collect()
        }
        "toml" if data && file != "Cargo.toml" => {
            // The paper's wording.
            let ours: Vec<String> = text()
                .lines()
                .map(|line| if line.starts_with("quote ") { String::new() } else { line.to_owned() })
                .collect();
            code(&ours.join("\n"), Language::Toml)
        }
        "py" | "pyi" if top == "python" && !tests => code(&text(), Language::Python),
        "h" | "c" if ["bpf", "examples"].contains(&top) => code(&text(), Language::Braces),
        "rs" if ["crates", "python", "examples"].contains(&top) && folders.contains(&"src") && !tests => {
            sources(&text())
        }
        "ts" if path.starts_with("web/src/") => sources(&text()),
        "html" if path.starts_with("web/src/") => page(&text()),
        "json" if path.starts_with("web/lessons/") || file.ends_with("schema.json") => in_json(&text()),
        _ => return None,
    })
}

#[test]
fn gone_words_stay_gone() {
    let mut texts: Vec<(String, Parts)> = Vec::new();
    for path in files() {
        if let Some(parts) = parts(&path, || read(&path)) {
            texts.push((path, parts));
        }
    }
    texts.push(("penstock check --schema".to_owned(), in_json(&penstock(&["check", "--schema"]))));
    texts.extend(commands().into_iter().map(|(command, text)| (command, help(&text))));
    // Each kind is there.
    let kinds: BTreeSet<&str> =
        texts.iter().map(|(path, _)| path.rsplit_once('.').map_or("", |(_, ending)| ending)).collect();
    for kind in ["", "c", "h", "html", "json", "md", "py", "pyi", "rs", "toml", "ts", "txt"] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
    assert!(
        texts.len() > 800 && texts.iter().filter(|(name, _)| name.ends_with("--help")).count() > 25,
        "{}",
        texts.len()
    );
    let mut found = String::new();
    for (path, parts) in &texts {
        for (line, part) in parts {
            let kept = matches!(part, Part::Prose(text) if KEPT.contains(&(path, text)));
            for why in wrong(part).into_iter().filter(|_| !kept) {
                let _ = writeln!(found, "{path}:{line}: {why}");
            }
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn a_gone_word_is_noticed_in_each_kind_of_text() {
    let gone = |path: &str, text: &str| -> Vec<usize> {
        let parts = parts(path, || text.to_owned()).unwrap_or_else(|| panic!("{path} is not read"));
        parts.iter().flat_map(|(line, part)| wrong(part).into_iter().map(|_| *line)).collect()
    };
    for (path, text, lines) in [
        ("docs/a.md", "The queue\n\nis At rest.", &[3][..]),
        ("docs/a.md", "a law that is\ntold something", &[1]),
        ("docs/a.md", "| a | What it is. | `seen_s` |\n# What is here", &[1, 1, 2]),
        ("docs/a.md", "```python\ndef on_ack(self, seen):\n```\n```\nseen\n```", &[2]),
        ("docs/a.md", "What is it? reading a file at restart, `needs a space`", &[]),
        ("crates/a/public-api.txt", "pub fn a::B::told(&self)\npub a::NeedsB::c\npub a::needed", &[1, 2]),
        (
            "evaluation/a.toml",
            "# What it is.\nasks = \"no\"\nb = { says = 1, c = \"what the law needs\" }",
            &[2, 3, 1, 3],
        ),
        ("papers/a/paper.toml", "[[a.seen]]\nquote = \"the law says\"", &[1]),
        (
            "python/penstock/a.py",
            "def f(seen):  # the law says\n    \"\"\"Do.\n\n    Args:\n        a: What it is.\n    \"\"\"",
            &[1, 1, 4],
        ),
        ("python/penstock/a.pyi", "def happens() -> None: ...", &[1]),
        ("bpf/a.h", "/* what\n * is told */\nint room;\nint event_cut = EVENT_CUT;", &[3, 4, 1]),
        (
            "crates/a/src/a.rs",
            "// What.\n/// What it is.\nf('\"', \"What is \\\n   wrong: {a}\", r#\"the law \"is asked\" law is asked\"#);\n#[cfg(test)]\nmod tests {\n\"is told\"",
            &[3, 4, 2],
        ),
        ("web/src/a.ts", "const seen = `it is told ${x}`;", &[1]),
        ("web/src/a.html", "<p>What it is.\n\nit was told", &[1, 3]),
        ("web/lessons/a.json", "{\"readings\": \"the law sees it\"}", &[0, 0]),
    ] {
        assert_eq!(gone(path, text), lines, "{path}: {text}");
    }
    let of_help = help("Options:\n  --a  What it does\n\n  Twins, and\n  what is told");
    let lines: Vec<usize> = of_help.iter().flat_map(|(line, part)| wrong(part).into_iter().map(|_| *line)).collect();
    assert_eq!(lines, [1, 4, 4]);
    assert_eq!(words("LAW_EVENTOfTheLaw"), ["law", "event", "of", "the", "law"]);
    for free in ["crates/a/tests/a.rs", "CHANGELOG.md", "papers/a/targets.toml", "web/test/a.ts", "Makefile"] {
        assert!(parts(free, String::new).is_none(), "{free}");
    }
}
