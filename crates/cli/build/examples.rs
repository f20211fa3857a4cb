//! Scenarios, papers and criteria of the repository, which the command brings along.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use miniz_oxide::deflate::compress_to_vec_zlib;

/// Writes `files.z`: all files that `penstock init` copies, one behind the other and packed. And tables of their names and places
/// there: `copies.rs` of all files. And `examples.rs` of every scenario, those of `scenarios/` first and then those of each folder
/// in it, by name. And `battery.rs` of every file of the evaluation. And `search.rs` of the spaces and objectives of a search.
pub(crate) fn write() -> io::Result<()> {
    let (mut texts, mut places, mut copies) = (String::new(), BTreeMap::new(), Vec::new());
    for name in COPIED {
        let folder = Path::new(name).canonicalize()?;
        for path in everything(&folder)? {
            let text = fs::read_to_string(&path);
            let from = texts.len();
            texts += &text.map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
            places.insert(path.clone(), format!("{from}..{}", texts.len()));
            copies.push(path);
        }
    }
    put("files.z", &compress_to_vec_zlib(texts.as_bytes(), 9))?;
    let table = |list: &str, title: &str, files: &[PathBuf], name: &dyn Fn(&Path) -> String| {
        let row = |path: &PathBuf| format!("    Inside {{ name: {:?}, place: {} }},\n", name(path), places[path]);
        let rows: String = files.iter().map(row).collect();
        format!("/// {title}.\n#[allow(clippy::unreadable_literal)]\n{list}: &[Inside] = &[\n{rows}];\n")
    };
    let below = |folder: &Path, path: &Path| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
    let root = Path::new("papers").canonicalize()?;
    let root = root.parent().unwrap_or(&root);
    let copies = table("static COPIES", "Every file that is copied, by its path", &copies, &|path| below(root, path));
    put("copies.rs", copies.as_bytes())?;
    let folder = Path::new("scenarios").canonicalize()?;
    let mut scenarios = files(&folder, &["toml"])?;
    for folder in folders(&folder)? {
        scenarios.extend(files(&folder, &["toml"])?);
    }
    let title = "Every scenario of `scenarios/`, by its path there";
    let examples =
        table("pub(crate) static EXAMPLES", title, &scenarios, &|path| below(&folder, &path.with_extension("")));
    put("examples.rs", examples.as_bytes())?;
    let folder = Path::new("evaluation").canonicalize()?;
    let mut battery = files(&folder, &["toml"])?;
    battery.extend(files(&folder.join("scenarios"), &["toml", "csv", "trace"])?);
    let battery = table("static BATTERY", "Every file of the evaluation", &battery, &|path| below(&folder, path));
    put("battery.rs", battery.as_bytes())?;
    let folder = Path::new("search").canonicalize()?;
    let of = |list: &str, below: &str| {
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let files = files(&folder.join(below), &["toml"])?;
        io::Result::Ok(table(&format!("static {list}"), &format!("Every file of `search/{below}`"), &files, &stem))
    };
    put("search.rs", format!("{}{}", of("SPACES", "spaces")?, of("OBJECTIVES", "objectives")?).as_bytes())
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
    // Hidden files are not copied either.
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    files.retain(|path| path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)));
    files.retain(|path| !hidden(path));
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
fn put(name: &str, bytes: &[u8]) -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join(name), bytes)
}
