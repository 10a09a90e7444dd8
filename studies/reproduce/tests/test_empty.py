"""The fixed cost of the bench: what an operation costs of which the allocator does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.reproduce.board import BoardRun, allocations, frees
from studies.reproduce.empty import fixed_cost
from studies.reproduce.kept import Kept
from studies.reproduce.remade import Budget


@pytest.mark.parametrize("window", ["operation_cycles", "critical_cycles", "instructions"])
def test_every_operation_of_an_allocator_costs_more_than_none(window: str, tmp_path: Path) -> None:
    """The cheapest of o1heap, which is the fastest of the bench, and of tlsf."""
    keep = Kept(tmp_path)
    fixed = fixed_cost(keep, Budget(quick=True), "mem_stress", window)
    for allocator in ("o1heap", "tlsf"):
        run = keep(BoardRun(allocator, "mem_stress"))
        assert 0 < fixed.allocation < allocations(run)[window].to_numpy().min()
        assert 0 < fixed.free < frees(run)[window].to_numpy().min()
    assert fixed.operation == (fixed.allocation + fixed.free) / 2


def test_what_nothing_disturbs_costs_the_same_each_time(tmp_path: Path) -> None:
    """Instructions of two scenarios, with other sizes and another order."""
    keep = Kept(tmp_path)
    quick, names = Budget(quick=True), ("mem_stress", "lifetimes_small")
    costs = {fixed_cost(keep, quick, name, "instructions", art=True) for name in names}
    assert len(costs) == 1
