"""Which runs were asked for alike, and which of them is the latest (docs/reference/alike.md)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import astuple, dataclass
from typing import TypeVar

from .manifest import Manifest

# A trace's file may lie elsewhere; its digest is another parameter.
_TRACE, _TRACE_DIGEST = "trace", "trace_sha256"
_BEGAN = re.compile(r"(\d{8}T\d{6}Z)-.*?(?:-(\d+))?")

Run = TypeVar("Run")


@dataclass(frozen=True)
class Options:
    """What the user chose: two runs with equal options are the same measurement, made twice.

    What the sources decide is not among it: compiler, firmware, the file of an allocator from
    outside, defaults of knobs, FLASH_ACR's wait states. `operated` says how the board was had:
    simulated, or from another tool's capture.
    """

    scenario: str
    allocator: str
    parameters: tuple[tuple[str, int | str], ...]
    seed: int | None
    stimulus: tuple[Hashable, ...]
    heap_bytes: int | None
    knobs: tuple[tuple[str, str], ...]
    locking: str | None
    accelerated: bool
    optimization: str | None
    records: str
    samplerate_hz: int
    board: str
    board_folder: str
    operated: tuple[bool, bool]

    @classmethod
    def of(cls, manifest: Manifest) -> Options:
        """The options of the run."""
        heap_bytes = manifest.firmware.heap_bytes
        stimulus = manifest.stimulus
        return cls(
            scenario=manifest.scenario,
            allocator=manifest.allocator,
            parameters=tuple(sorted(parameters_of(manifest).items())),
            seed=manifest.seed,
            stimulus=(
                stimulus.mode,
                stimulus.period_ticks,
                stimulus.control_period_ticks,
                stimulus.parameter,
            ),
            heap_bytes=manifest.asked.heap_bytes if heap_bytes is None else heap_bytes,
            knobs=tuple(sorted(manifest.turned_knobs.items())),
            locking=manifest.locking or manifest.asked.locking,
            accelerated=manifest.built_accelerated,
            optimization=manifest.asked.optimization,
            records=manifest.records,
            samplerate_hz=manifest.samplerate_hz,
            board=manifest.board,
            board_folder=manifest.board_folder,
            operated=(manifest.exact, manifest.imported is not None),
        )

    @property
    def sha256(self) -> str:
        """A digest, equal where the options are."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()


def parameters_of(manifest: Manifest) -> dict[str, int | str]:
    """The parameters that decide the operations."""
    digest_is_told = _TRACE_DIGEST in manifest.parameters
    return {
        name: value for name, value in manifest.parameters.items() if not (name == _TRACE and digest_is_told)
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
    by_options: dict[Hashable, Run] = {}
    for run in sorted(runs, key=lambda run: began(name(run))):
        chosen = options(run)
        by_options.pop(chosen, None)
        by_options[chosen] = run
    return list(by_options.values())
