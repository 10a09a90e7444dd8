"""How long commands take to answer, in CPU time, beside the import of polars alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median

from base.paths import ROOT
from quality.speeds.cpu import cpu_s

COMMANDS = ("--help", "list", "heap list", "wiring plan --board nucleo")
"""What answers from files of names, and needs no table."""


def measure(repeats: int) -> Mapping[str, str]:
    """By command the median of its CPU time, and its ratio to that of importing polars."""
    polars_s = median(_answer_s([sys.executable, "-c", "import polars"]) for _ in range(repeats))
    figures = {"import polars": f"{polars_s:.2f} s of CPU, median of {repeats}"}
    for words in COMMANDS:
        line = [sys.executable, "-m", "cli", *words.split()]
        answer_s = median(_answer_s(line) for _ in range(repeats))
        figures[words] = f"{answer_s:.2f} s, {answer_s / polars_s:.2f} times"
    return figures


def _answer_s(command: Sequence[str]) -> float:
    return cpu_s(partial(subprocess.run, command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True))
