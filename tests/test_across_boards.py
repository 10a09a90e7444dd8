"""The tables of docs/reference/one-allocator-across-cores.md against a fresh measurement."""

from __future__ import annotations

import pytest

from base.paths import ROOT
from firmware.build import boards
from tests import lab

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "reference" / "one-allocator-across-cores.md"


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")]


@pytest.fixture(scope="module")
def measured() -> list[str]:
    done = lab.run("dev", "across")
    assert done.returncode == 0, done.stderr
    return rows(done.stdout)


@pytest.mark.long
def test_the_page_has_what_a_fresh_measurement_gives(measured: list[str]) -> None:
    assert rows(PAGE.read_text(encoding="utf-8")) == measured, (
        "Put what ./lab dev across prints into docs/reference/one-allocator-across-cores.md."
    )


def test_every_board_is_in_every_table(measured: list[str]) -> None:
    for name in boards.names():
        title = boards.board(name).title
        assert sum(f"| {title}" in line for line in measured) == 1 + 2 * 3 + 2


def test_what_an_interrupt_waits_is_no_less_than_the_manual_says(measured: list[str]) -> None:
    """The entry is the core's by its manual, the answer what the simulator's wire showed."""
    of_boards = [[cell.strip() for cell in line.split("|")[1:-1]] for line in measured][1:]
    result = [line for line in of_boards if line[1].startswith("Cortex-M")]
    assert len(result) == len(boards.names())
    for line in result:
        assert float(line[9]) > float(line[7]) > 0
