"""What a CSV file holds; and results that pages show: such a file each in docs/results, written by
what measures them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from base.files.whole import write_bytes
from base.paths import ROOT

Result = tuple[str, Sequence[str], Iterable[Sequence[object]]]
"""The name of a result, its headings, and its rows."""

FOLDER = ROOT / "docs" / "results"


def text(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The content of a file."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(chain([headings], rows))
    return written.getvalue()


def write(name: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """The path of the result `name`, written anew. Raises WriteError."""
    path = FOLDER / f"{name}.csv"
    write_bytes(path, text(headings, rows).encode())
    return path


def read(name: str) -> list[list[str]]:
    """The rows of the result `name`, without the headings."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]
