"""The structure of sizes: the same pairs twice, and between them the fragments."""

from __future__ import annotations

import polars as pl

from scenarios import catalogue


def test_the_same_pairs_come_before_and_behind_the_fragments() -> None:
    table = catalogue.load("sizes").compile().operations
    fresh, fragmented = (table.filter(pl.col("label") == label) for label in ("fresh", "fragmented"))
    same = ["kind", "id", "size", "measured", "trial"]
    assert fresh.select(same).equals(fragmented.select(same))
    assert fresh["size"].unique(maintain_order=True).to_list() == [2**n for n in range(3, 13)]
    assert fresh.height == 10 * 64 * 2
    assert fresh["kind"].to_list() == ["A", "F"] * 640
    assert fresh["measured"].all()


def test_the_fragments_are_those_of_mem_frag() -> None:
    setup = catalogue.load("sizes").compile().operations.filter(pl.col("label") == "setup")
    of_mem_frag = catalogue.load("mem_frag", {"trials": 1}).compile().operations
    victims = of_mem_frag.filter(
        (pl.col("label") == "setup") | ((pl.col("kind") == "F") & (pl.col("size") == 72))
    )
    assert setup.select("kind", "size").equals(victims.select("kind", "size"))
    assert not setup["measured"].any()
