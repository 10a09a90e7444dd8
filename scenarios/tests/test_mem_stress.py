"""mem_stress against the same workload written in C, and its bounds under any parameters."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import catalogue
from scenarios.generators.xorshift import Xorshift32

SOURCE = Path(__file__).with_name("mem_stress.c")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mem_stress.c, compiled for the host."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the host: install gcc")
    program = tmp_path_factory.mktemp("mem_stress") / "mem_stress"
    subprocess.run([compiler, "-O1", "-o", str(program), str(SOURCE)], check=True)
    return program


def in_the_reference_s_words(operations: pl.DataFrame) -> list[str]:
    """A line for each operation: its kind, its size and the ordinal of its allocation."""
    ordinals: dict[int, int] = {}
    lines, allocations = [], 0
    for kind, slot, size in operations.select("kind", "id", "size").iter_rows():
        if kind == "A":
            ordinals[slot] = allocations
            allocations += 1
        lines.append(f"{kind} {size} {ordinals[slot]}")
    return lines


@pytest.mark.parametrize("seed", [0x1234ABCD, 1, 0xFFFF_FFFF, 2_463_534_242])
def test_is_the_workload_of_the_reference(reference: Path, seed: int) -> None:
    printed = subprocess.run([str(reference), str(seed)], check=True, capture_output=True, text=True).stdout
    operations = catalogue.load("mem_stress", seed=seed).compile().operations
    assert in_the_reference_s_words(operations) == printed.splitlines()


def test_counts_are_the_article_s() -> None:
    plan = catalogue.load("mem_stress").compile()
    assert plan.operations["kind"].to_list().count("A") == 617
    assert plan.operations["kind"].to_list().count("F") == 583
    assert plan.operations["measured"].all()
    assert plan.operations["label"].null_count() == plan.operations.height
    assert plan.seed == 0x1234ABCD


def test_xorshift_is_marsaglia_s() -> None:
    """First outputs from the seed of Marsaglia's paper, 2463534242."""
    random = Xorshift32(2_463_534_242)
    assert [random.below(1 << 32) for _ in range(4)] == [
        723_471_715,
        2_497_366_906,
        2_064_144_800,
        2_008_045_182,
    ]


@st.composite
def parameters(draw: st.DrawFn) -> Mapping[str, int]:
    chosen = {
        "seed": draw(st.integers(1, 2**32 - 1)),
        "operations": draw(st.integers(1, 400)),
        "slots": draw(st.integers(1, 2048)),
        "allocate_percent": draw(st.integers(0, 100)),
        "small_percent": draw(st.integers(0, 100)),
    }
    chosen["medium_percent"] = draw(st.integers(0, 100 - chosen["small_percent"]))
    for kind in ("small", "medium", "large"):
        low, high = sorted(draw(st.tuples(st.integers(1, 65_536), st.integers(1, 65_536))))
        chosen |= {f"{kind}_min_bytes": low, f"{kind}_max_bytes": high}
    return chosen


@given(parameters())
def test_any_parameters_keep_the_live_set_bounded(chosen: Mapping[str, int]) -> None:
    operations = catalogue.load("mem_stress", chosen).compile().operations
    live = list(accumulate(1 if kind == "A" else -1 for kind in operations["kind"]))
    assert operations.height == chosen["operations"]
    assert min(live) >= 0
    assert max(live) <= chosen["slots"]
    ranges = [
        range(chosen[f"{k}_min_bytes"], chosen[f"{k}_max_bytes"] + 1) for k in ("small", "medium", "large")
    ]
    assert all(any(size in r for r in ranges) for size in operations["size"])
