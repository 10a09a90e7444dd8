"""docs/how-to/adversary.md against the stored winners, which are run again."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from _pytest.mark import ParameterSet

from analysis.bounds.image import code_bounds
from base.files import results
from base.paths import ROOT
from base.run_folder.manifest import SectionBound
from firmware.build import image as firmware
from scenarios import trace as scenarios_trace
from scenarios.operations import MAX_SLOTS
from scenarios.trace import ALLOCATE, FREE
from studies.adversary import search, study
from studies.adversary.study import space, winner

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "how-to" / "adversary.md"
# A change anywhere in the image moves instructions in the section a little.
TOLERANCE = 0.05


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


TIME, SPACE = (rows(results.FOLDER / f"adversary-{what}.csv") for what in ("time", "space"))


@cache
def bounds(allocator: str) -> dict[str, SectionBound]:
    image = firmware.build(allocator)
    built = image.configuration
    return code_bounds(image.elf, allocator, built.knobs, built.flash_acr, MAX_SLOTS)


LOOSE = 0.98
WALKING = (
    *("best_fit", "first_fit", "first_fit_ordered", "half_fit_cstm", "seglist", "heap_2", "heap_4", "heap_5"),
    *("linked_list_allocator", "umm_malloc", "newlib_nano"),
)


def some(rows: list[dict[str, str]]) -> list[ParameterSet]:
    """The rows of a table as parameters: every fifth is tried, and with --all each."""
    return [
        pytest.param(row, id="-".join(list(row.values())[:2]), marks=pytest.mark.long if number % 5 else ())
        for number, row in enumerate(rows)
    ]


def test_no_row_is_above_its_bound_and_a_walk_is_near_it_or_the_page_says_why_not() -> None:
    """A list is walked where the bound is above 1,000."""
    page = PAGE.read_text(encoding="utf-8").partition("## Found and bound\n")[2].partition("\n## ")[0]
    for row in TIME:
        if not row["bound"]:
            continue
        longest, bound, ratio = int(row["found"]), int(row["bound"]), float(row["found/bound"])
        assert longest <= bound and ratio == pytest.approx(longest / bound, abs=0.0006)
        if row["allocator"] in WALKING and bound > 1000 and ratio < LOOSE:
            assert f"**{row['allocator']}, {row['of']}" in page, row


@pytest.mark.parametrize("row", some(TIME))
def test_a_stored_winner_takes_as_long_as_the_page_says(tmp_path: Path, row: dict[str, str]) -> None:
    goal: Literal["allocate", "free"] = "allocate" if row["of"] == "allocate" else "free"
    trace = scenarios_trace.read(winner(row["allocator"], goal, tmp_path))
    section = search.longest(row["allocator"], trace.operations)[goal]
    assert section.instructions == pytest.approx(int(row["found"]), rel=TOLERANCE)
    assert trace.operations[-1, 0] == (ALLOCATE if goal == "allocate" else FREE)
    bound = bounds(row["allocator"])[goal]
    assert (bound.instructions is None) == (not row["bound"])
    if bound.instructions is not None and bound.cycles is not None and not section.ticks:
        assert bound.instructions == pytest.approx(int(row["bound"]), rel=TOLERANCE)
        assert section.instructions <= bound.instructions
        assert section.cycles <= bound.cycles


@pytest.mark.parametrize("row", some(SPACE))
def test_a_stored_winner_spreads_as_far_as_the_page_says(tmp_path: Path, row: dict[str, str]) -> None:
    trace = scenarios_trace.read(winner(row["allocator"], "fragmentation", tmp_path))
    spread = space(row["allocator"], trace.operations)
    assert spread.used_bytes == int(row["found"])
    assert spread.peak_live_bytes == int(row["live"]) <= study.LIVE_BYTES
