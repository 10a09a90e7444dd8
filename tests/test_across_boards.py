"""The results docs/results/across-*.csv against a fresh measurement."""

from __future__ import annotations

import pytest

from analysis.compare.boards import COLUMNS
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


def test_what_an_interrupt_waits_is_no_less_than_the_manual_says(fresh: dict[str, Rows]) -> None:
    """The entry is the core's by its manual, the answer what the simulator's wire showed."""
    headings = dict(COLUMNS)
    for table in fresh.values():
        of = {
            heading: map(float, cells)
            for heading, *cells in table
            if heading in (headings["idle_cycles"], headings["entry_cycles"])
        }
        pairs = list(zip(of[headings["idle_cycles"]], of[headings["entry_cycles"]], strict=True))
        assert len(pairs) == len(boards.names())
        assert all(idle > entry > 0 for idle, entry in pairs)
