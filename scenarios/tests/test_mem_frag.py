"""The structure of mem_frag: set-up, then one more free victim and its trials at every depth."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from scenarios import catalogue
from scenarios.plan import Plan


def operations(overrides: Mapping[str, int] | None = None) -> pl.DataFrame:
    return catalogue.load("mem_frag", overrides or {}).compile().operations


def test_the_article_s_ramp() -> None:
    plan = catalogue.load("mem_frag").compile()
    table = plan.operations
    assert table.height == 512 + 256 * (1 + 3 * 2)
    assert labels_of(plan) == ["setup", *(f"depth {d}" for d in range(1, 257))]
    assert plan.seed is None
    assert table.filter("measured").height == 256 * (1 + 3 * 2)
    measured = table.filter(pl.col("measured") & (pl.col("kind") == "A"))
    assert set(measured["size"]) == {120}
    assert measured["trial"].to_list() == [1, 2, 3] * 256
    assert measured["depth"].to_list() == [d for d in range(1, 257) for _ in range(3)]


def labels_of(plan: Plan) -> list[str]:
    """The labels in the order of their numbers."""
    return plan.operations["label"].unique(maintain_order=True).to_list()


def test_victims_are_freed_oldest_first() -> None:
    table = operations()
    victims = table.filter((pl.col("kind") == "A") & (pl.col("size") == 72))
    freed = table.filter((pl.col("kind") == "F") & (pl.col("size") == 72))
    assert freed["id"].to_list() == victims["id"].to_list()
    assert freed["depth"].to_list() == list(range(1, 257))
    assert freed["trial"].null_count() == 256
    assert freed["measured"].all()


@given(
    depth=st.integers(1, 60), trials=st.integers(1, 8), victim=st.integers(1, 500), more=st.integers(1, 500)
)
def test_at_depth_d_exactly_d_victims_are_free(depth: int, trials: int, victim: int, more: int) -> None:
    table = operations(
        {
            "depth": depth,
            "trials": trials,
            "victim_bytes": victim,
            "spacer_bytes": 3,
            "request_bytes": victim + more,
        }
    )
    live: dict[int, int] = {}
    peak = 0
    for row in table.iter_rows(named=True):
        if row["kind"] == "F":
            assert live.pop(row["id"]) == row["size"]
            continue
        if row["measured"]:
            assert row["size"] == victim + more
            assert len(live) == 2 * depth - row["depth"]  # all spacers, and the victims still live
        live[row["id"]] = row["size"]
        peak = max(peak, len(live))
    assert peak <= 2 * depth + 1
    assert sorted(live.values()) == [3] * depth
    assert table["measured"].sum() == depth * (1 + 2 * trials)
