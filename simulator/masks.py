"""What held interrupts off: `virtual-nucleo run --masks` (docs/reference/simulator-files.md)."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from base.processes import signals
from simulator.build import build
from simulator.ending import run_to_end
from simulator.outputs import Stats, read_changes, read_stacks, read_stats
from simulator.program import UserProgram
from simulator.run import Instant, image_argument, instant

_MASKS, _STACKS, _STATS, _IMAGE = "masks.csv", "stacks.csv", "stats.json", "operations.bin"


@dataclass(frozen=True)
class MaskRun:
    """What a run left behind.

    `changes` and `stacks` have the columns of outputs.read_changes() and outputs.read_stacks().
    `ended` is what the simulator says of an end that it was not asked for; else empty.
    """

    stats: Stats
    changes: pl.DataFrame
    stacks: pl.DataFrame
    ended: str


def run(program: UserProgram, until: Instant, image: bytes | None = None) -> MaskRun:
    """Runs a program from reset up to `until`, and keeps what held interrupts off.

    `image` lies where run.run() puts it. The run is the same as one without. What the program does
    that is not modelled ends it early. Raises SimulatorError if it cannot run at all.
    """
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-masks-") as name:
        folder = Path(name)
        command: list[str | Path] = [build(), "run", *program.arguments, "--until", instant(until)]
        if image is not None:
            (folder / _IMAGE).write_bytes(image)
            command += ["--image", image_argument(Path(_IMAGE))]
        command += ["--masks", _MASKS, "--mask-stacks", _STACKS, "--stats", _STATS]
        ended = run_to_end(command, folder / _STATS)
        return MaskRun(
            stats=read_stats(folder / _STATS),
            changes=read_changes(folder / _MASKS),
            stacks=read_stacks(folder / _STACKS),
            ended=ended,
        )
