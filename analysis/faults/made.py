"""Healthy runs to plant faults in, made on the virtual board and kept nowhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

from analysis.faults.planting import Healthy, healthy
from capture import conductor
from capture.redecode import read_stored
from firmware import build as firmware
from scenarios import catalogue

ALLOCATOR = "seglist"
BOARD = "virtual"
# Small ones: a fault costs as much time as the run has edges.
SCENARIOS: dict[str, dict[str, str | int]] = {
    "mem_stress": {"operations": 600},
    "mem_frag": {"depth": 32},
    "latency_sweep": {"depth": 32, "depths": 2, "fine_cycles": 128},
}
SAMPLERATES_HZ = (84_000_000, 24_000_000)


def make(progress: Callable[[str], None] = lambda _: None) -> list[Healthy]:
    """Runs each of SCENARIOS at each of SAMPLERATES_HZ, records by the serial line.

    Raises TailscopeError where a run cannot be made, and FaultError where one is not complete.
    """
    image = firmware.build(ALLOCATOR)
    runs = []
    for (scenario, parameters), samplerate_hz in product(SCENARIOS.items(), SAMPLERATES_HZ):
        name = f"{scenario} at {samplerate_hz // 1_000_000} MS/s"
        progress(f"making a run: {name}")
        plan = catalogue.load(scenario, parameters).compile()
        with tempfile.TemporaryDirectory() as folder:
            result = conductor.run(plan, image, BOARD, samplerate_hz, Path(folder))
            runs.append(healthy(name, read_stored(result.folder)))
    return runs
