//! The site holds together: its navigation has every page that `make site` takes, and every link between pages leads to a file
//! that the site has, and to a heading that the page has. `make site` checks more of it, and needs PyPI.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::house::{files, read};

/// The parts of the site.
struct Site {
    /// Every file that it takes, from the root of the repository on; of other files than pages the text is not needed.
    files: BTreeMap<String, String>,
    /// The pages of its navigation, in order.
    navigation: Vec<String>,
}

/// The page of the API, which `make site` itself writes.
const WRITTEN: &str = "api/index.html";

/// Whether a path is that of a page.
fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "md")
}

/// The files that `make site` copies: files, folders, and names with a star at the end.
fn taken(makefile: &str) -> Vec<&str> {
    let line =
        makefile.lines().find_map(|line| line.trim().strip_prefix("tar -cf - ")).expect("`make site` copies by tar");
    line.split('|').next().unwrap_or_default().split_whitespace().collect()
}

/// Whether one of the names in [`taken`] has a file.
fn takes(taken: &[&str], path: &str) -> bool {
    taken.iter().any(|name| match name.strip_suffix('*') {
        Some(begin) => path.starts_with(begin),
        None => path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    })
}

/// The pages of the navigation of `mkdocs.yml`.
fn navigation(configuration: &str) -> Vec<String> {
    let entries = configuration.lines().skip_while(|line| *line != "nav:").skip(1);
    let entries = entries.take_while(|line| line.starts_with(' ')).filter_map(|line| line.rsplit_once(": "));
    entries.map(|(_, page)| page.trim().to_owned()).collect()
}

/// A line of prose without what is between back-ticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The lines of a page that are not a block of code, with their numbers from 1.
fn prose(page: &str) -> Vec<(usize, &str)> {
    let (mut prose, mut fenced, mut indented, mut blank) = (Vec::new(), false, false, true);
    for (at, line) in page.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        // An indented block begins after an empty line; what is indented below a list item is text.
        indented = line.starts_with("    ") && (indented || blank) && !line.trim_start().starts_with(['-', '*']);
        blank = line.trim().is_empty();
        if !fenced && !fence && !indented {
            prose.push((at + 1, line));
        }
        fenced ^= fence;
    }
    prose
}

/// The targets of a page's links and pictures, with their lines. A link may go on in the next line.
fn links(page: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (at, line) in prose(page) {
        let line = without_code(line);
        for (begin, _) in line.match_indices("](") {
            let target = line[begin + 2..].split([')', ' ']).next().unwrap_or_default();
            links.push((at, target.to_owned()));
        }
    }
    links
}

/// The anchors of a page's headings, as both the site and GitHub make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in prose(page) {
        let Some(heading) = line.strip_prefix('#').map(|line| line.trim_start_matches('#')) else { continue };
        // Of a link only the text is shown.
        let shown: String = heading.split("](").enumerate().fold(String::new(), |text, (at, part)| {
            text + if at == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) }
        });
        let kept = |c: &char| c.is_ascii_alphanumeric() || "_- ".contains(*c);
        let github = shown.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        // The site joins hyphens; a heading where that matters has no anchor that holds in both.
        if !github.contains("--") {
            *counted.entry(github).or_default() += 1;
        }
    }
    // The second of two equal headings has other names in the site and on GitHub.
    counted.into_iter().filter(|(_, times)| *times == 1).map(|(anchor, _)| anchor).collect()
}

/// The path that a link leads to, from the root on: none above the root.
fn target(from: &str, link: &str) -> Option<String> {
    let mut path: Vec<&str> = from.split('/').collect();
    path.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()?),
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

/// Errors of a site.
fn faults(site: &Site) -> Vec<String> {
    let mut faults = Vec::new();
    for page in site.files.keys().filter(|path| is_page(path) && !site.navigation.contains(path)) {
        faults.push(format!("{page}: no entry of the navigation in mkdocs.yml"));
    }
    for (at, page) in site.navigation.iter().enumerate() {
        if !site.files.contains_key(page) {
            faults.push(format!("mkdocs.yml: {page} is not a page that `make site` takes"));
        }
        if site.navigation[..at].contains(page) {
            faults.push(format!("mkdocs.yml: {page} has two entries"));
        }
    }
    for (page, text) in site.files.iter().filter(|(path, _)| is_page(path)) {
        for (line, link) in links(text) {
            if ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
                continue;
            }
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let to = if path.is_empty() { Some(page.clone()) } else { target(page, path) };
            let Some((to, text)) = to.and_then(|to| site.files.get_key_value(&to)) else {
                faults.push(format!("{page}:{line}: `{link}` leads to no file of the site"));
                continue;
            };
            if anchor.is_some_and(|anchor| !is_page(to) || !anchors(text).contains(anchor)) {
                faults.push(format!("{page}:{line}: `{link}`: {to} has no such heading"));
            }
        }
    }
    faults
}

