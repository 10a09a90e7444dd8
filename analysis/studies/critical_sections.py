"""What each critical section took on the virtual board: cycles, and instructions counted from outside."""

from __future__ import annotations

import csv
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from capture.reading.probes import PULSES_BEFORE
from firmware import build as firmware
from simulator import build as simulator

_OPERATIONS_AT = "0x08040000"
_RUN_FOR = "60s"
_COUNT = ("--count", "instructions=*", "--count-window", "CRIT")


@dataclass(frozen=True)
class CriticalSection:
    """Of one operation. `kind` as in the OP record: A allocated, O out of memory, F freed, E refused."""

    kind: str
    cycles: int
    instructions: int


def run(allocator: str, image: bytes, art: bool = True) -> list[CriticalSection]:
    """Runs an operation image (docs/SPEC.md, section 3) in which nothing is freed that was not allocated; one
    result for each operation. Raises BuildError, ValueError where the run does not come to its end.
    """
    elf = firmware.build(allocator, art=art).elf
    with tempfile.TemporaryDirectory() as folder:
        operations, log, windows = (
            Path(folder, name) for name in ("operations.bin", "uart.txt", "windows.csv")
        )
        operations.write_bytes(image)
        command: list[str | Path] = [
            simulator.build(),
            "run",
            elf,
            "--image",
            f"{operations}@{_OPERATIONS_AT}",
        ]
        command += [*_COUNT, "--windows", windows, "--until", _RUN_FOR, "--uart-log", log]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        records = [line.split("*")[0].split(",") for line in log.read_text(encoding="ascii").splitlines()]
        with windows.open(encoding="ascii") as file:
            pulses = list(csv.DictReader(file))[PULSES_BEFORE:]
    if "@END" not in {record[0] for record in records}:
        raise ValueError(f"The run on {allocator} does not end within {_RUN_FOR}.")
    # An operation without a heap call has no critical section.
    called = [(record[2], int(record[4])) for record in records if record[0] == "@OP" and record[2] != "N"]
    found = zip(called, pulses, strict=False)
    return [CriticalSection(kind, cycles, int(pulse["instructions"])) for (kind, cycles), pulse in found]


def worst(sections: list[CriticalSection], kind: str) -> CriticalSection:
    """The one of most cycles; refused allocations count as allocations."""
    kinds = "AO" if kind == "A" else kind
    return max((one for one in sections if one.kind in kinds), key=lambda one: one.cycles)
