"""The compiled scenarios must give the probe counts that a real F401 gave with both indexes.

The counts are the article's. article_heap is a model of the heap that they came from. A wrong size,
a free of the wrong block or a phase out of order changes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest

from scenarios import catalogue
from scenarios.tests.article_heap import ArticleHeap, Block, Index, Seglist, Tlsf

REGIONS_BYTES = (48 * 1024, 64 * 1024, 88 * 1024)  # the model gives these counts in all of them


def probes_by_operation(operations: pl.DataFrame, index: Index, region_bytes: int) -> list[int | None]:
    """The probes of each allocation, None for a free. Fails if an allocation finds no memory."""
    heap = ArticleHeap(index, region_bytes)
    live: dict[int, Block] = {}
    probes: list[int | None] = []
    for row in operations.iter_rows(named=True):
        if row["kind"] == "F":
            heap.release(live.pop(row["id"]))
            probes.append(None)
            continue
        block, count = heap.allocate(row["size"])
        assert block is not None
        live[row["id"]] = block
        probes.append(count)
    return probes


def nearest_rank(values: Sequence[int], share: float) -> int:
    return sorted(values)[math.ceil(share * len(values)) - 1]


@pytest.mark.parametrize("region_bytes", REGIONS_BYTES)
@pytest.mark.parametrize(("index", "expected"), [(Seglist, (1, 6, 8)), (Tlsf, (1, 2, 2))])
def test_mem_stress(index: type[Index], expected: tuple[int, int, int], region_bytes: int) -> None:
    operations = catalogue.load("mem_stress").compile().operations
    probes = [p for p in probes_by_operation(operations, index(), region_bytes) if p is not None]
    assert len(probes) == 617
    assert (nearest_rank(probes, 0.5), nearest_rank(probes, 0.99), max(probes)) == expected


@pytest.mark.parametrize("region_bytes", REGIONS_BYTES)
@pytest.mark.parametrize(("index", "expected"), [(Seglist, pl.col("depth") + 3), (Tlsf, pl.lit(2))])
def test_mem_frag(index: type[Index], expected: pl.Expr, region_bytes: int) -> None:
    """A list's walk grows with the depth, and two levels stay flat."""
    operations = catalogue.load("mem_frag").compile().operations
    probes = pl.Series("probes", probes_by_operation(operations, index(), region_bytes), pl.UInt32)
    requests = operations.with_columns(probes).filter(pl.col("measured") & (pl.col("kind") == "A"))
    assert requests.height == 3 * 256
    assert requests.select((pl.col("probes") == expected).all()).item()
