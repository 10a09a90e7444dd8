"""mem_stress against the same workload written in C, and its bounds under any parameters."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from scenarios import catalogue

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
