"""The tables of docs/reference/perturbation.md against a fresh measurement."""

from __future__ import annotations

import re

import pytest

from base.paths import ROOT
from tests import lab

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "reference" / "perturbation.md"
# A change of the heap or of its layout moves these figures a little. If they move by more, the page
# is out of date.
TOLERANCE = 0.05
MARKERS_PER_PAIR = 8


def rows(text: str) -> list[list[str]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines if line[0] != "allocator"]


@pytest.fixture(scope="module")
def measured() -> list[list[str]]:
    done = lab.run("dev", "perturbation")
    assert done.returncode == 0, done.stderr
    return rows(done.stdout)


@pytest.mark.long
def test_the_page_tells_what_a_fresh_measurement_gives(measured: list[list[str]]) -> None:
    kept_rows = rows(PAGE.read_text(encoding="utf-8"))
    assert len(kept_rows) == len(measured)
    for old, new in zip(kept_rows, measured, strict=True):
        words, numbers = (2, slice(2, 4)) if len(new) == 5 else (1, slice(1, None))
        assert old[:words] == new[:words]
        numbers_now = [float(cell) for cell in new[numbers]]
        assert [float(cell) for cell in old[numbers]] == pytest.approx(numbers_now, rel=TOLERANCE), (
            "Run ./lab dev perturbation and put its tables into docs/reference/perturbation.md."
        )


def test_pins_are_one_instruction_for_each_marker_and_the_counter_none_more(
    measured: list[list[str]],
) -> None:
    by_build = {(row[0], row[1]): float(row[2]) for row in measured if len(row) == 5}
    for allocator in {allocator for allocator, _ in by_build}:
        every = by_build[allocator, "pins and dwt"]
        # A tick in only one of the two runs is worth less than one instruction a pair.
        assert every - by_build[allocator, "without pins"] == pytest.approx(MARKERS_PER_PAIR, abs=1)
        assert every - by_build[allocator, "without dwt"] == pytest.approx(0, abs=1)


def test_the_page_has_no_other_numbers_in_its_tables() -> None:
    cells = [cell for row in rows(PAGE.read_text(encoding="utf-8")) for cell in row]
    assert all(re.fullmatch(r"[a-z ]+|\d+\.\d", cell) for cell in cells)
