//! Scenarios of the repository, which the command brings along.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// Writes `examples.rs`: the name and the text of every scenario, by name.
pub(crate) fn write() -> io::Result<()> {
    let folder = Path::new("scenarios").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?.map(|file| file.map(|f| f.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut rows = String::new();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = path.display().to_string();
        let _ = writeln!(rows, "    Example {{ name: {name:?}, text: include_str!({path:?}) }},");
    }
    let text = format!(
        "/// Every scenario of the repository, by name.\npub(crate) static EXAMPLES: &[Example] = &[\n{rows}];\n"
    );
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("examples.rs"), text)
}
