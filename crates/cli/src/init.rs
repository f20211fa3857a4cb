//! `penstock init`: the files of the repository that somebody with nothing but the command wants, in a new directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::arguments;
use crate::draft::Draft;
use crate::examples::Inside;
use crate::failure::{Done, Failure};
use crate::named::Shown as _;
use crate::{program, terminal};

// `COPIES: &[Inside]`, with paths from the root of the repository on, written by build.rs.
include!(concat!(env!("OUT_DIR"), "/copies.rs"));

/// Runs the command.
pub(crate) fn init(arguments: &arguments::Init) -> Result<Done, Failure> {
    let (files, bytes) = write(&arguments.folder, arguments.vectors)?;
    terminal::say(format!("wrote {files} files, {:.1} MB, to {}", bytes as f64 / 1e6, arguments.folder.shown()))?;
    let program = program::name();
    terminal::note(format!(
        "`{program} paper --list` in this directory lists the papers, `{program} examples` the scenarios"
    ));
    Ok(Done::Well)
}

/// Writes the files into a new directory, and counts them and their bytes.
pub(crate) fn write(given: &Path, with_vectors: bool) -> Result<(usize, usize), Failure> {
    let shown = given.shown();
    let cannot = |e: io::Error| Failure::Input(format!("cannot write to {shown}: {e}"));
    let (parent, name) = place(given).map_err(cannot)?;
    let folder = parent.join(&name);
    let nothing_there = match fs::read_dir(&folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => true,
        Err(e) => return Err(cannot(e)),
    };
    if !nothing_there {
        return Err(Failure::Input(format!("{shown} is not empty; name a directory that is empty or missing")));
    }
    fs::create_dir_all(&parent).map_err(cannot)?;
    // All of it or nothing.
    let draft = Draft::directory(&parent, &name).map_err(cannot)?;
    let mut files = 0;
    let mut bytes = 0;
    let mut copy = |path: &str, text: &str| {
        (files, bytes) = (files + 1, bytes + text.len());
        draft.add(path, text.as_bytes())
    };
    for inside in COPIES {
        copy(inside.name, inside.text()).map_err(cannot)?;
    }
    if with_vectors {
        for (path, text) in vectors()? {
            copy(&path, &text).map_err(cannot)?;
        }
    }
    if folder.exists() {
        fs::remove_dir(&folder).map_err(cannot)?;
    }
    draft.place(&folder).map_err(cannot)?;
    Ok((files, bytes))
}

/// The directory above the one that is to be, and its name.
fn place(folder: &Path) -> io::Result<(PathBuf, String)> {
    let folder = std::path::absolute(folder)?;
    let folder = if folder.is_dir() { folder.canonicalize()? } else { folder };
    let named = folder.file_name().and_then(|name| name.to_str()).zip(folder.parent());
    let (name, parent) = named.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it has no name"))?;
    Ok((parent.to_owned(), name.to_owned()))
}

/// Test vectors of the laws with a kernel implementation. They are computed and not kept, since they are 35 MB.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there are none")]
fn vectors() -> Result<impl Iterator<Item = (String, String)>, Failure> {
    use penstock_kernel::{generators, kernel_laws::KERNEL_LAWS};
    let readme = ("vectors/README.md".to_owned(), include_str!("../vectors.md").to_owned());
    let of_laws = KERNEL_LAWS.iter().map(|law| (format!("vectors/{}.txt", law.name), generators::text(law)));
    Ok(std::iter::once(readme).chain(of_laws))
}

#[cfg(not(target_os = "linux"))]
fn vectors() -> Result<std::iter::Empty<(String, String)>, Failure> {
    Err(Failure::Machine("--vectors needs Linux: kernel implementations are built there only".to_owned()))
}
