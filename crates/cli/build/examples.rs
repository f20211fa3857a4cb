//! Scenarios, papers and criteria of the repository, which the command brings along.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes `examples.rs`: the name and the text of every scenario, those of `scenarios/` first and then those of each folder in
/// it, by name. And `battery.rs`: the same of every file of the
/// evaluation. And `search.rs`: those of the spaces and objectives of a search. And `copies.rs`: all files of these folders and
/// of the papers, for `penstock init`.
pub(crate) fn write() -> io::Result<()> {
    let rows = |files: Vec<PathBuf>, kind: &str, name: &dyn Fn(&Path) -> String| {
        let mut rows = String::new();
        for path in files {
            let (name, path) = (name(&path), path.display().to_string());
            let _ = writeln!(rows, "    {kind} {{ name: {name:?}, text: include_str!({path:?}) }},");
        }
        rows
    };
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = Path::new("scenarios").canonicalize()?;
    let mut scenarios = files(&folder, &["toml"])?;
    for folder in folders(&folder)? {
        scenarios.extend(files(&folder, &["toml"])?);
    }
    let place =
        |path: &Path| path.strip_prefix(&folder).unwrap_or(path).with_extension("").to_string_lossy().into_owned();
    let examples = rows(scenarios, "Inside", &place);
    put(
        "examples.rs",
        &format!(
            "/// Every scenario of `scenarios/`, by its path there.\npub(crate) static EXAMPLES: &[Inside] = &[\n{examples}];\n"
        ),
    )?;
    let folder = Path::new("evaluation").canonicalize()?;
    let within = |path: &Path| path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into_owned();
    let mut battery = files(&folder, &["toml"])?;
    battery.extend(files(&folder.join("scenarios"), &["toml", "csv", "trace"])?);
    let battery = rows(battery, "Inside", &within);
    put("battery.rs", &format!("/// Every file of the evaluation.\nstatic BATTERY: &[Inside] = &[\n{battery}];\n"))?;
    let folder = Path::new("search").canonicalize()?;
    let of = |list: &str, below: &str| -> io::Result<String> {
        let rows = rows(files(&folder.join(below), &["toml"])?, "Inside", &stem);
        Ok(format!("/// Every file of `search/{below}`.\nstatic {list}: &[Inside] = &[\n{rows}];\n"))
    };
    put("search.rs", &format!("{}{}", of("SPACES", "spaces")?, of("OBJECTIVES", "objectives")?))?;
    let mut copies = String::new();
    for name in COPIED {
        let folder = Path::new(name).canonicalize()?;
        let within = |path: &Path| format!("{name}/{}", path.strip_prefix(&folder).unwrap_or(path).display());
        copies += &rows(everything(&folder)?, "Inside", &within);
    }
    put(
        "copies.rs",
        &format!("/// Every file that is copied, by its path.\nstatic COPIES: &[Inside] = &[\n{copies}];\n"),
    )
}

/// The folders of the repository that `penstock init` copies.
const COPIED: [&str; 4] = ["evaluation", "papers", "scenarios", "search"];

/// All files at and below a folder but hidden ones, which are an editor's, by name.
fn everything(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        match entry.file_type()? {
            _ if hidden => {}
            kind if kind.is_dir() => found.extend(everything(&entry.path())?),
            _ => found.push(entry.path()),
        }
    }
    found.sort();
    Ok(found)
}

/// The files of a folder with one of these endings, by name.
fn files(folder: &Path, endings: &[&str]) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(folder)?.map(|file| file.map(|f| f.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)));
    files.sort();
    Ok(files)
}

/// The folders of a folder, by name.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders: Vec<_> = fs::read_dir(folder)?.map(|file| file.map(|f| f.path())).collect::<Result<_, _>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

/// Writes a file for the compiler.
fn put(name: &str, text: &str) -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join(name), text)
}
