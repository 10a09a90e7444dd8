"""How long commands take to answer, in CPU time, beside the import of polars alone."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from statistics import median

from base.paths import ROOT

COMMANDS = ("--help", "list", "heap list", "wiring plan --board nucleo")
"""What answers from files of names, and needs no table."""


def measure(repeats: int) -> Mapping[str, str]:
    """By command the median of its CPU time, and its ratio to that of importing polars."""
    polars_s = median(_cpu_s([sys.executable, "-c", "import polars"]) for _ in range(repeats))
    figures = {"import polars": f"{polars_s:.2f} s of CPU, median of {repeats}"}
    for words in COMMANDS:
        line = [sys.executable, "-m", "cli", *words.split()]
        cpu_s = median(_cpu_s(line) for _ in range(repeats))
        figures[words] = f"{cpu_s:.2f} s, {cpu_s / polars_s:.2f} times"
    return figures


def _cpu_s(command: Sequence[str]) -> float:
    """User and system time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
