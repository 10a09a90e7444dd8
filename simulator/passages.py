"""When marked instructions execute: `virtual-nucleo run --mark`.

See docs/reference/simulator-files.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from base.processes import signals
from simulator.build import build
from simulator.ending import run_to_end
from simulator.outputs import Stats, hexadecimal, read_stats, read_table
from simulator.program import UserProgram
from simulator.run import Instant, instant

MOST_MARKS = 127
"""So many addresses can be marked in one run."""
_MARKS, _STATS = "marks.csv", "stats.json"
_COLUMNS = ("mark", "cycle", "end_cycle", "exception", "sp", "end_sp", "next_pc", "task")


@dataclass(frozen=True)
class Passages:
    """When the marked instructions executed, by `cycle`.

    `rows`: `address`, `cycle`, `end_cycle`, `exception`, `sp`, `end_sp`, `next_pc` and `task`, all
    Int64; the last is null where FreeRTOS runs no task. `ended` says why the run ended early.
    """

    stats: Stats
    rows: pl.DataFrame
    ended: str


def run(program: UserProgram, addresses: Iterable[int], until: Instant) -> Passages:
    """Runs the program from reset up to `until`, and notes each execution of these instructions.

    What the program does that is not modelled ends it early. Raises SimulatorError if it cannot run
    at all.
    """
    places = ",".join(f"{address:#010x}" for address in sorted(set(addresses)))
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-marks-") as name:
        folder = Path(name)
        command: list[str | Path] = [build(), "run", *program.arguments, "--until", instant(until)]
        command += ["--mark", f"pc:{places}", "--marks", _MARKS, "--stats", _STATS]
        ended = run_to_end(command, folder / _STATS)
        return Passages(read_stats(folder / _STATS), _read(folder / _MARKS), ended)


def _read(path: Path) -> pl.DataFrame:
    found = read_table(path, _COLUMNS).select(
        hexadecimal("mark").alias("address"),
        *(pl.col(name).cast(pl.Int64) for name in ("cycle", "end_cycle", "exception")),
        *(hexadecimal(name) for name in ("sp", "end_sp", "next_pc", "task")),
    )
    return found.sort("cycle", maintain_order=True)
