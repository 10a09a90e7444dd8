"""The allocators that can be linked, as heap/catalogue.toml describes them.

Only the standard library is used, because CMake runs this too:
`python -m firmware.catalogue promises tlsf` prints what the allocator promises, words separated by spaces.
"""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from capture.files.errors import TailscopeError

Kind = Literal["index", "allocator", "third-party"]
Locking = Literal["basepri", "primask", "scheduler"]

KINDS: tuple[Kind, ...] = get_args(Kind)
LOCKINGS: tuple[Locking, ...] = get_args(Locking)
PROMISES = (
    "frees",
    "checks_frees",
    "merges",
    "reallocates",
    "aligns",
    "counts_free",
    "knows_largest",
    "counts_probes",
    "checks_heap",
    "tells_usable",
    "reuses_holes",
    "exact_overhead",
    "shrinks",
)
"""What an allocator may promise; heap/catalogue.toml says what each means."""

_FILE = Path(__file__).resolve().parent / "heap" / "catalogue.toml"
_TEXTS = ("allocate", "free", "licence", "origin")
_KEYS = {"kind", "locking", "knobs", "promises", "target_only", "checkout", "search", *_TEXTS}


class CatalogueError(TailscopeError):
    """The catalogue cannot be used; the message says which row and why."""


@dataclass(frozen=True)
class SearchPlace:
    """A look of the search at a block, in code that does not count its probes itself (search_places.py).

    In `function`, the machine code of each line of `file` that has `statement` (there are `times` of them),
    or of each of `lines` where the source is not at hand, has one `instruction`, a regular expression; or as
    many as there are `alternatives`, of which a look executes one.
    """

    function: str
    file: str
    instruction: str
    statement: str = ""
    times: int = 1
    alternatives: int = 1
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Allocator:
    """One row. `lockings` are those it works under, the default first; `allocate` and `free` are the worst
    case in the size n of the region; `knobs` maps each number of its build to the default.
    """

    id: str
    kind: Kind
    lockings: tuple[Locking, ...]
    allocate: str
    free: str
    licence: str
    origin: str
    knobs: MappingProxyType[str, int]
    promises: frozenset[str]
    target_only: bool
    """There is no host build of it."""
    checkout: str | None
    """The environment variable that names the user's checkout it is compiled from; None: it needs none."""
    search: tuple[SearchPlace, ...] | None
    """Where its search can be counted from outside; empty: it has no search loop; None: nobody knows."""

    def missing_checkout(self) -> str | None:
        """Why it cannot be built here, as one sentence that says what to do; None if it can."""
        if self.checkout is None or os.environ.get(self.checkout):
            return None
        return (
            f"{self.id} is compiled from a checkout of your own ({self.origin}): "
            f"set {self.checkout} to its folder."
        )


@cache
def allocators() -> MappingProxyType[str, Allocator]:
    """Every row by id, sorted. Raises CatalogueError."""
    return read(_FILE)


def read(path: Path) -> MappingProxyType[str, Allocator]:
    """The rows of a catalogue by id, sorted. Raises CatalogueError."""
    try:
        tables = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CatalogueError(f"{path} cannot be read: {error}.") from None
    return MappingProxyType({name: _row(name, tables[name]) for name in sorted(tables)})


def _row(name: str, table: object) -> Allocator:
    if not isinstance(table, dict):
        raise CatalogueError(f"{_FILE.name}: {name} is no table.")
    unknown = sorted(table.keys() - _KEYS)
    if unknown:
        raise CatalogueError(f"{_FILE.name}: [{name}] has the unknown key {unknown[0]!r}.")
    kind = _one_of(name, "kind", table.get("kind"), KINDS)
    texts = {key: _text(name, key, table.get(key)) for key in _TEXTS}
    return Allocator(
        id=name,
        kind=cast("Kind", kind),
        lockings=cast(
            "tuple[Locking, ...]", _words(name, "locking", table.get("locking", LOCKINGS), LOCKINGS)
        ),
        knobs=_knobs(name, table.get("knobs", {})),
        promises=frozenset(
            PROMISES if kind == "index" else _words(name, "promises", table.get("promises"), PROMISES)
        ),
        search=_search(name, table.get("search")),
        checkout=_text(name, "checkout", table["checkout"]) if "checkout" in table else None,
        target_only=_flag(name, "target_only", table.get("target_only", False)),
        **texts,
    )


def _one_of(name: str, key: str, found: object, known: tuple[str, ...]) -> str:
    if not isinstance(found, str) or found not in known:
        raise CatalogueError(f"{_FILE.name}: [{name}] {key} is {found!r}: say one of {', '.join(known)}.")
    return found


def _words(name: str, key: str, found: object, known: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(found, list | tuple):
        raise CatalogueError(f"{_FILE.name}: [{name}] {key} must be a list of {', '.join(known)}.")
    return tuple(_one_of(name, key, word, known) for word in found)


def _text(name: str, key: str, found: object) -> str:
    if not isinstance(found, str) or not found:
        raise CatalogueError(f"{_FILE.name}: [{name}] must say {key}.")
    return found


def _flag(name: str, key: str, found: object) -> bool:
    if not isinstance(found, bool):
        raise CatalogueError(f"{_FILE.name}: [{name}] {key} must be true or false.")
    return found


def _search(name: str, found: object) -> tuple[SearchPlace, ...] | None:
    if found is None:
        return None
    if not isinstance(found, list) or not all(isinstance(place, dict) for place in found):
        raise CatalogueError(f"{_FILE.name}: [{name}] search must be a list of tables.")
    return tuple(_place(name, place) for place in found)


def _place(name: str, found: dict[str, Any]) -> SearchPlace:
    try:
        place = SearchPlace(**{**found, "lines": tuple(found.get("lines", ()))})
    except TypeError:
        raise CatalogueError(
            f"{_FILE.name}: [{name}] search has {', '.join(found)}: see SearchPlace."
        ) from None
    if bool(place.statement) == bool(place.lines):
        raise CatalogueError(f"{_FILE.name}: [{name}] search must say a statement or lines.")
    return place


def _knobs(name: str, found: Any) -> MappingProxyType[str, int]:
    if not isinstance(found, dict) or not all(type(value) is int and value >= 0 for value in found.values()):
        raise CatalogueError(f"{_FILE.name}: [{name}] knobs must map names to whole numbers.")
    return MappingProxyType(dict(found))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "promises" or sys.argv[2] not in allocators():
        sys.exit("Usage: python -m firmware.catalogue promises ALLOCATOR, an id of heap/catalogue.toml.")
    print(*(promise for promise in PROMISES if promise in allocators()[sys.argv[2]].promises))
