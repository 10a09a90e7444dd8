"""docs/results/reproduced: it has every published figure; some tables are made again here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from base.paths import ROOT
from studies.reproduce import beside as reproduce_beside
from studies.reproduce import engine, published
from studies.reproduce.beside import Beside, over_seeds
from studies.reproduce.engine import Budget
from studies.reproduce.kept import kept
from studies.reproduce.measure import HeapStudy
from studies.reproduce.page import section
from studies.reproduce.published import PublishedTable, Source

pytestmark = pytest.mark.docs

RESULTS = ROOT / "docs" / "results" / "reproduced"
# A change anywhere in the image moves code among the flash lines, and cycles a little.
TOLERANCE = 0.05
WITHOUT_CYCLES = ("article-8", "article-10", "deck2-ranges")
WITH_CYCLES = ("article-9", "article-9-probes", "article-10-cycles")


def tables() -> Iterator[tuple[Source, PublishedTable]]:
    for source in published.sources():
        for table in source.table:
            yield source, table


def grids_of(name: str) -> list[dict[str, Any]]:
    """The parts of a table, of its publication's file."""
    source, _ = published.find(name)
    sections = json.loads((RESULTS / f"{source.key}.json").read_text(encoding="utf-8"))
    (grids,) = (section["grids"] for section in sections if section["name"] == name)
    return grids  # type: ignore[no-any-return]


def lines_of(name: str) -> list[list[str]]:
    return [line for grid in grids_of(name) for line in grid["lines"]]


@pytest.mark.parametrize(("source", "table"), list(tables()), ids=lambda case: getattr(case, "name", ""))
def test_every_published_figure_stands_in_the_results(source: Source, table: PublishedTable) -> None:
    """Row by row, as it is typed, whatever was made here."""
    lines = lines_of(table.name)
    bare = section(Beside(source, table))
    for grid in bare["grids"]:
        for line in grid["lines"]:
            assert any(result[: len(line)] == list(line) for result in lines), (
                f"{table.name}, {grid['title']}: {line} is missing; run ./lab heap reproduce."
            )


@pytest.mark.parametrize("name", [table.name for _, table in tables() if table.making])
def test_what_can_be_made_again_was(name: str) -> None:
    made = [line for line in lines_of(name) if line[1] != "published" and re.search(r"\d", "".join(line[2:]))]
    assert made, f"{name}: the results have nothing from here."


@pytest.mark.parametrize("name", WITHOUT_CYCLES)
def test_the_results_have_what_a_run_of_these_sources_gives(name: str) -> None:
    """Kept by their digest: what a command of a page measured is not measured again."""
    (made,) = engine.run([name], Budget(quick=True), kept)
    rows = lines_of(name)
    for grid in section(made)["grids"]:
        assert all(line in rows for line in grid["lines"])


def test_cycles_are_near_what_a_run_of_these_sources_gives() -> None:
    """One image lies in the range of placements that the results have, or near it."""
    for made in engine.run(WITH_CYCLES, Budget(quick=True), kept):
        result = lines_of(made.table.name)
        for pair in made.pairs:
            if pair.here is None or not pair.published:
                continue
            (part,) = (part for part in made.table.part if part.title == pair.part)
            rows = iter(result)
            assert any(line[:2] == [pair.row, "published"] for line in rows)
            line = next(line for line in rows if line[:2] == ["", pair.variant])
            shown = line[2 + part.columns.index(pair.column)].replace(",", "").replace("−", "-")
            median, least, most = re.match(r"(\S+)(?: \((\S+?)–([^;)]+))?", shown).groups()  # type: ignore[union-attr]
            low, high = float(least or median), float(most or median)
            slack = TOLERANCE * abs(float(median))
            assert low - slack <= pair.here.value <= high + slack, (
                "Run ./lab heap reproduce, which writes docs/results/reproduced."
            )


def test_the_buddy_on_large_blocks_is_in_the_results_as_a_fresh_study_gives_it() -> None:
    """Every figure of 32 seeds, and all but the share of them those that are published."""
    knobs = published.source("thesis").knobs["ublox_buddy"]
    study = HeapStudy("ublox_buddy", "lifetimes_large", Budget().seeds, 86_064, knobs=knobs).measure()
    columns = ("used_bytes", "sbbm_bytes", "cost_metric_bytes", "used_there_bytes", "sbbm_there_bytes")
    figures = [over_seeds(study[column].to_list(), 1) for column in columns]
    shown = [reproduce_beside.ranged(figure, "bytes") for figure in figures if figure]
    (rows,) = (grid["lines"] for grid in grids_of("thesis-b-heap") if grid["title"].startswith("Large"))
    line = next(line for line in rows if line[:2] == ["", "here"])
    assert [line[number] for number in (2, 4, 5, 6, 8)] == shown
    assert shown == ["36,864", "12,288", "36,912", "36,864", "0"]
