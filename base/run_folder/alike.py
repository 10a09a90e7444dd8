"""Which runs were asked for alike, and which of them is the latest (docs/reference/alike.md)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from .manifest import Manifest

# A trace's file may lie elsewhere; its digest is another parameter.
_TRACE, _TRACE_DIGEST = "trace", "trace_sha256"
_BEGAN = re.compile(r"(\d{8}T\d{6}Z)-.*?(?:-(\d+))?")

Run = TypeVar("Run")


def options_of(manifest: Manifest) -> str:
    """A digest of what the user chose: two runs with equal options are the same measurement, made
    twice.

    What the sources decide is not among it: compiler, firmware, the file of an allocator from
    outside, defaults of knobs, FLASH_ACR's wait states. How the board was had is: simulated, or
    from another tool's capture.
    """
    asked, heap_bytes = manifest.asked, manifest.firmware.heap_bytes
    chosen = (
        *(manifest.scenario, manifest.allocator, manifest.seed, manifest.stimulus.model_dump()),
        *(sorted(parameters_of(manifest).items()), sorted(manifest.turned_knobs.items())),
        *(asked.heap_bytes if heap_bytes is None else heap_bytes, manifest.locking or asked.locking),
        *(manifest.built_accelerated, asked.optimization, manifest.records, manifest.samplerate_hz),
        *(manifest.board, manifest.board_folder, manifest.exact, manifest.imported is not None),
    )
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()


def parameters_of(manifest: Manifest) -> dict[str, int | str]:
    """The parameters that decide the operations."""
    return {
        name: value
        for name, value in manifest.parameters.items()
        if name != _TRACE or _TRACE_DIGEST not in manifest.parameters
    }


def began(name: str) -> tuple[str, int]:
    """When the run of the folder `name` began, in an order; a name without a time is older than
    all. Of one second the greater number behind the name is the later.
    """
    match = _BEGAN.fullmatch(name)
    return (match[1], int(match[2] or 1)) if match else ("", 0)


def latest(runs: Iterable[Run], options: Callable[[Run], Hashable], name: Callable[[Run], str]) -> list[Run]:
    """For each group of runs with equal `options`, the one that began last, in order of start.

    `name` gives that of a run's folder.
    """

    def start(run: Run) -> tuple[str, int]:
        return began(name(run))

    return sorted({options(run): run for run in sorted(runs, key=start)}.values(), key=start)
