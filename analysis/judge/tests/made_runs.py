"""Run folders for tests of the gate: lists of operations, so that what differs is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis.compare.tests import made
from base.run_folder import folder as names
from dashboards.tests.synthetic import Operation

IMAGE = b"the operations of these tests"


def write(
    runs: Path,
    operations: Sequence[Operation] = made.OPERATIONS,
    *,
    exact: bool = True,
    build: str = "ab",
    compiler: str = "GCC: 12.2.1",
    image: bytes = IMAGE,
    scenario: str = "made",
    verdict: str = "complete",
    reasons: tuple[str, ...] = (),
    board: str = "virtual",
    changes: Mapping[str, object] | None = None,
) -> Path:
    """A run of `operations`; `build` are the first digits of its firmware's digest."""
    tools = {"compiler": compiler, **({"virtual_nucleo": "0.1.0"} if exact else {"pyocd": "0.46.0"})}
    firmware = {**made.FIRMWARE, "elf_sha256": build.ljust(64, "0")}
    folder = made.write(
        runs,
        operations,
        exact=exact,
        scenario=scenario,
        verdict=verdict,
        reasons=reasons,
        board=board,
        changes={"tools": tools, "firmware": firmware, **(changes or {})},
    )
    (folder / names.IMAGE).write_bytes(image)
    return folder


def ramp(depths: int = 60) -> list[Operation]:
    """At each depth a free and an allocation, which takes longer the deeper it is."""
    return [
        Operation(kind, 96, depth * (kind == "A"), 200 + 10 * depth * (kind == "A"), label=f"depth {depth}")
        for depth in range(depths)
        for kind in "AF"
    ]


def noisy(operations: Sequence[Operation], seed: int, spread: int = 3) -> list[Operation]:
    """The same operations on a board whose cycles scatter by up to `spread` to either side."""
    drawn = np.random.default_rng(seed).integers(-spread, spread + 1, len(operations))
    return [
        replace(operation, cycles=operation.cycles + int(by))
        for operation, by in zip(operations, drawn, strict=True)
    ]
