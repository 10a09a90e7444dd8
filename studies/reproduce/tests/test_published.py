"""The typed figures: complete and in order, and no misprints but those that can be shown."""

from __future__ import annotations

import pytest

from firmware.build import catalogue
from studies.reproduce import published
from studies.reproduce.published import Source, contradictions

SOURCES = [published.source(key) for key in published.SOURCES]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_the_typed_figures_are_complete(source: Source) -> None:
    assert set(source.names.values()) <= set(catalogue.allocators())
    for table in source.table:
        assert published.find(table.name)[1] == table
        assert bool(table.reason) == (table.compared == "nothing")
        assert not (table.reason and table.making)
        for part in table.part:
            assert all(len(row) == len(part.columns) == len(set(part.columns)) for row in part.rows.values())


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_the_misprints_are_what_the_figures_contradict_and_printed_so(source: Source) -> None:
    """Of deviations that cannot be there are too many to list: the page marks and counts them."""
    shown = {
        (contradiction.table, contradiction.part, contradiction.row)
        for contradiction in contradictions(source)
        if "stdv" not in contradiction.rule
    }
    assert shown == {(misprint.table, misprint.part, misprint.row) for misprint in source.misprint}
    for misprint in source.misprint:
        part = published.find(misprint.table)[1].part_called(misprint.part)
        assert part.printed(misprint.row, misprint.column) == misprint.printed


def contradicted(key: str, name: str, row: str, figures: dict[str, float]) -> list[str]:
    """The rows of a table's last part that contradict others once one has these figures."""
    source = published.source(key).model_copy(deep=True)
    part = next(table for table in source.table if table.name == name).part[-1]
    for column, value in figures.items():
        part.rows[row][part.columns.index(column)] = value
    return [found.row for found in contradictions(source) if (found.table, found.part) == (name, part.title)]


def test_a_planted_contradiction_is_found() -> None:
    """Half at 0 and half at 10: mean 5, deviation 5, and no numbers within have a larger one."""
    assert contradicted("thesis", "thesis-11", "Best Fit", {}) == []
    assert contradicted("thesis", "thesis-11", "Best Fit", {"used": 17_902}) == ["Best Fit"]
    halves = {"avg": 5, "max": 10, "min": 0}
    name = "deck2-fragmentation"
    assert contradicted("deck2", name, "TLSF", {**halves, "stdv": 5}) == []
    assert contradicted("deck2", name, "TLSF", {**halves, "stdv": 5.1}) == ["TLSF"]


def test_percentages_of_figure_20_are_those_of_the_table() -> None:
    _, table = published.find("thesis-13")
    whole, share = table.part
    for row in whole.rows:
        for column in whole.columns:
            ours, buddys = whole.printed(row, column), whole.printed("Buddy", column)
            assert ours is not None
            assert buddys is not None
            assert share.printed(row, column) == round(100 * ours / buddys, 1)
