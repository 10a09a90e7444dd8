"""Pairs of figures as rows, for JSON and CSV: docs/reference/heap-reproduce.md has the columns."""

from __future__ import annotations

import csv
import io
from typing import Any

from studies.reproduce.beside import Beside, Pair

COLUMNS = (
    *("table", "place", "part", "row", "column", "allocator", "unit", "compared"),
    *("published", "doubtful", "variant", "here", "least", "most", "n", "resolution"),
    *("difference", "deviation_percent", "within", "made_from"),
)


def rows(made: Beside) -> list[dict[str, Any]]:
    """One row for each figure, and for each variant of it."""
    return [_row(made, pair) for pair in made.pairs]


def as_csv(made: Beside) -> str:
    """The rows with a heading. What is missing is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(made))
    return text.getvalue()


def _row(made: Beside, pair: Pair) -> dict[str, Any]:
    found = pair.found
    return {
        "table": made.table.name,
        "place": made.table.place,
        "part": pair.part,
        "row": pair.row,
        "column": pair.column,
        "allocator": pair.allocator,
        "unit": pair.unit,
        "compared": made.table.compared,
        "published": pair.printed,
        "doubtful": pair.doubtful,
        "variant": pair.variant or None,
        "here": found.value if found else None,
        "least": found.least if found else None,
        "most": found.most if found else None,
        "n": found.n if found else None,
        "resolution": found.resolution if found else None,
        "difference": pair.difference,
        "deviation_percent": pair.deviation_percent,
        "within": pair.within,
        "made_from": made.remade.made_from if made.remade else made.table.reason or None,
    }
