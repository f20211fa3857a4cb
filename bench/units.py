#!/usr/bin/env python3
"""clippy and rustdoc over what a build has compiled, by the compilations that `bench/rustc-of-tests` wrote down.

    bench/units.py UNITS lint
    bench/units.py UNITS doc OUT

`cargo clippy` and `cargo doc` check every dependency first, which takes longer than the workspace itself. Here dependencies are
as the build has made them. `lint` is `cargo clippy -- -D warnings` of the crates, their tests and their examples. `doc` writes the
documentation of each library and example as JSON to OUT/NAME.json, and a warning is an error. A compilation that has passed is not
looked at again by the same word, until it is compiled again. The status is 1 if one has failed.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Unit:
    """One compilation: its folder, its environment, and the compiler with its arguments."""

    def __init__(self, path):
        self.path = path
        self.folder, *self.args = path.read_text().rstrip("\0").split("\0")
        lines = path.with_suffix(".env").read_text().rstrip("\0").split("\0")
        # The pipes by which make and cargo share processors are closed by now.
        self.env = {name: value for name, value in (line.split("=", 1) for line in lines) if "MAKEFLAGS" not in name}
        self.name = self.env["CARGO_CRATE_NAME"]

    def ours(self):
        """Other people's packages are never written down; packages that tests make up are."""
        return Path(self.env["CARGO_MANIFEST_DIR"]).is_relative_to(ROOT) and "target" not in Path(self.folder).parts

    def has_passed(self, word):
        """Whether it has passed since it was compiled last."""
        stamp = self.path.with_suffix(f".{word}")
        return stamp.exists() and stamp.stat().st_mtime >= self.path.stat().st_mtime

    def pages(self):
        """The kind of crate for rustdoc, of a library or an example; None of others."""
        kinds = {self.args[i + 1] for i, each in enumerate(self.args) if each == "--crate-type"}
        if "--test" in self.args:
            return None
        if kinds & {"lib", "cdylib"}:
            return "lib"
        return "bin" if any("/examples/" in each for each in self.args if each.endswith(".rs")) else None

    def without(self, *flags):
        """The compiler's arguments but for these: each as `--flag=value`, or with its value apart."""
        kept, skip = [], False
        for each in self.args[1:]:
            if skip:
                skip = False
            elif each in flags:
                skip = True
            elif each.split("=", 1)[0] not in flags:
                kept.append(each)
        return kept


def lint(unit, scratch):
    driver = Path(sysroot(unit.args[0])) / "bin" / "clippy-driver"
    args = unit.without("--emit", "--out-dir", "--error-format", "--json", "--diagnostic-width")
    env = unit.env | {"CLIPPY_ARGS": "-D__CLIPPY_HACKERY__warnings"}
    command = [driver, unit.args[0], *args, "--emit=metadata", "--out-dir", scratch, "--error-format=human"]
    return subprocess.run(command, cwd=unit.folder, env=env, capture_output=True, text=True)


def doc(unit, out):
    # What rustdoc has no use for.
    args = unit.without("--emit", "--out-dir", "--error-format", "--json", "--diagnostic-width", "-C", "--crate-type", "-l")
    lints = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["lints"]["rustdoc"]
    said = [f"--{level}=rustdoc::{name}" for name, level in lints.items()]
    # The option for pages as JSON is for other compilers, unless one says so.
    env = unit.env | {"RUSTC_BOOTSTRAP": "1"}
    rustdoc = Path(sysroot(unit.args[0])) / "bin" / "rustdoc"
    options = ["--crate-type", unit.pages(), *said, "-Dwarnings", "-Zunstable-options", "--output-format=json", "--out-dir", out]
    return subprocess.run([rustdoc, *args, *options], cwd=unit.folder, env=env, capture_output=True, text=True)


@cache
def sysroot(rustc):
    return subprocess.run([rustc, "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()


def main():
    units, word, *out = sys.argv[1:]
    every = [Unit(path) for path in sorted(Path(units).glob("*.args"))]
    every = [each for each in every if each.ours() and (word == "lint" or each.pages())]
    if word == "doc":
        # A library may be compiled again with other features: its pages are of the first time.
        every.sort(key=lambda each: each.path.stat().st_mtime, reverse=True)
        every = list({each.name: each for each in every}.values())
    if not every:
        sys.exit(f"units: no compilation is in {units}")
    left = [each for each in every if not each.has_passed(word)]
    worst = 0
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        for unit, ran in zip(left, pool.map(lambda each: lint(each, scratch) if word == "lint" else doc(each, *out), left)):
            if ran.stderr:
                print(ran.stderr, end="", file=sys.stderr)
            if ran.returncode == 0:
                unit.path.with_suffix(f".{word}").touch()
            else:
                print(f"{word}: {unit.name} has failed", file=sys.stderr)
                worst = 1
    print(f"{word}: {len(left)} of {len(every)} compilations looked at, {'one or more failed' if worst else 'none failed'}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
