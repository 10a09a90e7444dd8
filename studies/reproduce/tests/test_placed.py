"""Cycles at several placements of the code: what is measured at each, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from capture import placements
from capture.acquisition.source import RunRequest
from studies.reproduce import published
from studies.reproduce.beside import MadeFigure, Remade, beside, over_placements
from studies.reproduce.conclusions import conclusions, judge
from studies.reproduce.kept import Kept
from studies.reproduce.measure import BoardRun, PlacedCycles, at_places
from tests.tables import table

COUNT = 4


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def at_placements(store: Kept, run: BoardRun) -> list[pl.DataFrame]:
    return at_places(run, store(run), store(PlacedCycles(run, COUNT)))


@pytest.mark.parametrize("run", [BoardRun("seglist", "mem_frag"), BoardRun("tlsf", "mem_stress", art=True)])
def test_the_worst_at_each_place_is_that_of_a_captured_run(store: Kept, run: BoardRun) -> None:
    """A capture reads the same counter, by the wire's frames and the whole of the decoding."""
    tables = at_placements(store, run)
    captured = placements.measure(RunRequest(plan=run.plan(), image=run.built()), COUNT)
    expected = [measurement.greatest["dwt_cycles"] for measurement in captured.measured]
    assert [
        frame.filter(pl.col("measured") & (pl.col("kind") == "A"))["critical_cycles"].max()
        for frame in tables
    ] == expected
    assert len(set(expected)) > 1
    first, *others = (frame.drop("critical_cycles", "operation_cycles") for frame in tables)
    assert all(other.equals(first) for other in others)
    damaged = store(PlacedCycles(run, COUNT)).with_columns(kind=pl.lit("O"))
    with pytest.raises(ValueError, match="otherwise"):
        at_places(run, store(run), damaged)


def test_of_placements_the_median_that_occurred_is_told() -> None:
    figures = [MadeFigure(value, 7, 1) for value in (30, 10, 40, 20)]
    assert over_placements(figures) == MadeFigure(20, 7, 1, 10, 40, placements=4)
    assert over_placements(figures[:1]) == MadeFigure(30, 7, 1, placements=1)


def placed(value: float, least: float, most: float) -> MadeFigure:
    return MadeFigure(value, 10, 1, least, most, placements=16)


@table
def test_ranges_that_meet_tell_nothing(least: float, word: str) -> None:
    """Of whole cycles: from 460 to 478, and from 479 on, no place turns the order round."""
    assert judge(placed(468, 460, 478), placed(490, least, 500)) == word
    assert judge(replace(placed(468, 460, 478), placements=0), MadeFigure(490, 10, 1)) == "holds"  # of seeds
    reverse = {"holds": "reverses"}.get(word, word)
    assert judge(placed(490, least, 500), placed(468, 460, 478)) == reverse


@table
def test_placement_is_the_cause_exactly_where_it_hides_the_difference(
    tlsf: tuple[float, float, float], seglist: tuple[float, float, float], word: str, hides: bool
) -> None:
    source, article = published.find("article-9")
    rows = {"TLSF": placed(*tlsf), "SEGLIST": placed(*seglist)}
    here = {(article.part[0].title, row, "p99"): figure for row, figure in rows.items()}
    conclusion = conclusions(beside(source, article, (), Remade({"here": here}, "a test")))[0]
    assert (conclusion.verdict, conclusion.cause.startswith("Placement. ")) == (word, hides)
