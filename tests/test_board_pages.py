"""docs/boards: each board that comes with the bench has a page, with tables that are made anew."""

import re

import pytest

from base.paths import ROOT
from firmware.build import boards
from studies.tables.board_pages import ALLOCATORS, BEGIN, END, PAGES, SCENARIOS, facts, pages, row

TOLERANCE = 0.02
"""A change anywhere in the image moves code among the flash lines, and cycles a little."""
NAMES = boards.names()


@pytest.mark.docs
def test_every_board_has_a_page_that_the_index_names() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    nav = (ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    assert [board.name for board, _ in pages()] == list(NAMES)
    for name in NAMES:
        assert f"({name}.md)" in index
        assert f"docs/boards/{name}.md" in nav


@pytest.mark.docs
@pytest.mark.parametrize("name", NAMES)
def test_the_facts_of_a_page_are_those_of_the_table(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    made = text[text.index(BEGIN) : text.index(END)]
    assert "\n".join(facts(boards.board(name))) in made
    for scenario in SCENARIOS:
        for allocator in ALLOCATORS:
            assert f"| `{scenario}` | {allocator} | " in made


@pytest.mark.docs
@pytest.mark.parametrize("name", NAMES)
def test_the_figures_of_a_page_are_what_a_fresh_run_gives(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^\| `mem_frag` \| tlsf \| .*$", text, re.MULTILINE)
    made = row(boards.board(name), "mem_frag", "tlsf")
    assert numbers(found) == pytest.approx(numbers(made), rel=TOLERANCE), (
        "Run python -m studies.tables.board_pages, which writes the tables of docs/boards."
    )


def numbers(line: str) -> list[float]:
    return [float(cell.replace(",", "")) for cell in re.findall(r"\| ([\d,]+) (?=\|)", line)]
