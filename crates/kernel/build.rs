//! Compiles the kernel implementations: natively, and for the kernel where clang and libbpf's headers are there.
//!
//! Without them the crate still builds; a use of the kernel is then an error that names the missing part.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs};

use miniz_oxide::deflate::compress_to_vec_zlib;
use penstock_kernel_build::{Clang, WARNINGS, rerun_when_installed};

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
            let clang = if packaged() { clang } else { clang.strict() };
            for (source, define, name) in &objects {
                // A program that does not compile is our mistake, unlike a compiler that is not there.
                let compiled = clang.compile(source, &[bpf], define.as_slice(), &object(name));
                compiled.unwrap_or_else(|why| panic!("{} does not compile for BPF: {why}", source.display()));
            }
        }
        Err(missing) => {
            rerun_when_installed();
            println!(
                "cargo::rustc-env=PENSTOCK_MISSING=this build of penstock has no BPF objects, because {}",
                missing.what
            );
            println!("cargo::rustc-env=PENSTOCK_REMEDY={}", missing.remedy);
            for (.., name) in &objects {
                fs::write(object(name), []).expect("OUT_DIR can be written");
            }
        }
    }
    for (.., name) in &objects {
        pack(&object(name));
    }
}

/// Puts a packed copy beside an object, `NAME.bpf.z`, without what only a debugger reads: that is half of an object, and the kernel
/// has types and lines of its own. An empty object stays empty.
fn pack(object: &Path) {
    let mut plain = fs::read(object).expect("the object was just written");
    for section in debug_sections(&plain) {
        plain[section].fill(0);
    }
    let packed = if plain.is_empty() { plain } else { compress_to_vec_zlib(&plain, 9) };
    fs::write(object.with_extension("z"), packed).expect("OUT_DIR can be written");
}

/// Where the sections of DWARF and their relocations lie in an object: libbpf reads none of them. None in a file that is no ELF of 64
/// bits and this processor's order of bytes.
fn debug_sections(object: &[u8]) -> Vec<Range<usize>> {
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let mut number = [0; 8];
        let of = if cfg!(target_endian = "little") { 0..bytes } else { 8 - bytes..8 };
        number[of].copy_from_slice(object.get(at..at + bytes)?);
        usize::try_from(u64::from_ne_bytes(number)).ok()
    };
    let found = || -> Option<Vec<Range<usize>>> {
        let headers = (0..number(0x3c, 2)?).map(|at| Some(number(0x28, 8)? + at * number(0x3a, 2)?));
        let headers: Vec<usize> = headers.collect::<Option<_>>()?;
        let names = number(headers.get(number(0x3e, 2)?)? + 0x18, 8)?;
        let mut debug = Vec::new();
        for header in headers {
            let name = object.get(names + number(header, 4)?..)?;
            if [&b".debug_"[..], b".rel.debug_"].iter().any(|begin| name.starts_with(begin)) {
                let start = number(header + 0x18, 8)?;
                debug.push(start..start + number(header + 0x20, 8)?);
            }
        }
        Some(debug)
    };
    found().filter(|_| object.starts_with(b"\x7fELF\x02")).unwrap_or_default()
}

/// True in the packaged crate: cargo writes that file. Its build may use any compiler.
fn packaged() -> bool {
    Path::new(".cargo_vcs_info.json").exists()
}

/// The BPF programs of a folder, by name; none if there is no such folder.
fn programs(room: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(room).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = entries.filter(|path| path.to_str().is_some_and(|p| p.ends_with(".bpf.c"))).collect();
    found.sort();
    found
}

/// One library for each way of compiling the same text; `native.c` explains the suffix.
fn natively(bpf: &Path) {
    for (suffix, defines) in [("faithful", &[][..]), ("slip", &[(SLIP, "1")]), ("wide", &[("FX_PLACES", "48")])] {
        let mut build = cc::Build::new();
        for flag in WARNINGS {
            build.flag(flag);
        }
        if !packaged() {
            build.flag("-Werror");
        }
        for (name, value) in defines {
            build.define(name, *value);
        }
        build.define("SUFFIX", suffix).include(bpf).opt_level(2).file("src/native.c");
        build.compile(&format!("penstock_kernel_laws_{suffix}"));
    }
}
