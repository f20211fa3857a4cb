//! The papers of a directory.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_papers::{Item, Paper, Verdicts};

use crate::arguments::WorldName;
use crate::failure::Failure;
use crate::named::Shown as _;
use crate::scenario::{self, text};

/// A paper of the repository.
#[derive(Debug)]
pub(super) struct Source {
    /// The name of its folder.
    pub(super) key: String,
    /// Its folder.
    pub(super) folder: PathBuf,
    /// The content of `paper.toml`, as text and read.
    pub(super) text: String,
    pub(super) paper: Paper,
    /// The content of `verdicts.toml`; nothing where there is none yet.
    pub(super) verdicts: Verdicts,
    /// The requested part of it.
    pub(super) asked: Asked,
}

/// The requested items.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// The one of that id; none is all of them.
    pub(super) only: Option<String>,
    /// Those that run in this world; none is all, but those on real packets only where they are named.
    pub(super) world: Option<WorldName>,
    /// Those of long runs too, which are otherwise among them only where they are named.
    pub(super) apart: bool,
}

impl Asked {
    /// Whether `item` is among them.
    pub(super) fn has(&self, item: &Item) -> bool {
        let named = self.only.as_ref().is_none_or(|only| only == item.id.get_ref());
        let linux = item.runs() == Some("linux");
        let here = match self.world {
            None => self.only.is_some() || !linux,
            Some(WorldName::Packets) => item.runs() == Some("packets"),
            Some(WorldName::Linux) => linux,
            // What the theory says of a loop is of the fluid, whether it is integrated or not.
            Some(WorldName::Fluid) => matches!(item.runs(), Some("fluid" | "analysis" | "formula")),
        };
        named && here && (self.apart || self.only.is_some() || !item.apart)
    }
}

impl Source {
    /// The path of `paper.toml`.
    pub(super) fn file(&self) -> String {
        self.folder.join("paper.toml").shown()
    }

    /// The path of a file that the paper names.
    pub(super) fn inside(&self, named: &str) -> Result<PathBuf, Failure> {
        inside(&self.folder, named)
    }

    /// The line of an offset in `paper.toml`.
    pub(super) fn line(&self, offset: usize) -> usize {
        penstock_papers::line(&self.text, offset)
    }

    /// The requested items.
    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.paper.items.iter().filter(|item| self.asked.has(item))
    }
}

/// The papers requested by `what`, `KEY` or `KEY/ITEM`; all of them unless given. Of each, the items that run in `world`, those of
/// long runs if `apart`.
pub(super) fn find(
    papers: Option<&Path>,
    what: Option<&str>,
    world: Option<WorldName>,
    apart: bool,
) -> Result<Vec<Source>, Failure> {
    let folder = folder(papers)?;
    let keys = keys(&folder)?;
    let Some(what) = what else {
        return keys.iter().map(|key| source(&folder, key, Asked { only: None, world, apart })).collect();
    };
    let (key, only) = what.split_once('/').map_or((what, None), |(key, item)| (key, Some(item)));
    if !keys.iter().any(|k| k == key) {
        let known = if keys.is_empty() { "none".into() } else { keys.join(", ") };
        return Err(Failure::Input(format!("no paper has the key `{key}`; {} has {known}", folder.shown())));
    }
    let source = source(&folder, key, Asked { only: only.map(str::to_owned), world, apart })?;
    if source.items().next().is_none() {
        return Err(Failure::Input(nothing(&source, what)));
    }
    Ok(vec![source])
}

/// The reason why `what` asks for no item, and the remedy.
fn nothing(source: &Source, what: &str) -> String {
    let Asked { only, world, .. } = &source.asked;
    if let Some(runs) = only.as_ref().and_then(|only| source.paper.item(only)).and_then(Item::runs) {
        return format!("--world: `{what}` does not run in this world; it runs in `{runs}`");
    }
    // What runs only where it is named, in that world if there is one.
    let named = |item: &&Item| {
        let asked = Asked { only: Some(item.id.get_ref().clone()), world: *world, apart: false };
        item.runs().is_some() && asked.has(item)
    };
    let named: Vec<String> =
        source.paper.items.iter().filter(named).map(|i| format!("{what}/{}", i.id.get_ref())).collect();
    match named.as_slice() {
        [] => format!("--world: `{what}` does not run in this world; nothing of it does"),
        named => format!("`{what}` has items that run only where they are named; name one of {}", named.join(", ")),
    }
}

fn folder(papers: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(papers) = papers {
        return Ok(papers.to_path_buf());
    }
    scenario::above("papers", |p| keys(p).is_ok_and(|keys| !keys.is_empty())).ok_or_else(|| {
        Failure::Input(
            "no directory `papers` with a paper.toml here or in a parent directory; make one by `penstock init lab` \
             and change to `lab`, or name it with --papers DIR"
                .into(),
        )
    })
}

/// The folders of `papers` that have a paper.toml, sorted.
fn keys(papers: &Path) -> Result<Vec<String>, Failure> {
    let cannot = |e: std::io::Error| Failure::Input(format!("cannot read {}: {e}", papers.shown()));
    let mut keys = Vec::new();
    for entry in fs::read_dir(papers).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        if entry.path().join("paper.toml").is_file() {
            keys.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    keys.sort_unstable();
    Ok(keys)
}

/// The path of a file in a paper's folder. A paper may come from anybody: a link in it to a file elsewhere is not read.
fn inside(folder: &Path, named: &str) -> Result<PathBuf, Failure> {
    let file = folder.join(named);
    scenario::stay_in(folder, &file, "paper")?;
    Ok(file)
}

fn source(papers: &Path, key: &str, asked: Asked) -> Result<Source, Failure> {
    let folder = papers.join(key);
    let file = inside(&folder, "paper.toml")?;
    let content = text(&file)?;
    let paper = Paper::parse(&content, &file.shown()).map_err(Failure::input)?;
    let file = inside(&folder, "verdicts.toml")?;
    let verdicts = if file.exists() {
        Verdicts::parse(&text(&file)?, &file.shown()).map_err(Failure::input)?
    } else {
        Verdicts::default()
    };
    if let Some(only) = &asked.only
        && paper.item(only).is_none()
    {
        let known: Vec<&str> = paper.items.iter().map(|i| i.id.get_ref().as_str()).collect();
        return Err(Failure::Input(format!("{key} has no figure `{only}`; it has {}", known.join(", "))));
    }
    Ok(Source { key: key.to_owned(), folder, text: content, paper, verdicts, asked })
}
