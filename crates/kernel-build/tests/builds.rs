//! A crate that brings a kernel program, built by cargo before and after a compiler is there. Needs clang.

#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use penstock_kernel_build::Clang;

/// A crate of its own, and a path with a linker and nothing else.
struct Stranger(PathBuf);

const SOURCE: &str = r#"
#include "cc/host.h"
#include "law.h"

SEC("syscall")
int law_runs(void *nothing)
{
	int unused;

	return habits.paced && origin.text[0] && ANSWER;
}
"#;

impl Stranger {
    fn new() -> Self {
        let stranger = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stranger-{}", std::process::id())));
        let us = env!("CARGO_MANIFEST_DIR");
        let manifest = format!(
            "[package]\nname = \"stranger\"\nedition = \"2021\"\n[build-dependencies]\n\
             penstock-kernel-build = {{ path = \"{us}\" }}\n[workspace]\n"
        );
        stranger.write("Cargo.toml", &manifest);
        // The source lies beside everything, `target` too.
        stranger.write("build.rs", "fn main() { penstock_kernel_build::compile(\"law.bpf.c\"); }");
        stranger.write("law.bpf.c", SOURCE);
        stranger.write("law.h", "#define ANSWER 1\n");
        let object = "pub static OBJECT: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/law.bpf.o\"));\n";
        stranger.write("src/lib.rs", object);
        fs::create_dir(stranger.0.join("bin")).unwrap();
        for name in ["cc", "ld", "as"] {
            stranger.install(name);
        }
        stranger
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn install(&self, name: &str) {
        let found =
            env::split_paths(&env::var_os("PATH").unwrap()).map(|folder| folder.join(name)).find(|it| it.exists());
        if let Some(found) = found {
            symlink(found.canonicalize().unwrap(), self.0.join("bin").join(name)).unwrap();
        }
    }

    /// Builds it; returns the output of cargo.
    fn build(&self) -> String {
        let cargo = env::var_os("CARGO").expect("cargo runs the tests");
        let mut build = Command::new(&cargo);
        build.args(["build", "--offline", "-v"]).current_dir(&self.0).env("PATH", self.0.join("bin"));
        build.env("RUSTC", Path::new(&cargo).with_file_name("rustc")).env("CARGO_TARGET_DIR", self.0.join("target"));
        let ended =
            build.env_remove("CLANG").env_remove("RUSTFLAGS").env_remove("RUSTC_WORKSPACE_WRAPPER").output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{said}");
        said
    }

    fn object(&self) -> Vec<u8> {
        let built = fs::read_dir(self.0.join("target/debug/build")).unwrap().map(|entry| entry.unwrap().path());
        let object = built.map(|folder| folder.join("out/law.bpf.o")).find(|object| object.exists());
        fs::read(object.unwrap()).unwrap()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Without a compiler the object is empty, until there is one. A warning of it is one of the build, and no error. Cargo builds again
/// for a header that changed, and not for what else is there.
fn an_object_is_made_as_soon_as_a_compiler_is_there() {
    let stranger = Stranger::new();
    let fresh = |said: &str| said.contains("Fresh stranger");
    let said = stranger.build();
    assert!(said.contains("law.bpf.c is not compiled: clang was missing"), "{said}");
    assert_eq!(stranger.object(), b"");
    let said = stranger.build();
    assert!(fresh(&said), "{said}");
    stranger.install("clang");
    let said = stranger.build();
    assert!(stranger.object().starts_with(b"\x7fELF"), "{said}");
    assert!(said.contains("warning: unused variable 'unused'"), "{said}");
    stranger.write("other.h", "");
    let said = stranger.build();
    assert!(fresh(&said), "{said}");
    let before = stranger.object();
    stranger.write("law.h", "#define ANSWER habits.traced\n");
    let said = stranger.build();
    assert!(stranger.object() != before, "{said}");
}

fn main() {
    optional::run(
        &[(
            "an_object_is_made_as_soon_as_a_compiler_is_there",
            an_object_is_made_as_soon_as_a_compiler_is_there as fn(),
        )],
        optional::kernel(Clang::find().err()),
    )
}
