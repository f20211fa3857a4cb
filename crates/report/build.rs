//! Puts the viewer into the library where it was built: `target/web/viewer.js` and `viewer.css`, which `make web` makes.

use std::path::Path;
use std::{env, fs, io};

use miniz_oxide::deflate::compress_to_vec_zlib;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let out = Path::new(&out);
    let mut built = "None".to_owned();
    // Outside of the repository, as in a packaged crate, there is no viewer.
    if Path::new("../../web/package.json").is_file() {
        let folder = Path::new("../../target/web");
        // Cargo looks again at a folder that is there; at one that is not, it would compile this crate in every build. The command
        // makes a folder of its own below this one, which would be a change. A folder that was made now is newer than the start
        // of this script, which would be one too: the next build would compile this crate and all that use it.
        let dist = folder.join("dist");
        if !dist.is_dir() {
            fs::create_dir_all(&dist)?;
            let earlier = fs::metadata("build.rs")?.modified()?;
            for made in [&dist, folder] {
                fs::File::open(made)?.set_modified(earlier)?;
            }
        }
        let [script, style] = ["viewer.js", "viewer.css"].map(|name| folder.join(name));
        let there = script.is_file() && style.is_file();
        // Once they are there, only they count: other builds put files of their own beside them.
        for path in if there { vec![&*script, &*style] } else { vec![folder] } {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        if there {
            for (path, packed) in [(&script, "script.z"), (&style, "style.z")] {
                let text = fs::read_to_string(path)?;
                if text.contains("</script") || text.contains("</style") {
                    return Err(io::Error::other(format!("{} would end its own element", path.display())));
                }
                fs::write(out.join(packed), compress_to_vec_zlib(text.as_bytes(), 9))?;
            }
            let file = |name: &str| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\"))");
            built = format!("Some([{}, {}])", file("script.z"), file("style.z"));
        }
    }
    let text = format!(
        "/// Script and style sheet, packed; none where they were not built.\nconst BUILT: Option<[&[u8]; 2]> = {built};\n"
    );
    fs::write(out.join("viewer.rs"), text)
}
