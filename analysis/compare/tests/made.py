"""Run folders for tests: a list of operations each, so that what differs is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from base.run_folder.folder import PLACEMENTS
from base.run_folder.placements import Measured, Placements
from dashboards.tests import synthetic
from dashboards.tests.synthetic import Operation

VIRTUAL = {"tools": {"virtual_nucleo": "0.1.0", "python": "3.11.7"}}
FIRMWARE = {"elf_sha256": "ab" * 32, "kernel": "V11.2.0", "heap_bytes": 65_536, "core_hz": synthetic.RATE_HZ,
            "flash_acr": "00000702", "free_blocks_at_start": 1, "kernel_calls": False}  # fmt: skip
"""What run.json has of the firmware."""

OPERATIONS = (
    Operation("A", 100, probes=3, cycles=400),
    Operation("A", 200, probes=5, cycles=600),
    Operation("F", 100, probes=0, cycles=190),
    Operation("A", 64, probes=2, cycles=350),
    Operation("F", 200, probes=0, cycles=210),
)


def with_cycles(changes: Mapping[int, int], of: Sequence[Operation] = OPERATIONS) -> list[Operation]:
    """The operations, some of them so many cycles longer."""
    return [
        replace(operation, cycles=operation.cycles + changes.get(seq, 0)) for seq, operation in enumerate(of)
    ]


def write(
    runs: Path,
    operations: Sequence[Operation] = OPERATIONS,
    *,
    exact: bool = True,
    scenario: str = "made",
    allocator: str = "seglist",
    verdict: str = "complete",
    reasons: tuple[str, ...] = (),
    board: str = "virtual",
    changes: Mapping[str, Any] | None = None,
) -> Path:
    """A run folder in `runs`, of the virtual board or of another."""
    settings = {**(VIRTUAL if exact else {}), **(changes or {})}
    return synthetic.write_run(
        runs,
        scenario,
        allocator,
        list(operations),
        verdict=verdict,
        reasons=reasons,
        board=board,
        changes=settings,
    )


def place(folder: Path, *critical_ns: float) -> Path:
    """The run in `folder` with placements of these longest critical sections."""
    measured = [
        Measured(
            number=number,
            rest_bytes=0,
            heap_bytes=4 * number,
            elf_sha256="0" * 64,
            verdict="complete",
            reasons=[],
            greatest={"critical_ns": value},
        )
        for number, value in enumerate(critical_ns)
    ]
    content = Placements.of(measured).model_dump(mode="json", by_alias=True)
    (folder / PLACEMENTS).write_text(json.dumps(content), encoding="utf-8")
    return folder
