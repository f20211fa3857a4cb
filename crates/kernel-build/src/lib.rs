//! Kernel programs of laws, compiled in a build script: the headers that they include, and the compiler.
//!
//! [`compile`] is all that a build script needs. [`Clang`] is what it is made of.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fmt, fs};

/// The enabled warnings of C.
pub const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-unused-parameter"];

/// The folder of the headers: `cc/controller.h`, `cc/host.h`, `tc/aqm.h`, `law/fx.h`.
pub fn include_dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf"))
}

/// Compiles `NAME.bpf.c` to `$OUT_DIR/NAME.bpf.o`, with [`include_dir`] among its folders of headers. A warning of the compiler
/// is one of the build. Without a compiler the object is empty, and the build has a warning: the law then has no kernel program,
/// and an attempt to use it is an error with the reason. A later build tries again once a compiler may be there.
///
/// # Panics
/// If the program does not compile, or outside of a build script.
pub fn compile(source: impl AsRef<Path>) {
    let source = source.as_ref();
    println!("cargo::rerun-if-changed={}", source.display());
    let stem = source.file_name().and_then(|name| name.to_str()?.strip_suffix(".bpf.c"));
    let stem = stem.unwrap_or_else(|| panic!("{}: call it NAME.bpf.c", source.display()));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let object = out.join(format!("{stem}.bpf.o"));
    match Clang::find() {
        Ok(clang) => {
            println!("cargo::rerun-if-env-changed=CLANG");
            let headers = out.join(format!("{stem}.bpf.d"));
            let mut command = clang.compiler(source, &[include_dir()], &[], &object);
            let said = command.arg("-MMD").arg("-MF").arg(&headers).stderr(Stdio::piped()).output();
            let said = said.unwrap_or_else(|why| panic!("{} does not compile for BPF: {why}", source.display()));
            let text = String::from_utf8_lossy(&said.stderr);
            let (name, status) = (source.display(), said.status);
            assert!(status.success(), "{name} does not compile for BPF: clang ended with {status}\n{text}");
            for line in text.lines().filter(|line| line.contains("warning: ")) {
                println!("cargo::warning={line}");
            }
            // Whatever it includes counts too, wherever it lies, and no file besides.
            for header in included(&fs::read_to_string(headers).unwrap_or_default()) {
                println!("cargo::rerun-if-changed={header}");
            }
        }
        Err(missing) => {
            println!("cargo::warning={} is not compiled: {missing}", source.display());
            rerun_when_installed();
            fs::write(object, []).expect("OUT_DIR can be written");
        }
    }
}

/// Has cargo run the build script again once something is installed: for who has found nothing by [`Clang::find`].
pub fn rerun_when_installed() {
    for variable in ["CLANG", "PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let path = env::var_os("PATH").unwrap_or_default();
    // A folder is written to when a file comes into it, whatever the age of the file. One that is not there counts as changed.
    let programs = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let named = env::var_os("CLANG").map(PathBuf::from).and_then(|clang| Some(clang.parent()?.to_path_buf()));
    let headers = system_folders(&program()).unwrap_or_default();
    for folder in programs.chain(named).chain(headers.iter().map(PathBuf::from)).filter(|folder| folder.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
}

/// The files that a rule of make depends on: after its colon, with spaces between, a line continued by a backslash at its end,
/// and a space within a name behind one.
fn included(rule: &str) -> Vec<String> {
    let Some((_, files)) = rule.split_once(": ") else { return Vec::new() };
    let files = files.replace("\\\n", " ").replace("\\ ", "\0");
    files.split_whitespace().map(|file| file.replace('\0', " ")).collect()
}

/// A missing part of a build, and its remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The missing part.
    pub what: &'static str,
    /// The package or program to install.
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
    /// The native compiler's folders of headers; `-target bpf` alone would not find `asm/types.h`.
    system: Vec<String>,
    strict: bool,
}

fn program() -> String {
    env::var("CLANG").unwrap_or_else(|_| "clang".to_owned())
}

/// The header folders of a native compiler.
fn system_folders(program: &str) -> std::io::Result<Vec<String>> {
    let search = Command::new(program).args(["-v", "-E", "-x", "c", "/dev/null"]).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&search.stderr);
    let folders = text.lines().skip_while(|line| !line.starts_with("#include <...>")).skip(1);
    Ok(folders.take_while(|line| line.starts_with(' ')).map(|line| line.trim().to_owned()).collect())
}

impl Clang {
    /// Looks for it, and for the headers of libbpf and Linux.
    ///
    /// # Errors
    /// Which of them is missing.
    pub fn find() -> Result<Self, Missing> {
        let program = program();
        let system = system_folders(&program).map_err(|_| NO_CLANG)?;
        let found = Self { program, system, strict: false };
        if found.has_headers().map_err(|_| NO_CLANG)? { Ok(found) } else { Err(NO_HEADERS) }
    }

    /// Takes warnings for errors: for a project's own builds. Another compiler has other warnings.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
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
        // The kernel's messages name a line, and no column.
        command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-gno-column-info"]);
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
    /// The exit status of the compiler; its messages are on standard error.
    pub fn compile(&self, source: &Path, include: &[&Path], define: &[&str], object: &Path) -> Result<(), String> {
        let status = self.compiler(source, include, define, object).status().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("clang ended with {status}")) }
    }

    fn compiler(&self, source: &Path, include: &[&Path], define: &[&str], object: &Path) -> Command {
        let mut command = self.command();
        command.args(WARNINGS).args(self.strict.then_some("-Werror"));
        command.args(define.iter().map(|name| format!("-D{name}")));
        for folder in include {
            command.arg("-I").arg(folder);
        }
        command.arg("-c").arg(source).arg("-o").arg(object);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As clang 14 and 19 write it.
    #[test]
    fn a_rule_of_make_names_its_files() {
        let rule = "/out/x.bpf.o: x.bpf.c \\\n  /a\\ folder/cc/host.h law/fx.h\n";
        assert_eq!(included(rule), ["x.bpf.c", "/a folder/cc/host.h", "law/fx.h"]);
        assert_eq!(included(""), [""; 0]);
    }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
