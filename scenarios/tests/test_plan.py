"""The compiler's own rules, on steps that none of our generators makes."""

from __future__ import annotations

from itertools import repeat

import polars as pl
import pytest

from scenarios.errors import ScenarioError
from scenarios.generator import Step
from scenarios.operations import Allocate, Free
from scenarios.plan import Plan, compile_steps
from scenarios.stimulus import NO_STIMULUS


def plan_of(*steps: Step) -> Plan:
    return compile_steps("x", {}, NO_STIMULUS, steps)


def test_table_has_the_documented_columns() -> None:
    table = plan_of(Step(Allocate(5, 24)), Step(Free(5, measured=False), "end", 2, 9)).operations
    assert table.schema == pl.Schema(
        {
            "seq": pl.UInt32,
            "kind": pl.String,
            "id": pl.UInt32,
            "size": pl.UInt32,
            "offset": pl.UInt32,
            "measured": pl.Boolean,
            "label": pl.String,
            "trial": pl.UInt32,
            "depth": pl.UInt32,
        }
    )
    assert table.rows() == [
        (0, "A", 5, 24, 0, True, None, None, None),
        (1, "F", 5, 24, 0, False, "end", 2, 9),
    ]


def test_the_size_of_a_free_is_that_of_its_own_allocation() -> None:
    table = plan_of(Step(Allocate(0, 8)), Step(Free(0)), Step(Allocate(0, 16)), Step(Free(0))).operations
    assert table["size"].to_list() == [8, 8, 16, 16]


def test_a_generator_without_end_is_refused() -> None:
    with pytest.raises(ScenarioError, match="more than the 21,840 entries"):
        compile_steps("x", {}, NO_STIMULUS, repeat(Step(Allocate(0, 8))))
