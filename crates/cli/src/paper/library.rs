//! The papers of a directory.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_papers::{Paper, Verdicts};

use crate::failure::Failure;
use crate::scenario::{self, text};

/// A paper of the repository.
#[derive(Debug)]
pub(super) struct Source {
    /// The name of its folder.
    pub(super) key: String,
    /// Its folder.
    pub(super) folder: PathBuf,
    /// What `paper.toml` says.
    pub(super) paper: Paper,
    /// What `verdicts.toml` says; nothing where there is none yet.
    pub(super) verdicts: Verdicts,
    /// The one item asked for; none is all of them.
    pub(super) only: Option<String>,
}

impl Source {
    /// The path of `paper.toml`.
    pub(super) fn file(&self) -> String {
        self.folder.join("paper.toml").display().to_string()
    }
}

/// The papers asked for by `what`, `KEY` or `KEY/ITEM`; all of them unless given.
pub(super) fn find(papers: Option<&Path>, what: Option<&str>) -> Result<Vec<Source>, Failure> {
    let folder = folder(papers)?;
    let keys = keys(&folder)?;
    let Some(what) = what else {
        return keys.iter().map(|key| source(&folder, key, None)).collect();
    };
    let (key, only) = what.split_once('/').map_or((what, None), |(key, item)| (key, Some(item)));
    if !keys.iter().any(|k| k == key) {
        let known = if keys.is_empty() { "none".into() } else { keys.join(", ") };
        return Err(Failure::Input(format!("no paper has the key `{key}`; {} has {known}", folder.display())));
    }
    Ok(vec![source(&folder, key, only)?])
}

fn folder(papers: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(papers) = papers {
        return Ok(papers.to_path_buf());
    }
    scenario::above("papers", |p| keys(p).is_ok_and(|keys| !keys.is_empty())).ok_or_else(|| {
        Failure::Input(
            "no directory `papers` with a paper.toml is here or above; go into the repository, or name it with \
             --papers DIR"
                .into(),
        )
    })
}

/// The folders of `papers` that have a paper.toml, sorted.
fn keys(papers: &Path) -> Result<Vec<String>, Failure> {
    let cannot = |e: std::io::Error| Failure::Input(format!("cannot read {}: {e}", papers.display()));
    let mut keys = Vec::new();
    for entry in fs::read_dir(papers).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        if entry.path().join("paper.toml").is_file() {
            keys.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    keys.sort();
    Ok(keys)
}

fn source(papers: &Path, key: &str, only: Option<&str>) -> Result<Source, Failure> {
    let folder = papers.join(key);
    let file = folder.join("paper.toml");
    let paper = Paper::parse(&text(&file)?, &file.display().to_string()).map_err(Failure::input)?;
    let file = folder.join("verdicts.toml");
    let verdicts = if file.exists() {
        Verdicts::parse(&text(&file)?, &file.display().to_string()).map_err(Failure::input)?
    } else {
        Verdicts::default()
    };
    if let Some(only) = only
        && paper.item(only).is_none()
    {
        let known: Vec<&str> = paper.items.iter().map(|i| i.id.get_ref().as_str()).collect();
        return Err(Failure::Input(format!("{key} has no figure `{only}`; it has {}", known.join(", "))));
    }
    Ok(Source { key: key.to_owned(), folder, paper, verdicts, only: only.map(str::to_owned) })
}
