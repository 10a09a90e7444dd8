"""How long commands take to answer, in CPU time, beside the import of polars alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from base.paths import ROOT
from base.run_folder.folder import MANIFEST
from quality.speeds.cpu import cpu_s

ALLOCATORS = ("tlsf", "seglist")
COMMANDS = (
    "--help",
    "list",
    "heap list",
    "wiring plan --board nucleo",
    "masks {elf} --until 100ms",
    "gate --baseline {folder}/baseline.toml {tlsf}",
    "compare {tlsf} {seglist}",
    "scenario mem_frag --allocator tlsf --runs {folder}/more",
    "demo",
)
"""From what answers from files of names, and needs no table, to what runs four times and draws."""


def measure(repeats: int) -> Mapping[str, str]:
    """By command the median of its CPU time with that of its children, and its ratio to that of
    importing polars.
    """
    polars_s = median(_answer_s([sys.executable, "-c", "import polars"]) for _ in range(repeats))
    figures = {"import polars": f"{polars_s:.2f} s of CPU, median of {repeats}"}
    with TemporaryDirectory() as folder:
        places = _prepared(Path(folder))
        for words in COMMANDS:
            line = _line(words.format(**places))
            answer_s = median(_answer_s(line) for _ in range(repeats))
            figures[words] = f"{answer_s:.2f} s, {answer_s / polars_s:.2f} times"
    return figures


def _prepared(folder: Path) -> Mapping[str, Path]:
    """A small program, a run on each allocator, and a baseline of the first."""
    from firmware.build.image import BuildSpec, make

    elf = make(BuildSpec.of(ALLOCATORS[0])).elf
    _answer_s(_line(f"scenario mem_frag --allocator {','.join(ALLOCATORS)} --runs {folder}/runs"))
    runs = {name: next(folder.glob(f"runs/*-{name}-*/{MANIFEST}")).parent for name in ALLOCATORS}
    _answer_s(_line(f"gate --baseline {folder}/baseline.toml --update {runs[ALLOCATORS[0]]}"))
    return {"elf": elf, "folder": folder, **runs}


def _line(words: str) -> Sequence[str]:
    return (sys.executable, "-m", "cli", *words.split())


def _answer_s(command: Sequence[str]) -> float:
    """Raises CalledProcessError only where the command could not do its work: a status of 1 is an
    answer.
    """

    def run() -> None:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):
            done.check_returncode()

    return cpu_s(run)
