"""What the instruments themselves cost: the same operations on builds without some of them.

A build without pins has no window to count in. So each build runs the same image twice, until its operations
begin and until they have ended: the difference is theirs alone. These builds are without records, since
waiting for the serial line would swallow whatever else differs. What records do to an operation they follow
is read off the pulses of OP.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from capture.reading.probes import PULSES_BEFORE
from firmware import build as firmware
from scenarios.operations import Allocate, Free, Image, Operation, encode
from scenarios.stimulus import NO_STIMULUS
from simulator import build as simulator

PAIRS = 200
BLOCK_BYTES = 120
VARIANTS: tuple[tuple[str, ...], ...] = ((), ("pins",), ("dwt",), ("pins", "dwt"))
STOPPED = 4  # exit status of --stop-on
COUNTED = ("--count", "instructions=*", "--count-window", "OP")


@dataclass(frozen=True)
class Cost:
    """What an allocation and its free take on one build, the interpreter around them included."""

    allocator: str
    without: tuple[str, ...]
    instructions: float
    cycles: float


def measure(allocator: str) -> list[Cost]:
    """One row per variant, the whole instrumentation first."""
    return [_cost(allocator, without) for without in VARIANTS]


def _cost(allocator: str, without: tuple[str, ...]) -> Cost:
    elf = firmware.build(allocator, without=(*without, "records")).elf
    begin, end = (_run(elf, place) for place in ("interpret", "stimulus_stop"))
    per_pair = [(after - before) / PAIRS for before, after in zip(begin, end, strict=True)]
    return Cost(allocator, without, *per_pair)


def _run(elf: Path, place: str) -> tuple[int, int]:
    """Instructions and cycles from reset to `place` in the code."""
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        _simulate(elf, place, Path(folder), "--stats", str(stats))
        found = json.loads(stats.read_text(encoding="utf-8"))
    return int(found["instructions"]), int(found["cycles"])


def _simulate(elf: Path, place: str, folder: Path, *options: str) -> None:
    """Runs the operations up to `place` in the code. Raises BuildError where it is not reached."""
    operations: tuple[Operation, ...] = (Allocate(0, BLOCK_BYTES), Free(0)) * PAIRS
    image = folder / "operations.bin"
    image.write_bytes(encode(Image("perturbation", NO_STIMULUS, operations)))
    command: list[str | Path] = [
        simulator.build(),
        "run",
        elf,
        "--image",
        f"{image}@0x08040000",
        "--until",
        "2s",
    ]
    command += ["--stop-on", f"pc:{place}", *options]
    finished = subprocess.run(command, capture_output=True, check=False)
    if finished.returncode != STOPPED:
        raise simulator.BuildError(f"{elf} did not reach {place}: {finished.stderr.decode().strip()}")


def width(allocator: str, records: bool) -> float:
    """Core cycles of a pulse of OP, the mean over all operations, with their records or without."""
    elf = firmware.build(allocator, without=() if records else ("records",)).elf
    with tempfile.TemporaryDirectory() as folder:
        windows = Path(folder) / "windows.csv"
        _simulate(elf, "stimulus_stop", Path(folder), *COUNTED, "--windows", str(windows))
        with windows.open(newline="") as rows:
            pulses = [int(row["end_cycle"]) - int(row["start_cycle"]) for row in csv.DictReader(rows)]
    return mean(pulses[PULSES_BEFORE : PULSES_BEFORE + 2 * PAIRS])


def table(allocators: tuple[str, ...] = ("seglist", "tlsf")) -> str:
    """The two tables of docs/PERTURBATION.md."""
    lines = ["| allocator | build | instructions | cycles | cycles less |", "|---|---|---|---|---|"]
    for allocator in allocators:
        costs = measure(allocator)
        for cost in costs:
            name = f"without {' and '.join(cost.without)}" if cost.without else "pins and dwt"
            less = costs[0].cycles - cost.cycles
            numbers = f"{cost.instructions:.1f} | {cost.cycles:.1f} | {less:.1f}"
            lines.append(f"| {allocator} | {name} | {numbers} |")
    lines += ["", "| allocator | OP with records, cycles | OP without |", "|---|---|---|"]
    for allocator in allocators:
        lines.append(f"| {allocator} | {width(allocator, True):.1f} | {width(allocator, False):.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
