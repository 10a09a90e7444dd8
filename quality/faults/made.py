"""Healthy runs to plant faults in, made on the virtual board and kept nowhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.acquisition.stored import read_stored
from capture.conduct import run
from firmware.build import image as firmware
from quality.faults.planting import Healthy, healthy
from scenarios import catalogue
from simulator import build as simulator

BOARD = "virtual"
_AT_LEAST_S = 2.0


@dataclass(frozen=True)
class Recipe:
    """A run of `scenario`, small, since a fault costs as much time as the run has edges."""

    scenario: str
    samplerate_hz: int
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    stimulus: str | None = None
    records: str = "uart"
    allocator: str = "seglist"
    heap_bytes: int | None = None

    def __str__(self) -> str:
        words = [f"{self.scenario} on {self.allocator} at {self.samplerate_hz // 1_000_000} MS/s"]
        words += [f"stimulus {self.stimulus}"] if self.stimulus else []
        words += ["records by RTT"] if self.records == "rtt" else []
        return ", ".join(words)


_STRESS: Mapping[str, str | int] = {"operations": 600}
_FRAG: Mapping[str, str | int] = {"depth": 32}
_SWEEP: Mapping[str, str | int] = {"depth": 32, "depths": 2, "fine_cycles": 128}
RECIPES = (
    Recipe("mem_stress", 84_000_000, _STRESS),
    Recipe("mem_stress", 24_000_000, _STRESS),
    Recipe("mem_stress", 84_000_000, _STRESS, stimulus="random:7001,7919,11"),
    Recipe("mem_stress", 24_000_000, _STRESS, stimulus="burst:9001,7919,700"),
    Recipe("mem_frag", 84_000_000, _FRAG),
    Recipe("mem_frag", 24_000_000, _FRAG),
    Recipe("mem_frag", 200_000_000, _FRAG),
    Recipe("mem_frag", 84_000_000, _FRAG, records="rtt"),
    Recipe("latency_sweep", 84_000_000, _SWEEP),
    Recipe("latency_sweep", 24_000_000, _SWEEP),
    Recipe("kernel_masking", 84_000_000, {"depth": 4, "rounds": 12}),
    # Requests are refused and tried again, and what is behind the end is skipped.
    Recipe("until_full_aligned", 84_000_000, {"requests": 120}, allocator="tlsf", heap_bytes=4096),
    # The virtual board counts the probes, which heap_4 does not.
    Recipe("recorded_dash", 24_000_000, {"scale": 20}, allocator="heap_4"),
)
"""Every way to drive heap, stimulus and transport, above the core clock, at it and below."""


def make(progress: Callable[[str], None] = lambda _: None) -> list[Healthy]:
    """Makes the run of each recipe, in order.

    Raises TailscopeError where a run cannot be made, and FaultError where one is not complete.
    """
    simulator.build()
    runs = []
    for recipe in RECIPES:
        progress(f"making a run: {recipe}")
        plan = catalogue.load(
            recipe.scenario, recipe.parameters, stimulus=recipe.stimulus, heap_bytes=recipe.heap_bytes
        ).compile()
        image = firmware.build(recipe.allocator, kernel_calls=plan.calls_kernel, heap_bytes=plan.heap_bytes)
        with tempfile.TemporaryDirectory() as folder:
            request = RunRequest(
                plan,
                image,
                BOARD,
                recipe.samplerate_hz,
                runs=Path(folder),
                # A debugger reads more slowly than the serial line sends.
                duration_s=_AT_LEAST_S if recipe.records == "rtt" else None,
                records=recipe.records,
            )
            runs.append(healthy(str(recipe), read_stored(run(Sigrok(request)).folder)))
    return runs
