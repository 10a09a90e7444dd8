"""The allocators that can be linked, as heap/catalogue.toml describes them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field, NonNegativeInt, PositiveInt, Strict, field_validator, model_validator

from base.files.complaints import WrongValueError
from base.files.documents import Table, open_toml
from base.files.errors import TailscopeError, near_miss
from base.run_folder.records import Locking
from firmware.build.promises import CATALOGUE, Promise
from firmware.build.promises import PROMISES as PROMISES

Kind = Literal["index", "allocator", "third-party"]
Format = Literal["index.h", "allocator.h", "FreeRTOS heap"]

LOCKINGS: tuple[Locking, ...] = get_args(Locking)

EACH_KIND = ("tlsf", "half_tree", "heap_4", "binary_buddy", "pool")
"""An index of lists and one of trees, and allocators that merge in lists, in halves and not at all.
`./lab test` tries these, and with `--all` every one: each takes builds of its own.
"""

_Text = Annotated[str, Field(min_length=1)]
_FromList = Strict(False)
"""TOML has lists only; what they hold is as strict as the rest."""


class CatalogueError(TailscopeError):
    """The catalogue cannot be used; the message says where and why, in one sentence."""


class SearchPlace(Table):
    """Where a search looks at a block, in code that counts no probes itself (search_places.py)."""

    function: _Text
    """Whose machine code is looked at."""
    file: _Text
    """The source file."""
    instruction: _Text
    """A regular expression that one instruction of each of the lines matches."""
    statement: str = ""
    """The text of the lines in `file`."""
    times: PositiveInt = 1
    """How many lines have that text."""
    alternatives: PositiveInt = 1
    """How many instructions of a line match, if a look executes one of several."""
    lines: Annotated[tuple[PositiveInt, ...], _FromList] = ()
    """Their numbers, if the source is not at hand."""

    @field_validator("instruction")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise WrongValueError(f"is no regular expression: {error}") from None
        return pattern

    @model_validator(mode="after")
    def _names_lines_one_way(self) -> SearchPlace:
        if bool(self.statement) == bool(self.lines):
            raise WrongValueError("must have either a statement or lines")
        return self


class Source(NamedTuple):
    """The file of an allocator from outside (outside.py).

    `format` is what the file is written against. `sha256` is that of the file. `folder` holds it
    with what its build takes, as indexes/ and allocators/ hold ours, and its name changes with
    every byte that the build depends on.
    """

    file: Path
    format: Format
    sha256: str
    folder: Path
    no_host: str | None
    """Why it cannot be built for this machine; None if it can."""


class Builds(Table):
    """What tables say of an allocator's build, in the catalogue and beside a file from outside."""

    knobs: dict[str, NonNegativeInt] = Field(default_factory=dict)
    """Numbers of its build with their defaults; beside a file, a name has up to 32 capital letters,
    digits and `_`.
    """
    search: Annotated[tuple[SearchPlace, ...] | None, _FromList] = None
    """Where its search looks at a block, if it does not count its probes; `[]`: it has no search
    loop.
    """
    largest_region_bytes: PositiveInt | None = None
    """The largest region that it can manage; 4 GiB if absent."""
    smallest_payload: Annotated[int, Field(ge=8, le=256, multiple_of=8)] = 8
    """Of an index: the bytes that it keeps in a free block, a multiple of 8."""


class _Row(Builds):
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
    promises: Annotated[frozenset[Promise], _FromList]
    target_only: bool = False
    """There is no host build of it."""
    checkout: _Text | None = None
    """Environment variable that names the checkout it is compiled from; None: it needs none."""
    gives_too_large: _Text | None = None
    """Why it serves some requests that are larger than any region, and where that is published. The
    bench refuses them before it is asked."""

    @model_validator(mode="before")
    @classmethod
    def _promises_all_if_an_index(cls, table: Any) -> Any:
        if not isinstance(table, dict) or table.get("kind") != "index":
            return table
        if "promises" in table:
            raise WrongValueError(
                "belong to the block layer, which keeps all of them", "promises", remedy="drop them"
            )
        return {**table, "promises": PROMISES}


class Allocator(_Row):
    """One row, by its id."""

    id: str
    source: Source | None = None
    """Of an allocator from outside; None of those of the catalogue."""

    @property
    def build_name(self) -> str:
        """What its build folders are called: another name for other content."""
        return self.id if self.source is None else f"{self.id}@{self.source.folder.name}"

    def definitions(self, choices: Mapping[str, object]) -> dict[str, object]:
        """What CMake is told, without its -D: where the sources are, and these choices."""
        outside = {"OUTSIDE": self.source.folder} if self.source else {}
        named = {"ALLOCATOR": self.id, **outside, **choices}
        return {f"TAILSCOPE_{name}": value for name, value in named.items()}

    def missing_checkout(self) -> str | None:
        """Why it cannot be built here, as one sentence that says what to do; None if it can."""
        if self.checkout is None or os.environ.get(self.checkout):
            return None
        return (
            f"{self.id} is compiled from a checkout of your own ({self.origin}): "
            f"set {self.checkout} to its folder."
        )

    def objection(self, heap_bytes: int) -> str | None:
        """Why it cannot manage such a region, in one sentence; None if it can."""
        largest = self.largest_region_bytes or heap_bytes
        refusal = f"{self.id} manages {largest:,} bytes at most, not {heap_bytes:,}."
        return refusal if heap_bytes > largest else None

    def cannot_free(self, scenario: str, frees: int) -> str | None:
        """Why it cannot run a scenario of so many frees, in one sentence; None if it can."""
        if not frees or "frees" in self.promises:
            return None
        return f"{self.id} never frees, and {scenario} frees {frees:,} blocks."

    def check_knobs(self, knobs: Mapping[str, int], error: type[TailscopeError]) -> None:
        """Raises `error` for a name that is no knob of it, and for a number that none can have."""
        for name, value in knobs.items():
            if name not in self.knobs:
                has = f"it has {', '.join(self.knobs)}" if self.knobs else "it has none"
                raise error(f"{self.id} has no knob {name!r}: {has}.")
            if value < 0:
                raise error(f"The knob {name} of {self.id} is {value}: say a whole number, 0 or more.")


OUTSIDE: dict[str, Allocator] = {}


@cache
def own() -> MappingProxyType[str, Allocator]:
    """Every row of the catalogue by id, sorted. Raises CatalogueError."""
    return read(CATALOGUE)


def allocators() -> MappingProxyType[str, Allocator]:
    """The catalogue's rows and those that this process admitted, by id. Raises CatalogueError."""
    return MappingProxyType({**own(), **OUTSIDE}) if OUTSIDE else own()


def row(allocator: str, error: type[TailscopeError]) -> Allocator:
    """The row of the allocator with this id. Raises `error` for an unknown one."""
    rows = allocators()
    if allocator not in rows:
        question = near_miss(allocator, rows)
        raise error(f"There is no allocator {allocator!r}: choose from {', '.join(rows)}.{question}")
    return rows[allocator]


def admit(row: Allocator) -> None:
    """From now on this process knows an allocator from outside by its id, the last of that id."""
    OUTSIDE[row.id] = row


def read(path: Path) -> MappingProxyType[str, Allocator]:
    """The rows of a catalogue by id, sorted. Raises CatalogueError."""
    document = open_toml(path, CatalogueError)
    return MappingProxyType(
        {
            name: Allocator.model_construct(id=name, **dict(document.check(_Row, name)))
            for name in sorted(document.values)
        }
    )
