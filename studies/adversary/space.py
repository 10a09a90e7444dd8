"""How far a list of operations spreads its blocks, by a replay on this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

from analysis.fragmentation.metrics import metrics
from base import heap_size
from firmware.build import host_heap
from scenarios.trace import Trace
from studies.adversary.row import Space


def space(allocator: str, trace: Trace) -> Space:
    """The spread of the trace's blocks, by a replay that proves that none overlap.

    Raises HostHeapError.
    """
    program = host_heap.build(allocator, heap_size.DEFAULT_BYTES)
    with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        file = host_heap.write(trace.operations, Path(folder) / "operations")
        replay = host_heap.run(program, file, heap_size.DEFAULT_BYTES)
    figures = metrics(trace.operations, replay)
    ratio = figures.used_bytes / max(figures.peak_live_bytes, 1)
    return Space(trace.name, figures.used_bytes, figures.peak_live_bytes, ratio)
