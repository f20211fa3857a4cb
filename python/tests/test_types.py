"""The package's own files: types, shape, and what is written from Rust."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import penstock

SOURCES = Path(__file__).resolve().parent.parent


def run(*arguments: str, folder: Path = SOURCES) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_accepts_the_package_and_its_tests(tmp_path: Path) -> None:
    run("mypy", "--cache-dir", str(tmp_path), "penstock", "tests")


def test_ruff_accepts_every_file() -> None:
    run("ruff", "check", "--no-cache", ".")
    run("ruff", "format", "--no-cache", "--check", ".")


def test_the_stubs_name_what_there_is(tmp_path: Path) -> None:
    run("mypy.stubtest", "penstock._native", "--ignore-disjoint-bases", folder=tmp_path)


def test_the_types_of_a_summary_are_those_of_rust() -> None:
    written = runpy.run_path(str(SOURCES / "generate.py"))["page"]()
    assert (SOURCES / "penstock" / "summary.py").read_text() == written


def test_an_import_warns_of_nothing() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", "import penstock"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_public_name_is_documented() -> None:
    for name in (name for name in penstock.__all__ if name != "__version__"):
        thing = getattr(penstock, name)
        assert thing.__doc__, name
        if isinstance(thing, type) and issubclass(thing, Exception):
            continue
        # A member with a default is a number or a text; what is below it in the source explains it.
        values = getattr(thing, "__dataclass_fields__", {})
        for member in (m for m in vars(thing) if isinstance(thing, type) and not m.startswith("_") and m not in values):
            if isinstance(vars(thing)[member], (str, tuple, type(None))):
                continue
            assert getattr(thing, member).__doc__, f"{name}.{member}"


def test_a_run_imports_no_more_than_it_needs() -> None:
    program = (
        "import sys, penstock\n"
        "penstock.run(penstock.Scenario.read(sys.argv[1]).set('duration', '1 s').set('warmup', '0 s'))\n"
        "print(sorted(name for name in sys.modules if name.startswith('penstock') or name == 'inspect'))\n"
        "assert set(penstock.__all__) <= set(dir(penstock))\n"
        "for name in penstock.__all__:\n"
        "    assert getattr(penstock, name) is not None, name\n"
        "from penstock import *\n"
        "assert penstock.summary.Summary and Controller is penstock.Controller\n"
        "try:\n"
        "    penstock.Contoller\n"
        "except AttributeError as error:\n"
        "    print(error)\n"
    )
    scenario = str(SOURCES.parent / "scenarios/newreno-red-622.toml")
    done = subprocess.run([sys.executable, "-c", program, scenario], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = [
        "penstock",
        "penstock._arguments",
        "penstock._errors",
        "penstock._native",
        "penstock._record",
        "penstock._run",
        "penstock.math",
    ]
    assert done.stdout.splitlines() == [str(imported), "module 'penstock' has no attribute 'Contoller'"]
