"""Tables of inputs and expected values: `tests.toml` of a folder has one for each `module.test`.

Beside the names of its `columns` a table has `rows`. A row is an array of cells, or a table by
column. A cell that is left out, at the end of an array, is None; an array is a tuple. With a column
`id` in front, rows have names of their own.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., object])


def table(test: Test) -> Test:
    """Has pytest call the test once for each row of its table."""
    content = beside(inspect.getfile(test))[test.__name__]
    columns = content["columns"]
    rows = [_cells(row, columns) for row in content["rows"]]
    if columns[0] == "id":
        columns, rows = columns[1:], [pytest.param(*row, id=name) for name, *row in rows]
    marked: Test = pytest.mark.parametrize(columns, rows)(test)
    return marked


def _cells(row: Any, columns: tuple[str, ...]) -> Any:
    if isinstance(row, dict):
        return tuple(map(row.get, columns))
    return row + (None,) * (len(columns) - len(row))


def beside(file: str) -> dict[str, Any]:
    """What `tests.toml` beside this Python file has for it."""
    path = Path(file)
    content: dict[str, Any] = _read(path.with_name("tests.toml"))[path.stem]
    return content


@cache
def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = _frozen(tomllib.loads(path.read_text(encoding="utf-8")))
    return content


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {name: _frozen(of) for name, of in value.items()} if isinstance(value, dict) else value
