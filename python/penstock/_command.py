"""The command ``penstock``."""

from __future__ import annotations

import sys

from penstock import _native


def main() -> int:
    """Run the command with the arguments of this process, and return its exit status."""
    return _native.command(["penstock", *sys.argv[1:]])
