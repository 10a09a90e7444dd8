"""The log of what holds interrupts off in FreeRTOS firmware, beside the wire, and what it costs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.explain.kernels import kernel as kernels
from analysis.explain.program import Program
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import build, run

OUTCOMES = ("edges.csv", "uart.log", "stats.json")
OF_THE_HOST = ("host_seconds", "mips")

CALIBRATION_PULSES = 24
"""Pulses on CRIT before operation 0, and as many after the last one (docs/reference/wire.md)."""

MOST_AROUND_CYCLES = 100
"""Between a lock and CRIT there are a call and the pin's own section (docs/design/README.md)."""


def simulate(folder: Path, elf: Path, image: bytes, *more: str) -> dict[str, Any]:
    """What a run leaves, by file, but for the host's time."""
    (folder / "operations.bin").write_bytes(image)
    board = [str(elf), "--image", run.image_argument(Path("operations.bin"), elf), "--until", "2s"]
    files = ["--edges", "edges.csv", "--uart-log", "uart.log", "--stats", "stats.json"]
    subprocess.run([build.build(), "run", *board, *files, *more], cwd=folder, check=True)
    left: dict[str, Any] = {name: (folder / name).read_bytes() for name in OUTCOMES}
    stats = json.loads(left["stats.json"])
    return {**left, "stats.json": {name: stats[name] for name in stats if name not in OF_THE_HOST}}


def intervals(changes: pl.DataFrame, what: str) -> pl.DataFrame:
    """From and to when `what` was not 0, each time, and the stack with which it began."""
    held = changes.filter(what=what).select("cycle", "stack", held=pl.col("value") != 0)
    turns = held.filter(pl.col("held") != pl.col("held").shift(fill_value=False))
    ends = turns.select("held", "stack", from_cycle="cycle", to_cycle=pl.col("cycle").shift(-1))
    return ends.filter("held").drop_nulls("to_cycle")


@pytest.mark.parametrize(("allocator", "what"), [("heap_4", "scheduler"), ("seglist", "basepri")])
def test_the_log_agrees_with_the_wire_and_is_free(tmp_path: Path, allocator: str, what: str) -> None:
    elf, image = firmware.build(allocator).elf, catalogue.load("mem_stress").compile().image
    kernel = kernels.find(Program(elf))
    assert kernel and kernel.name == "FreeRTOS"
    log = ("--masks", "masks.csv", "--mask-stacks", "stacks.csv", *kernel.words.arguments)
    assert simulate(tmp_path, elf, image) == simulate(tmp_path, elf, image, *log)

    changes = pl.read_csv(tmp_path / "masks.csv")
    edges = pl.read_csv(tmp_path / "edges.csv").filter(pin="PA8")
    pulses = edges.select("level", rise="cycle", fall=pl.col("cycle").shift(-1)).filter(level=1)
    operations = pulses[CALIBRATION_PULSES:-CALIBRATION_PULSES]
    assert operations.height == 1200
    inside = operations.join_asof(intervals(changes, what), left_on="rise", right_on="from_cycle")
    for around in (inside["rise"] - inside["from_cycle"], inside["to_cycle"] - inside["fall"]):
        assert (around > 0).all()
        # An interrupt may fall in between, where the lock holds only the scheduler.
        assert (around <= MOST_AROUND_CYCLES).sum() > 0.9 * around.len()

    program = Program(elf)
    stacks = pl.read_csv(tmp_path / "stacks.csv")
    for stack in inside["stack"].unique():
        series = stacks.filter(stack=stack)["pc"].str.strip_prefix("0x").str.to_integer(base=16)
        names = [
            getattr(program.function_at(pc - (depth > 0)), "name", "") for depth, pc in enumerate(series)
        ]
        assert {"heap_allocate", "heap_allocate_aligned", "heap_free"} & set(names), names
        assert names[-1] == "run_bench", names
