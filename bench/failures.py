#!/usr/bin/env python3
"""The failures on record, with other laws in the place of the one that fails: the lists of laws in failures/README.md.

    bench/failures.py [NAME ...] [--penstock COMMAND] [--seeds N]

A replay takes the law from a scenario. So this writes each scenario once for each law, and replays the copies. A controller is
compared with controllers, and an AQM with AQMs.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAWS = (
    "newreno cubic highspeed scalable vegas dctcp bbr bbr3 fast leadlag ccp ccpd illinois westwood ledbat ledbat-pp copa"
    " allegro vivace prague nada"
).split()
# Without `clcc`: it needs classes with a share.
AQMS = "droptail red wred pi avq price rem codel cobalt fq-codel pie fq-pie pi2 dualpi2 ramp bat aimd".split()
# Tables instead of names: by default NADA is a call of at most 1.5 Mbit/s, and lead-lag stands still without marks.
TABLES = {
    "nada": '{ law = "nada", max_rate = "200 Mbit/s" }',
    "leadlag": '{ law = "leadlag", signal = "delay" }',
}


def with_law(text, law):
    """A scenario with another law in its groups under test, or with another AQM."""
    section, lines = "", []
    table = TABLES.get(law, f'{{ law = "{law}" }}')
    for line in text.splitlines():
        section = line.strip("[] ") if line.startswith("[") else section
        if law in AQMS:
            if line.startswith("aqm = ") and section == "links.bottleneck":
                line = "aqm = " + table
        elif line.startswith("cc = ") and (section == "defaults.flows" or section.startswith("flows.test")):
            line = "cc = " + table
        lines.append(line)
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*")
    options.add_argument("--penstock", default=str(ROOT / "target/release/penstock"))
    options.add_argument("--seeds", type=int, default=5)
    options = options.parse_args()
    names = options.names or sorted(p.name.removesuffix(".bounds.toml") for p in ROOT.glob("failures/*.bounds.toml"))
    for name in names:
        bounds = tomllib.loads((ROOT / f"failures/{name}.bounds.toml").read_text())
        text = (ROOT / f"failures/{name}.toml").read_text()
        objective = bounds["objective"]
        if not re.search(r"^\[flows\.test", text, re.M):
            print(f"{name}: {objective}: not compared")
            continue
        with tempfile.TemporaryDirectory() as folder:
            aqm = bounds["law"] in AQMS
            for law in AQMS if aqm else LAWS:
                (pathlib.Path(folder) / f"{law}.toml").write_text(with_law(text, law))
                lines = ["format = 1", f'law = "{law}"', f'objective = "{objective}"', f"seeds = {options.seeds}"]
                lines += ["[measure]", "is = 0.0", "at_least = 0.0"]
                # The score of `loss` goes by what NewReno loses, or drop-tail. That of `coexist` takes the law of the incumbents alone.
                other = next(iter(bounds["references"])) if objective == "coexist" else "droptail" if aqm else "newreno"
                lines += [f"[references.{other}]", "at_least = 0.0"]
                (pathlib.Path(folder) / f"{law}.bounds.toml").write_text("\n".join(lines) + "\n")
            command = [options.penstock, "break", "--replay", folder, "--json", "--jobs", "1"]
            rows = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
        having, others = [], []
        for row in rows:
            if "threshold" in row:
                law, m = pathlib.Path(row["file"]).stem, row["measured"]
                shown = f"{law} {'none' if m is None else format(m, '.3g')}"
                (having if row.get("score", 0) >= row["threshold"] else others).append(shown)
        print(f"{name}: {objective} of {bounds['law']}\n  have it: {', '.join(having)}\n  do not: {', '.join(others)}", flush=True)


if __name__ == "__main__":
    main()