#[test]
fn the_navigation_has_every_page_and_links_lead_somewhere() {
    let makefile = read("Makefile");
    let taken = taken(&makefile);
    let mut site = Site { files: BTreeMap::new(), navigation: navigation(&read("mkdocs.yml")) };
    for path in files().into_iter().filter(|path| takes(&taken, path)) {
        let text = if is_page(&path) { read(&path) } else { String::new() };
        site.files.insert(path, text);
    }
    assert!(makefile.contains(&format!("target/site-pages/{WRITTEN}")), "`make site` does not write {WRITTEN}");
    site.files.insert(WRITTEN.to_owned(), String::new());
    for name in &taken {
        assert!(
            site.files.keys().any(|path| takes(&[name], path)),
            "Makefile: `make site` takes {name}, which is not there"
        );
    }
    let pages: Vec<&String> = site.files.keys().filter(|path| is_page(path)).collect();
    let linked: usize = site.files.values().map(|text| links(text).len()).sum();
    assert!(pages.len() > 60 && linked > 250, "{} pages, {linked} links", pages.len());
    let faults = faults(&site);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_page_or_a_link_that_is_wrong_is_noticed() {
    let makefile = "site:\n\ttar -cf - README.md docs bpf/LICENSE-* | tar -xf - -C there\n";
    let [own, page] = ["# Own\n\n## To `b_c`, (d)\n", "# Page\n"];
    let whole = "[a](docs/a.md#to-b_c-d), [here](#begin), ![picture](docs/p.svg \"p\"), [out](https://example.org/x.md)\n\n\
                 # Begin\n\n    [code](gone.md)\n\n```\n[code](gone.md)\n```\n`[code](gone.md)`, [b](bpf/LICENSE-MIT)\n";
    let found = |first: &str, navigation: &[&str]| {
        let all = [
            ("README.md", first),
            ("docs/a.md", own),
            ("docs/b.md", page),
            ("docs/p.svg", ""),
            ("bpf/LICENSE-MIT", ""),
            ("bpf/law.h", ""),
            ("docs.md", page),
        ];
        let taken = taken(makefile);
        let files = all.into_iter().filter(|(path, _)| takes(&taken, path));
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let entries: Vec<String> = navigation.iter().map(|page| format!("      - A: the page: {page}\n")).collect();
        let configuration = format!("nav_of: x\nnav:\n  - Group:\n{}last: nothing.md\n", entries.concat());
        faults(&Site { files, navigation: self::navigation(&configuration) })
    };
    let every = ["README.md", "docs/a.md", "docs/b.md"];
    assert_eq!(found(whole, &every), [] as [&str; 0]);
    assert_eq!(found(whole, &every[..2]), ["docs/b.md: no entry of the navigation in mkdocs.yml"]);
    let more = |page| [&every[..], &[page]].concat();
    assert_eq!(found(whole, &more("docs/c.md")), ["mkdocs.yml: docs/c.md is not a page that `make site` takes"]);
    assert_eq!(found(whole, &more("docs.md")), ["mkdocs.yml: docs.md is not a page that `make site` takes"]);
    assert_eq!(found(whole, &more("docs/a.md")), ["mkdocs.yml: docs/a.md has two entries"]);
    for link in ["docs/c.md", "docs", "bpf/law.h", "../README.md", "docs.md", "docs/a.md/../b.md/c"] {
        let expected = format!("README.md:2: `{link}` leads to no file of the site");
        assert_eq!(found(&format!("\na [link]({link}), and\n"), &every), [expected]);
    }
    for (link, page) in [("docs/a.md#to-b_c", "docs/a.md"), ("#link", "README.md"), ("docs/p.svg#own", "docs/p.svg")] {
        let expected = format!("README.md:1: `{link}`: {page} has no such heading");
        assert_eq!(found(&format!("a [link]({link})\n"), &every), [expected]);
    }
    for twice in ["# One\n\n# One\n\n[a](#one)\n", "# One - two\n\n[a](#one-two)\n"] {
        assert_eq!(found(twice, &every).len(), 1, "{twice}");
    }
}
