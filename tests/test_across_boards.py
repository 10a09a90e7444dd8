"""The results docs/results/across-*.csv against a fresh measurement."""

from __future__ import annotations

import pytest

from base.files import results
from cli.shell import start
from firmware.build import boards
from studies.tables.boards import ACROSS

pytestmark = pytest.mark.docs

Rows = list[list[str]]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(results, "FOLDER", tmp_path_factory.mktemp("across"))
        assert start.run(["dev", "across"]) == 0
        return {name: results.read(name) for name in ACROSS}


@pytest.mark.long
def test_the_results_are_what_a_fresh_measurement_gives(fresh: dict[str, Rows]) -> None:
    assert fresh == {name: results.read(name) for name in ACROSS}, "Run ./lab dev across."


def test_every_board_is_in_every_table(fresh: dict[str, Rows]) -> None:
    for name in boards.names():
        title = boards.board(name).title
        rows = [cell for table in fresh.values() for row in table for cell in row if cell.startswith(title)]
        assert len(rows) == 1 + 2 * 3 + 2


def test_what_an_interrupt_waits_is_no_less_than_the_manual_says(fresh: dict[str, Rows]) -> None:
    """The entry is the core's by its manual, the answer what the simulator's wire showed."""
    assert len(fresh["across-boards"]) == len(boards.names())
    for line in fresh["across-boards"]:
        assert float(line[9]) > float(line[7]) > 0
