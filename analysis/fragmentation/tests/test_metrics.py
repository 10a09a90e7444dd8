"""The figures of a replay: worked out by hand, and by a
model of the heap that shares no code with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from analysis.fragmentation.metrics import least_bytes, metrics, smallest_heap
from analysis.fragmentation.tests import models
from analysis.fragmentation.tests.conftest import (
    random_operations,
    trace_of,
)
from base.paths import ROOT
from firmware.build import host_heap
from firmware.build.host_heap import NOTHING_TO_FREE, Replay
from scenarios import catalogue
from scenarios.trace import of_steps

OUT_OF_MEMORY = 1


def made(rows: list[tuple[int, int, int, int]]) -> Replay:
    """A replay with these rows of status, begin, end, largest free block. The metrics look at
    nothing else.
    """
    return Replay(0, 16, 1, 0, *np.array([(*row, 0, 0) for row in rows], dtype=np.uint32).T)


def test_the_figures_are_those_worked_out_by_hand() -> None:
    operations = trace_of([("a", 1, 100), ("a", 2, 60), ("f", 1, 0), ("a", 3, 20), ("f", 2, 0)]).operations
    replay = made(
        [(0, 0, 120, 880), (0, 120, 200, 800), (0, 0, 120, 0), (0, 200, 240, 760), (0, 120, 200, 0)]
    )
    figures = metrics(operations, replay)
    # live 100, 160, 60, 80, 20; used 120, 200, 200, 240, 240
    assert (figures.peak_live_bytes, figures.peak_live_blocks, figures.used_bytes) == (160, 2, 240)
    assert figures.johnstone == pytest.approx(
        ((120 / 100 + 200 / 160 + 200 / 60 + 240 / 80 + 240 / 20) / 5, 200 / 160, 240 / 80, 240 / 160)
    )
    assert figures.fragmentation_percent == pytest.approx(50)
    assert (figures.sbbm_bytes, figures.failures) == (760, 0)


def test_what_was_refused_is_neither_live_nor_used() -> None:
    operations = trace_of([("a", 1, 100), ("a", 2, 900), ("f", 2, 0), ("r", 1, 500), ("f", 1, 0)]).operations
    refused, nothing = (OUT_OF_MEMORY, 0, 0, 40), (NOTHING_TO_FREE, 0, 0, 0)
    figures = metrics(operations, made([(0, 8, 128, 40), refused, nothing, refused, (0, 8, 128, 0)]))
    assert (figures.failures, figures.peak_live_bytes, figures.used_bytes) == (2, 100, 120)


def test_the_least_heap_holds_payloads_and_headers() -> None:
    operations = trace_of([("a", 1, 100), ("a", 2, 60), ("r", 1, 10), ("f", 2, 0), ("a", 3, 30)]).operations
    assert least_bytes(operations, 4) == 168


@dataclass(frozen=True)
class LayerCase:
    """The block layer with a header, on an index, and its model over a region of so many bytes."""

    allocator: str
    header: int

    @property
    def knobs(self) -> dict[str, int]:
        return {"HDR": self.header}

    def model(self, heap_bytes: int) -> models.BlockLayer:
        smallest = 24 if self.header == 16 else 16
        margin = 4 if self.header == 4 else 0
        return models.BlockLayer(heap_bytes, self.allocator == "best_fit", self.header, smallest, margin)


LAYERS = [LayerCase(allocator, header) for allocator in ("first_fit", "best_fit") for header in (16, 8, 4)]


@pytest.mark.parametrize("case", LAYERS, ids=str)
def test_the_cost_metric_is_the_first_size_that_serves_the_model(case: LayerCase, tmp_path: Path) -> None:
    operations = random_operations(11, 120, 200, 12)
    wanted = models.cost_metric(operations, case.model, limit=8000)
    trace = trace_of(operations).operations
    file = host_heap.write(trace, tmp_path / "operations")
    metric = smallest_heap(case.allocator, case.knobs, file, least_bytes(trace, case.header))
    assert metric.smallest_bytes == wanted
    sizes = range(wanted + 8, metric.looked_up_to_bytes + 1, 8)
    assert list(metric.failing_above_bytes) == [
        size for size in sizes if models.served(operations, case.model(size)) is None
    ]


def test_mem_stress_spreads_over_its_pools_as_the_page_says(tmp_path: Path) -> None:
    """By hand: 4,096 and 2,048 bytes are asked of nobody, so the first block has 1,024. Behind it
    lie 60 - 8 KiB of larger blocks, and then the 8 blocks of 16 bytes that live at once.
    """
    scenario = catalogue.load("mem_stress")
    trace = of_steps(scenario.name, scenario.generator.steps(), None).operations
    file = host_heap.write(trace, tmp_path / "operations")
    programs = (host_heap.build(name, 65_536) for name in ("pool", "tlsf"))
    pool, tlsf = (metrics(trace, host_heap.run(program, file, 65_536)) for program in programs)
    assert pool.used_bytes == (60 - 8) * 1024 + 8 * 16
    page = " ".join((ROOT / "docs/reference/allocators.md").read_text(encoding="utf-8").split())
    assert (
        f"mem_stress has {pool.peak_live_bytes:,} bytes live and spreads them over {pool.used_bytes:,}, "
        f"TLSF over {tlsf.used_bytes:,}."
    ) in page
