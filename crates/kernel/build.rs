//! Compiles the kernel implementations: natively, and for the kernel where clang and libbpf's headers are there.
//!
//! Without them the crate still builds; it then says what was missing when somebody asks for the kernel.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-Wno-unused-parameter"];
const SLIP: &str = "PENSTOCK_PLANTED_SLIP";
const WITHOUT_LOCK: &str = "PENSTOCK_WITHOUT_LOCK";

fn main() {
    let bpf = Path::new("bpf");
    println!("cargo::rerun-if-changed={}", bpf.display());
    println!("cargo::rerun-if-changed=src/native.c");
    println!("cargo::rerun-if-env-changed=CLANG");
    natively(bpf);

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut objects = vec![
        (bpf.join("replay.bpf.c"), None, "replay".to_owned()),
        (bpf.join("replay.bpf.c"), Some(SLIP), "replay_slip".to_owned()),
        (bpf.join("tc/token_bucket.bpf.c"), Some(WITHOUT_LOCK), "tc_token_bucket_without_lock".to_owned()),
    ];
    for room in ["cc", "tc"] {
        for source in programs(&bpf.join(room)) {
            let stem = source.file_name().and_then(|name| name.to_str()?.strip_suffix(".bpf.c"));
            let object = format!("{room}_{}", stem.expect("that is how they were found"));
            objects.push((source, None, object));
        }
    }
    let object = |name: &str| out.join(name).with_extension("bpf.o");
    match Clang::find() {
        Ok(clang) => {
            for (source, define, name) in &objects {
                clang.compile(source, bpf, *define, &object(name));
            }
        }
        Err((what, remedy)) => {
            println!("cargo::rustc-env=PENSTOCK_MISSING={what}");
            println!("cargo::rustc-env=PENSTOCK_REMEDY={remedy}");
            for (.., name) in &objects {
                fs::write(object(name), []).expect("OUT_DIR can be written");
            }
        }
    }
}

/// The BPF programs of a room, by name; none where there is no such room.
fn programs(room: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(room).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = entries.filter(|path| path.to_str().is_some_and(|p| p.ends_with(".bpf.c"))).collect();
    found.sort();
    found
}

/// One library for each way of compiling the same text; `native.c` says what the suffix is for.
fn natively(bpf: &Path) {
    for (suffix, defines) in [("faithful", &[][..]), ("slip", &[(SLIP, "1")]), ("wide", &[("FX_PLACES", "48")])] {
        let mut build = cc::Build::new();
        for flag in WARNINGS {
            build.flag(flag);
        }
        for (name, value) in defines {
            build.define(name, *value);
        }
        build.define("SUFFIX", suffix).include(bpf).opt_level(2).file("src/native.c");
        build.compile(&format!("penstock_kernel_laws_{suffix}"));
    }
}

struct Clang {
    program: String,
    /// Where the native compiler looks for headers; `-target bpf` alone would not find `asm/types.h`.
    system: Vec<String>,
}

impl Clang {
    fn find() -> Result<Self, (&'static str, &'static str)> {
        let clang = (
            "this build of penstock has no BPF objects, because clang was missing",
            "install it (Debian: apt install clang libbpf-dev linux-libc-dev) and build again",
        );
        let headers = (
            "this build of penstock has no BPF objects, because bpf/bpf_helpers.h or linux/bpf.h was missing",
            "install the headers of libbpf and of Linux (Debian: apt install libbpf-dev linux-libc-dev) and build again",
        );
        let program = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
        let search = Command::new(&program).args(["-v", "-E", "-x", "c", "/dev/null"]).stdin(Stdio::null()).output();
        let search = search.map_err(|_| clang)?;
        let text = String::from_utf8_lossy(&search.stderr).into_owned();
        let system = text
            .lines()
            .skip_while(|line| !line.starts_with("#include <...>"))
            .skip(1)
            .take_while(|line| line.starts_with(' '))
            .map(|line| line.trim().to_owned())
            .collect();
        let found = Self { program, system };
        let probe = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("probe.c");
        fs::write(&probe, "#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n").expect("OUT_DIR can be written");
        let probed = found.command().arg("-E").arg(&probe).output().map_err(|_| clang)?;
        if probed.status.success() { Ok(found) } else { Err(headers) }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g"]);
        // The registers that a program is called with are named by processor.
        let processor = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
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

    /// A program that does not compile is our mistake, unlike a compiler that is not there.
    fn compile(&self, source: &Path, include: &Path, define: Option<&str>, object: &Path) {
        let mut command = self.command();
        command.args(WARNINGS).arg("-I").arg(include).args(define.map(|name| format!("-D{name}")));
        let status = command.arg("-c").arg(source).arg("-o").arg(object).status();
        assert!(status.is_ok_and(|s| s.success()), "{} does not compile for BPF", source.display());
    }
}
