//! Scenarios and criteria of the repository, which the command brings along.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes `examples.rs`: the name and the text of every scenario, by name. And `battery.rs`: the same of every file of the
/// evaluation. And `search.rs`: those of the spaces and objectives of a search.
pub(crate) fn write() -> io::Result<()> {
    let rows = |files: Vec<PathBuf>, kind: &str, name: &dyn Fn(&Path) -> String| {
        let mut rows = String::new();
        for path in files {
            let (name, path) = (name(&path), path.display().to_string());
            let _ = writeln!(rows, "    {kind} {{ name: {name:?}, text: include_str!({path:?}) }},");
        }
        rows
    };
    let folder = Path::new("scenarios").canonicalize()?;
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let examples = rows(files(&folder, &["toml"])?, "Inside", &stem);
    put(
        "examples.rs",
        &format!(
            "/// Every scenario of the repository, by name.\npub(crate) static EXAMPLES: &[Inside] = &[\n{examples}];\n"
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
    put("search.rs", &format!("{}{}", of("SPACES", "spaces")?, of("OBJECTIVES", "objectives")?))
}

/// The files of a folder with one of these endings, by name.
fn files(folder: &Path, endings: &[&str]) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(folder)?.map(|file| file.map(|f| f.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)));
    files.sort();
    Ok(files)
}

/// Writes a file for the compiler.
fn put(name: &str, text: &str) -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join(name), text)
}
