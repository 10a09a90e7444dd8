"""The allocators that can be linked, as heap/catalogue.toml describes them."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    Strict,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from firmware.promises import CATALOGUE, Promise
from firmware.promises import PROMISES as PROMISES

Kind = Literal["index", "allocator", "third-party"]
Locking = Literal["basepri", "primask", "scheduler"]

LOCKINGS: tuple[Locking, ...] = get_args(Locking)

_Text = Annotated[str, Field(min_length=1)]
_FromList = Strict(False)
"""TOML has lists only; what they hold is as strict as the rest."""


class CatalogueError(Exception):
    """The catalogue cannot be used; the message says where and why, in one sentence."""


class _Checked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class SearchPlace(_Checked):
    """A look of the search at a block, in code that does not count its probes itself (search_places.py).

    Each line of `file` that has `statement` (there are `times` of them) has in the machine code of `function`
    one `instruction`, a regular expression. Where the source is not at hand, `lines` name the lines instead.
    With `alternatives` a line has so many of these instructions, and a look executes one of them.
    """

    function: _Text
    file: _Text
    instruction: _Text
    statement: str = ""
    times: PositiveInt = 1
    alternatives: PositiveInt = 1
    lines: Annotated[tuple[PositiveInt, ...], _FromList] = ()

    @field_validator("instruction")
    @classmethod
    def _compiles(cls, found: str) -> str:
        try:
            re.compile(found)
        except re.error as error:
            raise ValueError(f"it is no regular expression ({error})") from None
        return found

    @model_validator(mode="after")
    def _names_lines_one_way(self) -> SearchPlace:
        if bool(self.statement) == bool(self.lines):
            raise ValueError("say a statement, or else lines")
        return self


class _Row(_Checked):
    """A table of the catalogue."""

    kind: Kind
    lockings: Annotated[tuple[Locking, ...], _FromList, Field(alias="locking", min_length=1)] = LOCKINGS
    """What it works under, the default first."""
    allocate: _Text
    """The worst case of an allocation, in the size n of the region."""
    free: _Text
    """The worst case of a free."""
    licence: _Text
    origin: _Text
    knobs: dict[str, NonNegativeInt] = {}
    """Each number of its build with its default."""
    promises: Annotated[frozenset[Promise], _FromList]
    target_only: bool = False
    """There is no host build of it."""
    checkout: _Text | None = None
    """The environment variable that names the user's checkout it is compiled from; None: it needs none."""
    search: Annotated[tuple[SearchPlace, ...] | None, _FromList] = None
    """Where its search can be counted from outside; empty: it has no search loop; None: nobody knows."""

    @model_validator(mode="before")
    @classmethod
    def _promises_all_if_an_index(cls, table: Any) -> Any:
        if not isinstance(table, dict) or table.get("kind") != "index":
            return table
        if "promises" in table:
            raise ValueError("an index promises everything by the block layer: remove its promises")
        return {**table, "promises": PROMISES}


class Allocator(_Row):
    """One row, by its id."""

    id: str

    def missing_checkout(self) -> str | None:
        """Why it cannot be built here, as one sentence that says what to do; None if it can."""
        if self.checkout is None or os.environ.get(self.checkout):
            return None
        return (
            f"{self.id} is compiled from a checkout of your own ({self.origin}): "
            f"set {self.checkout} to its folder."
        )


_ROWS = TypeAdapter(dict[str, _Row])


@cache
def allocators() -> MappingProxyType[str, Allocator]:
    """Every row by id, sorted. Raises CatalogueError."""
    return read(CATALOGUE)


def read(path: Path) -> MappingProxyType[str, Allocator]:
    """The rows of a catalogue by id, sorted. Raises CatalogueError."""
    try:
        text = path.read_text()
        rows = _ROWS.validate_python(tomllib.loads(text))
    except ValidationError as error:
        raise CatalogueError(_sentence(path, text, error.errors()[0])) from None
    except (OSError, ValueError) as error:
        raise CatalogueError(f"{path} cannot be read: {error}.") from None
    return MappingProxyType(
        {name: Allocator.model_construct(id=name, **dict(row)) for name, row in sorted(rows.items())}
    )


_IN_OUR_WORDS = {
    "missing": "it is missing: add it",
    "extra_forbidden": "there is no such key: remove it or mend its spelling",
    "tuple_type": "it must be a list",
    "frozen_set_type": "it must be a list",
}
"""By pydantic's type of error, where its own message does not say what to do."""


def _sentence(path: Path, text: str, error: ErrorDetails) -> str:
    """What pydantic found wrong in `text`: file, line, table and key, and what to do."""
    table, *keys = map(str, error["loc"])
    wrong = _IN_OUR_WORDS.get(error["type"], error["msg"].removeprefix("Value error, "))
    place = f"{path.name}:{_line_of(text, error['loc'])}: [{table}] {'.'.join(keys)}".rstrip()
    found = "" if isinstance(error["input"], dict) else f", not {error['input']!r}"
    return f"{place}: {wrong}{found}."


def _line_of(text: str, place: tuple[int | str, ...]) -> int:
    """The line of `text` that a place in its tables is on, or that of the table around it, from 1.

    A number counts inline tables of an array, which begin a line each.
    """
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith(f"[{place[0]}]")), 0)
    end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("[")), len(lines))
    for part in place[1:]:
        if isinstance(part, str):
            key = re.compile(rf"(^|[\s{{,]){re.escape(part)}\s*=")
            at = next((i for i in range(at, end) if key.search(lines[i])), at)
        elif at + 1 + part < end and lines[at + 1 + part].lstrip().startswith("{"):
            at += 1 + part
    return at + 1
