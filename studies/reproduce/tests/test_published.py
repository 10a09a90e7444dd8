"""The typed figures: complete and in order, and no misprints but those that can be shown."""

from __future__ import annotations

import pytest

from firmware.build import catalogue
from studies.reproduce import published
from studies.reproduce.contradictions import contradictions
from studies.reproduce.published import PublishedTable, Source, UnknownTableError

SOURCES = [published.source(key) for key in published.SOURCES]
TABLES = [table for source in SOURCES for table in source.table]


def test_names_are_those_of_one_table_each() -> None:
    names = published.names()
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_row_has_a_figure_for_every_column(table: PublishedTable) -> None:
    for part in table.part:
        assert all(len(row) == len(part.columns) for row in part.rows.values())
        assert len(set(part.columns)) == len(part.columns)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_has_a_reason_exactly_if_nobody_can_make_it_again(table: PublishedTable) -> None:
    assert bool(table.reason) == (table.compared == "nothing")
    assert not (table.reason and table.making)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_allocators_are_called_by_names_that_are_there(source: Source) -> None:
    assert set(source.names.values()) <= set(catalogue.allocators())


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_the_misprints_are_what_the_figures_contradict(source: Source) -> None:
    """Of deviations that cannot be there are too many to list: the page marks and counts them."""
    shown = {
        (contradiction.table, contradiction.part, contradiction.row)
        for contradiction in contradictions(source)
        if "stdv" not in contradiction.rule
    }
    assert shown == {(misprint.table, misprint.part, misprint.row) for misprint in source.misprint}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_a_misprint_is_told_as_it_is_printed(source: Source) -> None:
    tables = {table.name: table for table in source.table}
    for misprint in source.misprint:
        assert (
            tables[misprint.table].part_called(misprint.part).printed(misprint.row, misprint.column)
            == misprint.printed
        )


def test_a_contradiction_that_is_planted_is_found() -> None:
    source = published.source("thesis").model_copy(deep=True)
    (part,) = (part for table in source.table if table.name == "thesis-11" for part in table.part[1:])
    assert not [
        contradiction for contradiction in contradictions(source) if contradiction.table == "thesis-11"
    ]
    part.rows["Best Fit"][part.columns.index("used")] = 17_902
    found = [
        (contradiction.table, contradiction.row)
        for contradiction in contradictions(source)
        if contradiction.table == "thesis-11"
    ]
    assert found == [("thesis-11", "Best Fit")]


def test_the_deviation_of_two_equal_halves_is_possible_and_any_above_it_is_not() -> None:
    """Half at 0 and half at 10: mean 5, deviation 5, and no numbers within have a larger one."""
    source = published.source("deck2").model_copy(deep=True)
    part = next(table for table in source.table if table.name == "deck2-fragmentation").part[0]
    part.rows["TLSF"] = [5, 5, 10, 0]
    assert not [
        contradiction
        for contradiction in contradictions(source)
        if contradiction.table == "deck2-fragmentation"
    ]
    part.rows["TLSF"] = [5, 5.1, 10, 0]
    assert [
        contradiction.row
        for contradiction in contradictions(source)
        if contradiction.table == "deck2-fragmentation"
    ] == ["TLSF"]


def test_percentages_of_figure_20_are_those_of_the_table() -> None:
    _, table = published.find("thesis-13")
    whole, share = table.part
    for row in whole.rows:
        for column in whole.columns:
            ours, buddys = whole.printed(row, column), whole.printed("Buddy", column)
            assert ours is not None
            assert buddys is not None
            assert share.printed(row, column) == round(100 * ours / buddys, 1)


def test_an_unknown_table_is_refused_with_what_was_probably_meant() -> None:
    with pytest.raises(UnknownTableError, match=r"no table 'thesis-62'.*Did you mean thesis-\d+\?$"):
        published.find("thesis-62")
