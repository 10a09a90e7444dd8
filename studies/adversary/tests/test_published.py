"""docs/how-to/adversary.md against the stored winners, which are run again."""

from __future__ import annotations

import re
from functools import cache

import pytest

from analysis.bounds.image import code_bounds
from base import heap_size
from base.paths import ROOT
from base.run_folder.manifest import SectionBound
from firmware.build import image as firmware
from firmware.build.host_search import Goal
from scenarios import trace as scenarios_trace
from scenarios.operations import MAX_SLOTS
from scenarios.trace import ALLOCATE, FREE
from studies.adversary import known, published, search, text
from studies.adversary import row as adversary_row
from studies.adversary.space import space

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "how-to" / "adversary.md"
# A change anywhere in the image moves instructions in the section a little.
TOLERANCE = 0.05


def lines(columns: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of the page's table that has these columns."""
    table = PAGE.read_text(encoding="utf-8").partition(f"| {' | '.join(columns)} |\n")[2]
    rows = re.findall(r"^\| (.*) \|$", table.partition("\n\n")[0], re.MULTILINE)
    return [dict(zip(columns, row.split(" | "), strict=True)) for row in rows]


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


TIME, SPACE = lines(text.TIME_COLUMNS), lines(text.SPACE_COLUMNS)


@cache
def bounds(allocator: str) -> dict[str, SectionBound]:
    image = firmware.build(allocator)
    built = image.configuration
    return code_bounds(image.elf, allocator, built.knobs, built.flash_acr, MAX_SLOTS)


@pytest.mark.parametrize("line", TIME, ids=lambda line: f"{line['allocator']}-{line['of']}")
def test_a_stored_winner_takes_as_long_as_the_page_says(line: dict[str, str]) -> None:
    goal: Goal = "allocate" if line["of"] == "allocate" else "free"
    trace = scenarios_trace.read(adversary_row.path(published.FOLDER, line["allocator"], goal))
    section = search.longest(line["allocator"], trace.operations)[goal]
    assert section.instructions == pytest.approx(number(line["found"]), rel=TOLERANCE)
    assert trace.operations[-1, 0] == (ALLOCATE if goal == "allocate" else FREE)
    bound = bounds(line["allocator"])[goal]
    assert (bound.instructions is None) == (line["bound"] == "-")
    if bound.instructions is not None and bound.cycles is not None and not section.ticks:
        assert bound.instructions == pytest.approx(number(line["bound"]), rel=TOLERANCE)
        assert section.instructions <= bound.instructions
        assert section.cycles <= bound.cycles


@pytest.mark.parametrize("line", TIME, ids=lambda line: f"{line['allocator']}-{line['of']}")
def test_nothing_found_is_above_its_bound(line: dict[str, str]) -> None:
    if line["bound"] != "-":
        assert number(line["found"]) <= number(line["bound"])


LOOSE = 0.98


def test_each_walk_comes_near_its_bound_or_the_page_says_why_not() -> None:
    """A row of an allocator that walks a list, where it walks: its bound is above 1,000."""
    section_text = PAGE.read_text(encoding="utf-8").partition("## Found and bound\n")[2].partition("\n## ")[0]
    walks = [line for line in TIME if line["allocator"] in (*published.WALKERS, "newlib_nano")]
    for line in walks:
        if number(line["bound"]) > 1000 and float(line["found/bound"]) < LOOSE:
            assert f"**{line['allocator']}, {line['of']}" in section_text, line


@pytest.mark.parametrize("line", TIME, ids=lambda line: f"{line['allocator']}-{line['of']}")
def test_a_ratio_is_that_of_its_row(line: dict[str, str]) -> None:
    if line["bound"] != "-":
        assert float(line["found/bound"]) == pytest.approx(
            number(line["found"]) / number(line["bound"]), abs=0.0006
        )


@pytest.mark.parametrize("line", SPACE, ids=lambda line: line["allocator"])
def test_a_stored_winner_spreads_as_far_as_the_page_says(line: dict[str, str]) -> None:
    trace = scenarios_trace.read(adversary_row.path(published.FOLDER, line["allocator"], "fragmentation"))
    spread = space(line["allocator"], trace)
    assert spread.used_bytes == number(line["found"])
    assert spread.peak_live_bytes == number(line["live"]) <= published.LIVE_BYTES


def test_the_page_counts_the_blocks_of_a_list() -> None:
    """A free block and a live one take two headers of 16 bytes, a payload, and the least of all."""
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    held = [(heap_size.DEFAULT_BYTES + 16 + 8) // (16 + payload + 16 + 8) for payload in (8, 16, 24)]
    assert "{:,} free blocks of 8 bytes, {:,} of 16, or {:,} of 24".format(*held) in page
    (pairs,) = {known.fenced_pairs(payload) for payload in (8, 16, 24)}
    assert f"at {pairs:,} of each" in page


def test_the_page_states_its_limits_and_those_are_the_searchs() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"at most {search.MOST_OPERATIONS:,} operations, {MAX_SLOTS:,} blocks that are live" in page


def test_the_page_states_its_seed_and_budget() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"seed {published.SEED}" in page
    assert f"{published.LISTS:,} lists" in page
    assert f"{published.WALKER_LISTS:,} lists" in page
    assert f"{published.LIVE_BYTES:,} bytes" in page
