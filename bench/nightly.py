#!/usr/bin/env python3
"""Hours of tests: those that are ignored elsewhere, the bits of two builds, 10^7 fuzzed inputs. Writes docs/validation/nightly.md.

    bench/nightly.py OUT [--only bits|kills|publish|pages|python|web|figures|tests|quinn|s2n|fuzz]

Tests are built in the profile `nightly`, and run one after the other. Status 1: a test failed that is not known to fail,
or a fuzzed input broke something.
"""

import argparse
import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/validation/nightly.md"
TESTS = [("penstock-packets", "suite"), ("penstock-fluid", "suite"), ("penstock-cli", "suite")]
# What is known to fail, and why: a page of the project says more.
KNOWN = {"worlds::fig_8_paced_only_is_the_fluid": "one group of stage 5 is 4.3 % off, docs/validation/fluid.md"}
# Inputs a target: 10^7 together, most where one costs least.
INPUTS = {"scenario": 300_000, "record": 2_000_000, "trace": 1_400_000, "path": 4_000_000, "vectors": 2_000_000, "paper": 300_000}
if os.geteuid() == 0:
    # The programs in the kernel.
    INPUTS["tc"] = 300_000
LONGEST_S = 4 * 3600


def run(command, log, **variables):
    started = time.monotonic()
    with open(log, "a") as out:
        out.write(f"$ {' '.join(command)}\n")
        out.flush()
        done = subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              timeout=LONGEST_S, env=os.environ | variables)
    return done.returncode, time.monotonic() - started


