"""How tables are made: expressions worked out by hand, and the fixed cost of the bench."""

from __future__ import annotations

import polars as pl
import pytest

from studies.reproduce import published
from studies.reproduce.engine import Bench, Budget
from studies.reproduce.kept import Work
from studies.reproduce.measure import BoardRun
from studies.reproduce.published import Making, PublishedTable, Source, Way
from tests.tables import table

OPERATIONS = pl.DataFrame(
    {
        "seq": range(6),
        "kind": ["A", "A", "A", "F", "O", "A"],
        "measured": [True, True, True, True, True, False],
        "operation_cycles": [30, 10, 20, 4, 99, 1000],
        "probes": [4, 5, 4, 0, 0, 0],
        "depth": [1, 2, 1, None, None, None],
    }
)


def bench(measure: object, **making: object) -> Bench:
    source, table = published.find("article-9")
    document = {"by": ["board"], "made_from": "", **making}
    return Bench(source, table, Making.model_validate(document), Budget(quick=True), measure)  # type: ignore[arg-type]


@table
def test_an_expression_is_worked_out_from_left_to_right(expression: str, value: float | None, n: int) -> None:
    figures = bench(lambda _: OPERATIONS).figures(
        Way(), BoardRun("tlsf", "mem_stress"), {"figure": expression}, True
    )
    assert [(figure.value, figure.n) for figure in figures.values()] == (
        [] if value is None else [(value, n)]
    )


def test_net_figures_are_less_an_empty_section_of_the_same_kind() -> None:
    def measure(work: Work) -> pl.DataFrame:
        if isinstance(work, BoardRun):
            return OPERATIONS
        return pl.DataFrame({"kind": ["A", "F"], "operation_cycles": [3.0, 1.0]})

    expressions = {"a": "allocations max", "f": "frees max"}
    figures = bench(measure).figures(Way(net=True), BoardRun("tlsf", "mem_stress"), expressions, True)
    assert {name: figure.value for name, figure in figures.items()} == {"a": 27, "f": 3}


TABLES = [(source, table) for source in published.sources() for table in source.table if table.making]


@pytest.mark.parametrize(("source", "table"), TABLES, ids=lambda case: getattr(case, "name", ""))
def test_what_a_table_is_made_by_is_there(source: Source, table: PublishedTable) -> None:
    from scenarios import catalogue
    from studies.reproduce.engine import _RECIPES

    assert table.making is not None
    assert set(table.making.by) <= set(_RECIPES)
    names = {name.split()[0] for names in table.making.scenarios.values() for name in names}
    assert names <= set(catalogue.names())
    ways = [way.name for way in table.making.way or source.way]
    assert len(set(ways)) == len(ways)
    witnesses = set(table.making.witnesses)
    if table.making.instructions:
        witnesses |= {f"instructions of {row}" for row in source.names}
    for claim in table.claim:
        assert {name for cause in claim.cause for name in (cause.lesser, cause.greater)} <= witnesses
