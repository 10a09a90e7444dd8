"""The results docs/results/perturbation*.csv against a fresh measurement."""

from __future__ import annotations

import pytest

from base.files import results
from cli.shell import start
from quality import perturbation

pytestmark = pytest.mark.docs

TOLERANCE = 0.05
"""A change of the heap or of its layout moves these figures a little."""
MARKERS_PER_PAIR = 8

Figures = dict[tuple[str, ...], list[float]]


def figures(rows: list[list[str]], words: int) -> Figures:
    """By allocator and build."""
    return {tuple(row[:words]): [float(cell) for cell in row[words:]] for row in rows}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Figures, Figures]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(results, "FOLDER", tmp_path_factory.mktemp("perturbation"))
        assert start.run(["dev", "perturbation"]) == 0
        return figures(results.read("perturbation"), 2), figures(results.read("perturbation-records"), 1)


@pytest.mark.long
def test_the_results_are_what_a_fresh_measurement_gives(measured: tuple[Figures, Figures]) -> None:
    """But for the cycles less, small differences of large figures."""
    costs, widths = measured
    published = figures(results.read("perturbation"), 2)
    again = "Run ./lab dev perturbation."
    assert {key: row[:2] for key, row in published.items()} == {
        key: pytest.approx(row[:2], rel=TOLERANCE) for key, row in costs.items()
    }, again
    assert figures(results.read("perturbation-records"), 1) == {
        key: pytest.approx(row, rel=TOLERANCE) for key, row in widths.items()
    }, again


def test_pins_are_one_instruction_for_each_marker_and_the_counter_none_more(
    measured: tuple[Figures, Figures],
) -> None:
    instructions = {key: row[0] for key, row in measured[0].items()}
    for allocator in perturbation.ALLOCATORS:
        every = instructions[allocator, "pins and dwt"]
        # A tick in only one of the two runs is worth less than one instruction a pair.
        assert every - instructions[allocator, "without pins"] == pytest.approx(MARKERS_PER_PAIR, abs=1)
        assert every - instructions[allocator, "without dwt"] == pytest.approx(0, abs=1)
