//! Kernel programs of laws, compiled in a build script: the headers that they include, and the compiler.
//!
//! [`compile`] is all that a build script needs. [`Clang`] is what it is made of.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fmt, fs};

/// Warnings of C that are errors.
pub const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-Wno-unused-parameter"];

/// The folder of the headers: `cc/controller.h`, `cc/host.h`, `law/fx.h`.
pub fn include_dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf"))
}

/// Compiles `NAME.bpf.c` to `$OUT_DIR/NAME.bpf.o`, with [`include_dir`] among its folders of headers. Without a compiler the
/// object is empty, and the build has a warning: the law then has no kernel program, and whoever asks for it is told so.
///
/// # Panics
/// If the program does not compile, or outside of a build script.
pub fn compile(source: impl AsRef<Path>) {
    let source = source.as_ref();
    // What a program includes beside it counts too.
    println!("cargo::rerun-if-changed={}", source.parent().unwrap_or(source).display());
    println!("cargo::rerun-if-changed={}", include_dir().display());
    println!("cargo::rerun-if-env-changed=CLANG");
    let stem = source.file_name().and_then(|name| name.to_str()?.strip_suffix(".bpf.c"));
    let stem = stem.unwrap_or_else(|| panic!("{}: call it NAME.bpf.c", source.display()));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let object = out.join(format!("{stem}.bpf.o"));
    match Clang::find() {
        Ok(clang) => {
            let compiled = clang.compile(source, &[include_dir()], &[], &object);
            compiled.unwrap_or_else(|why| panic!("{} does not compile for BPF: {why}", source.display()));
        }
        Err(missing) => {
            println!("cargo::warning={} is not compiled: {missing}", source.display());
            fs::write(object, []).expect("OUT_DIR can be written");
        }
    }
}

/// What a build lacks, and what would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What.
    pub what: &'static str,
    /// What to install.
    pub remedy: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

const NO_CLANG: Missing = Missing {
    what: "clang was missing",
    remedy: "install it (Debian: apt install clang libbpf-dev linux-libc-dev) and build again",
};
const NO_HEADERS: Missing = Missing {
    what: "bpf/bpf_helpers.h or linux/bpf.h was missing",
    remedy: "install the headers of libbpf and of Linux (Debian: apt install libbpf-dev linux-libc-dev) and build again",
};

/// A clang that compiles for BPF: that of the variable `CLANG`, or of the path.
#[derive(Debug)]
pub struct Clang {
    program: String,
    /// Where the native compiler looks for headers; `-target bpf` alone would not find `asm/types.h`.
    system: Vec<String>,
}

impl Clang {
    /// Looks for it, and for the headers of libbpf and Linux.
    ///
    /// # Errors
    /// Which of them is missing.
    pub fn find() -> Result<Self, Missing> {
        let program = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
        let search = Command::new(&program).args(["-v", "-E", "-x", "c", "/dev/null"]).stdin(Stdio::null()).output();
        let text = search.map(|search| String::from_utf8_lossy(&search.stderr).into_owned()).map_err(|_| NO_CLANG)?;
        let folders = text.lines().skip_while(|line| !line.starts_with("#include <...>")).skip(1);
        let system = folders.take_while(|line| line.starts_with(' ')).map(|line| line.trim().to_owned()).collect();
        let found = Self { program, system };
        if found.has_headers().map_err(|_| NO_CLANG)? { Ok(found) } else { Err(NO_HEADERS) }
    }

    fn has_headers(&self) -> std::io::Result<bool> {
        let mut command = self.command();
        command.args(["-E", "-x", "c", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut probe = command.spawn()?;
        if let Some(mut text) = probe.stdin.take() {
            text.write_all(b"#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n")?;
        }
        Ok(probe.wait()?.success())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g"]);
        // The registers that a program is called with are named by processor: that of the target, or this one.
        let processor = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_else(|_| env::consts::ARCH.to_owned());
        let processor = match processor.as_str() {
            "x86_64" => "x86",
            "aarch64" => "arm64",
            "riscv64" => "riscv",
            "s390x" => "s390",
            other => other,
        };
        command.arg(format!("-D__TARGET_ARCH_{processor}"));
        for folder in &self.system {
            command.args(["-idirafter", folder]);
        }
        command
    }

    /// Compiles one program, with these folders of headers and these names defined.
    ///
    /// # Errors
    /// What the compiler ended with; what it said is on standard error.
    pub fn compile(&self, source: &Path, include: &[&Path], define: &[&str], object: &Path) -> Result<(), String> {
        let mut command = self.command();
        command.args(WARNINGS).args(define.iter().map(|name| format!("-D{name}")));
        for folder in include {
            command.arg("-I").arg(folder);
        }
        let status = command.arg("-c").arg(source).arg("-o").arg(object).status().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("clang ended with {status}")) }
    }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
