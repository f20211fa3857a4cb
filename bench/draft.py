#!/usr/bin/env python3
"""Makes an Internet-Draft of the page `evaluation.md` with kramdown-rfc and xml2rfc, and fails at any warning of either.

    python3 bench/draft.py out/evaluation-fast-quick/evaluation.md

Debian has kramdown-rfc as `ruby-kramdown-rfc2629`, PyPI has xml2rfc. The draft is text in a temporary directory, and its last line
on standard output is the number of its pages.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# A draft of which the page is the only section; references would be fetched from the network.
FRONT = """---
title: "Evaluation of a congestion control"
abbrev: "Evaluation"
docname: draft-example-evaluation-00
category: info
ipr: trust200902
submissiontype: IETF
author:
 -
    fullname: A. Author
    organization: Example
    email: author@example.com

--- abstract

The criteria of RFC 9743, measured.

--- middle

"""


def run(command, folder, output=None):
    """Runs a command and gives what it complains about."""
    with open(output or "/dev/null", "wb") as out:
        done = subprocess.run(command, cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if re.search("warning|error|No link|found on line", line, re.I)]
    if done.returncode != 0 or complaints:
        sys.exit("\n".join([f"{command[0]}: status {done.returncode}", *complaints]))


def main():
    """Makes the draft."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    page = Path(sys.argv[1]).resolve()
    for tool in ("kramdown-rfc2629", "xml2rfc"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not on the PATH; see the head of {sys.argv[0]}")
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "draft.md"
        draft.write_text(FRONT + page.read_text())
        run(["kramdown-rfc2629", "draft.md"], folder, draft.with_suffix(".xml"))
        run(["xml2rfc", "--text", "--no-network", "draft.xml"], folder)
        pages = re.findall(r"\[Page (\d+)\]", draft.with_suffix(".txt").read_text())
        print(f"{page.name}: no warnings, {pages[-1]} pages")


if __name__ == "__main__":
    main()
