//! The playground, where `make web` built it: a folder of files that `penstock play` serves.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

use miniz_oxide::deflate::compress_to_vec_zlib;

/// Writes `playground.rs`: the name and the packed bytes of every file, or none.
pub(crate) fn write() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let out = Path::new(&out);
    let mut rows = String::new();
    // `apart` leaves it out: a package has its files beside the command.
    println!("cargo::rerun-if-env-changed=PENSTOCK_PLAYGROUND");
    let apart = env::var_os("PENSTOCK_PLAYGROUND").is_some_and(|how| how == "apart");
    // Outside of the repository, as in a packaged crate, there is none.
    if !apart && Path::new("../../web/package.json").is_file() {
        let folder = Path::new("../../target/web/dist");
        // Cargo looks again at a folder that is there; at one that is not, it would compile this crate in every build.
        fs::create_dir_all(folder)?;
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<_> = fs::read_dir(folder)?.map(|file| file.map(|f| f.path())).collect::<Result<_, _>>()?;
        files.sort();
        for path in files.iter().filter(|path| path.is_file()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let packed = out.join(format!("playground-{name}.z"));
            fs::write(&packed, compress_to_vec_zlib(&fs::read(path)?, 9))?;
            let packed = packed.display().to_string();
            let _ = writeln!(rows, "    ({name:?}, include_bytes!({packed:?})),");
        }
    }
    let text = format!(
        "/// The files of the playground, packed; none where it was not built.\nstatic FILES: &[(&str, &[u8])] = &[\n{rows}];\n"
    );
    fs::write(out.join("playground.rs"), text)
}