def names(crate, target, log):
    base = ["cargo", "test", "--profile", "nightly", "--locked", "-p", crate, "--test", target, "--"]
    status, _ = run(base + ["--list"], log)
    if status:
        sys.exit(f"nightly: cannot build {crate}/{target}: {log}")
    listed = subprocess.run(base + ["--list", "--ignored"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return base, re.findall(r"^(\S+): test$", listed, re.M)


def tests(out, targets=TESTS):
    for crate, target in targets:
        log = out / f"{crate}-{target}.log"
        base, all_of_them = names(crate, target, log)
        for name in all_of_them:
            print(f"nightly: {target}::{name}", flush=True)
            status, seconds = run(base + ["--ignored", "--exact", name, "--nocapture"], log)
            verdict = "passed" if status == 0 else "FAILED"
            if name in KNOWN:
                verdict = f"fails as known: {KNOWN[name]}" if status else "PASSED, though it is known to fail"
            yield f"`{crate}`, `{name}`", verdict, seconds


def quinn(out):
    """Laws through quinn beside the packets world, and a million random sequences of events."""
    yield from tests(out, [("penstock-quinn", "suite")])


def s2n(out):
    """s2n-quic over the emulated path, and the licences of its crates: a minute of compilation that CI does without."""
    print("nightly: s2n", flush=True)
    base = "cargo test --profile nightly --locked -p penstock-cli --features s2n".split()
    for target, names in [("quic", []), ("suite", ["notices::every_licence_is_allowed"])]:
        status, seconds = run([*base, "--test", target, "--", *names], out / "s2n.log", PENSTOCK_REQUIRE="kernel")
        yield f"`penstock-cli` with the feature `s2n`, `{target}`", "passed" if status == 0 else "FAILED", seconds


def bits(out):
    print("nightly: bits", flush=True)
    status, seconds = run(["make", "-s", "bits"], out / "bits.log")
    yield "`make bits`: the optimised command and the one of the tests", "passed" if status == 0 else "FAILED", seconds


def web(out):
    """The viewer and the playground in browsers, and the bits of the command there: minutes, of which CI has none to spare."""
    print("nightly: web-test", flush=True)
    status, seconds = run(["make", "-s", "web-test"], out / "web.log")
    yield "`make web-test`: pages in browsers", "passed" if status == 0 else "FAILED", seconds


def figures(out):
    """Sizes and times of pages. A figure beyond its target is named, and fails nothing: this machine may have done something else."""
    print("nightly: web-measure", flush=True)
    log = out / "figures.log"
    log.unlink(missing_ok=True)
    status, seconds = run(["make", "-s", "web-measure"], log)
    missed = [line.split(";")[0] for line in log.read_text().splitlines() if line.endswith("MISSED")]
    verdict = "FAILED" if status else f"beyond their targets: {'; '.join(missed)}" if missed else "within their targets"
    yield "`make web-measure`: sizes and times of pages", verdict, seconds


def kills(out):
    """A kill at every system call of attach and detach; CI takes one in sixteen of the most frequent."""
    print("nightly: kills", flush=True)
    command = "cargo test --workspace --exclude penstock-python --locked --test attach".split()
    status, seconds = run(command, out / "kills.log", PENSTOCK_EVERY_CALL="1", PENSTOCK_REQUIRE="kernel,strace")
    yield "attach and detach, killed at every system call", "passed" if status == 0 else "FAILED", seconds


def publish(out):
    """The registry is asked whether it would take the crates; `make own-law` builds a program from them."""
    print("nightly: publish", flush=True)
    status, seconds = run("cargo publish --workspace --dry-run --no-verify --locked --allow-dirty".split(), out / "publish.log")
    yield "`cargo publish --workspace --dry-run`", "passed" if status == 0 else "FAILED", seconds


def pages(out):
    """CI builds the documentation of every crate as JSON, and the site without it: here the site has the pages of the API."""
    print("nightly: pages", flush=True)
    status, seconds = run(["make", "-s", "doc", "site"], out / "pages.log")
    yield "`make doc site`: the site with the pages of the API", "passed" if status == 0 else "FAILED", seconds


def python(out):
    """The wheel in fresh environments, its cost and speed, 10,000 runs, killed workers of Dask; then the long tests of the package."""
    print("nightly: python", flush=True)
    status, seconds = run(["make", "-s", "wheel-test"], out / "python.log")
    yield "`make wheel-test`: the optimised wheel", "passed" if status == 0 else "FAILED", seconds
    status, seconds = run(["make", "-s", "test-python", "PYTEST=-m slow --numprocesses 0"], out / "python-slow.log", PENSTOCK_REQUIRE="python")
    yield "`make test-python`, tests that take minutes", "passed" if status == 0 else "FAILED", seconds


def fuzz(out):
    for target, inputs in INPUTS.items():
        print(f"nightly: fuzz {target}", flush=True)
        log = out / f"fuzz-{target}.log"
        command = ["make", "-s", "fuzz", f"FUZZ={target}", f"FUZZ_INPUTS={inputs}", f"FUZZ_SECONDS={LONGEST_S // 4}"]
        status, seconds = run(command, log)
        # The log goes on from run to run.
        counts = re.findall(r"stat::number_of_executed_units: (\d+)", log.read_text())
        count = int(counts[-1]) if counts else 0
        verdict = "passed" if status == 0 else "FAILED"
        if status == 0 and count < inputs:
            verdict = f"stopped by time before {inputs:,} inputs"
        yield f"fuzz `{target}`, {count:,} inputs", verdict, seconds


PARTS = {
    "bits": bits,
    "kills": kills,
    "publish": publish,
    "pages": pages,
    "python": python,
    "web": web,
    "figures": figures,
    "tests": tests,
    "quinn": quinn,
    "s2n": s2n,
    "fuzz": fuzz,
}
HEAD = """# The last nightly run

`make nightly` runs what takes hours, and writes this page. `bench/nightly.py OUT --only fuzz` writes the rows of one part. The
last column has the day of a row and the commit that ran.

| what | result | wall time | run |
| --- | --- | --- | --- |
"""


def subject(row):
    """What a row is of. How many inputs a parser had is no part of that."""
    what = row.split(" | ")[0]
    return what.split(", ")[0] if what.startswith("| fuzz") else what


def on_record():
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(("| what", "| ---"))]
    return {subject(row): row for row in rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", choices=PARTS)
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(["git", "rev-parse", "--short=9", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    run_of = f"{datetime.date.today()}, {commit or 'unknown'}, {os.cpu_count()} processors"
    worst = 0
    for part in [arguments.only] if arguments.only else PARTS:
        for what, verdict, seconds in PARTS[part](out):
            row = f"| {what} | {verdict} | {seconds:.0f} s | {run_of} |"
            print(row, flush=True)
            worst |= any(word in verdict for word in ("FAILED", "PASSED"))
            # Each row at once: a night that is cut short leaves what it did.
            rows = on_record()
            rows[subject(row)] = row
            PAGE.write_text(HEAD + "\n".join(rows.values()) + "\n")
    return worst


if __name__ == "__main__":
    sys.exit(main())
