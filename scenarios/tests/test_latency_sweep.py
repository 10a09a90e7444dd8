"""The offsets of a sweep, every cycle while the mask is raised and then in steps, and its heap."""

from __future__ import annotations

import polars as pl

from scenarios import catalogue

SMALL: dict[str, str | int] = {
    "depth": 9,
    "depths": 3,
    "fine_cycles": 20,
    "step_cycles": 7,
    "base_cycles": 50,
    "cycles_per_block": 10,
}


def test_each_depth_is_swept_from_its_beginning_to_its_end() -> None:
    table = (
        catalogue.load("latency_sweep", SMALL).compile().operations.filter("measured", pl.col("kind") == "A")
    )
    for depth, span in ((3, 80), (6, 110), (9, 140)):
        phases = (table.filter(pl.col("depth") == depth)["offset"].cast(pl.Int64) - 40).to_list()
        assert phases == [*range(20), *range(20, span, 7)]


def test_the_depth_is_the_number_of_free_victims() -> None:
    table = catalogue.load("latency_sweep", SMALL).compile().operations
    victims = table.filter(pl.col("size") == 72, pl.col("kind") == "F")
    for row in table.filter("measured", pl.col("kind") == "A").iter_rows(named=True):
        assert victims.filter(pl.col("seq") < row["seq"]).height == row["depth"]


def test_an_empty_section_is_swept_before_the_depths() -> None:
    table = catalogue.load("latency_sweep", SMALL).compile().operations
    empty = table.filter(pl.col("kind") == "K")
    assert set(empty["offset"]) == set(range(40, 40 + 255))
    assert empty["seq"].max() < table.filter("measured", pl.col("kind") == "A")["seq"].min()  # type: ignore[operator]


def test_any_scenario_can_be_swept_and_only_its_measured_operations_are() -> None:
    table = catalogue.load("mem_frag", {"depth": 16}, stimulus="sweep:1000").compile().operations
    swept = table.filter("measured")["offset"].cast(pl.Int64) - 40
    assert table.filter(~pl.col("measured"))["offset"].sum() == 0
    # 48 requests, their frees, and those of 16 victims.
    assert len(swept) == 48 + 48 + 16 and swept.min() >= 0 and swept.max() < 1000  # type: ignore[operator]
    # The gaps between golden phases have at most three lengths. The greatest is below the sum of
    # the others.
    gaps = swept.sort().diff().drop_nulls()
    assert gaps.max() < 3 * 1000 / 112  # type: ignore[operator]
