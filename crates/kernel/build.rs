//! Compiles the kernel implementations: natively, and for the kernel where clang and libbpf's headers are there.
//!
//! Without them the crate still builds; a use of the kernel is then an error that names the missing part.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs};

use miniz_oxide::deflate::compress_to_vec_zlib;
use object::{Object as _, ObjectSection as _};
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

/// Where the sections of DWARF and their relocations lie in an object: libbpf reads none of them.
fn debug_sections(object: &[u8]) -> Vec<Range<usize>> {
    // An empty object is no ELF.
    let Ok(file) = object::File::parse(object) else { return Vec::new() };
    let is_debug = |name: &str| name.starts_with(".debug_") || name.starts_with(".rel.debug_");
    let debug = file.sections().filter(|section| section.name().is_ok_and(is_debug));
    let place = |(start, bytes): (u64, u64)| start as usize..(start + bytes) as usize;
    debug.filter_map(|section| section.file_range()).map(place).collect()
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
