"""Few live bytes, spread as far as a search could: the traces of scenarios/found, replayed."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from base import heap_size
from base.paths import ROOT
from firmware.build import host_heap
from scenarios import trace as traces
from scenarios.trace import FREE, KIND, SLOT

_FOUND = "scenarios/found"


@dataclass(frozen=True)
class Spread:
    """The allocator whose worst trace of space is replayed."""

    SOURCES: ClassVar[tuple[str, ...]] = ("firmware", "scenarios", "studies/reproduce/spread.py")

    allocator: str

    def __str__(self) -> str:
        return f"the worst spread on {self.allocator}"

    def measure(self) -> pl.DataFrame:
        """One row of bytes, headers included: `used`, from the lowest byte of any block to the
        highest; `peak_live`, the most that live blocks took at a time; `largest`, of one block.
        Raises HostHeapError, DocumentError.
        """
        found = traces.read(ROOT / _FOUND / f"{self.allocator}-fragmentation.csv")
        program = host_heap.build(self.allocator, heap_size.DEFAULT_BYTES)
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            file = host_heap.write(found.operations, Path(folder) / "operations")
            replay = host_heap.run(program, file, heap_size.DEFAULT_BYTES)
        taken = replay.end.astype(np.int64) - replay.begin
        live: dict[int, int] = {}
        peak = 0
        slots, kinds = (found.operations[:, column].tolist() for column in (SLOT, KIND))
        for slot, kind, bytes_, status in zip(
            slots, kinds, taken.tolist(), replay.status.tolist(), strict=True
        ):
            if status == 0:
                live.pop(slot, None)
                live |= {} if kind == FREE else {slot: bytes_}
            peak = max(peak, sum(live.values()))
        served = (replay.status == 0) & (found.operations[:, KIND] != FREE)
        used = int(replay.end[served].max()) - int(replay.begin[served].min())
        return pl.DataFrame({"used": [used], "peak_live": [peak], "largest": [int(taken[served].max())]})
