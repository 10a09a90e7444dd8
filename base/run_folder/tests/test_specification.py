"""The pages of a run folder against the schemas and models that write and read it."""

from __future__ import annotations

import re

import polars as pl
import pytest

from base.metrology.summaries import PERCENTILES, Summary
from base.paths import ROOT
from base.run_folder import tables
from base.run_folder.manifest import Intervals, Manifest
from base.run_folder.quantities import KEYS
from base.run_folder.tables import INTERRUPTS, OPERATIONS

pytestmark = pytest.mark.docs


def page_of(name: str) -> str:
    return (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("operations", pl.Schema([*OPERATIONS.items(), *tables.MEMORY_COLUMNS.items()])),
        ("interrupts", INTERRUPTS),
    ],
)
def test_the_columns_of_a_table_are_those_of_the_page(name: str, schema: pl.Schema) -> None:
    (table,) = re.findall(r"\| column \| type \| meaning \|\n\|[-|]+\n((?:\|.*\n)+)", page_of(name))
    rows = [line.split("|")[1:3] for line in table.splitlines()]
    kinds = {column: kind.strip() for names, kind in rows for column in re.findall(r"`(\w+)`", names)}
    assert kinds == {column: str(dtype) for column, dtype in schema.items()}


def test_the_statistics_of_run_json_are_the_quantities() -> None:
    assert [name for name, field in Manifest.model_fields.items() if field.annotation is Summary] == [*KEYS]


def test_the_models_have_the_percentiles_that_are_computed() -> None:
    """A model's fields are written out, so the names stand there again."""
    assert list(Summary.model_fields) == ["n", "min", "mean", "stdev", *PERCENTILES, "max", "open"]
    assert list(Intervals.model_fields) == [*PERCENTILES, "independence_p"]
