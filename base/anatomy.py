"""What a run's worst sample is made of: explain/<quantity>-anatomy.json.

`./lab explain` writes it beside the explanation, and pages draw it (docs/reference/explain.md).
Cycles count from the sample's start.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import Field

from .files.documents import DocumentError, Table, read_json
from .files.errors import TailscopeError
from .run_folder.explanation import BYTES_MAX, FOLDER, Edge, QuantityName
from .run_folder.manifest import Count
from .run_folder.named_quantities import NAMED

SUFFIX = "-anatomy.json"
MOST_CALLS = 2_000
"""Of more, the shortest are left out: nobody could see them."""
MOST_VISITED = 4_000


class Loop(Table):
    """The loop that took most of the time. `place` and `source` are those of its head.

    `passes` are the executions of the instruction of it that was executed most often, `stretches`
    when it ran: the first cycle of each, and how many.
    """

    place: str
    source: str
    passes: Count
    cycles: Count
    stretches: list[Edge]


class Call(Table):
    """One call of a function, `depth` calls deep in what the trace shows; 0 is the outermost.

    `cycles` has what it called, `own_cycles` has not. `source` is the line that took most of the
    latter, empty if nobody knows.
    """

    depth: Count
    name: str
    begin_cycle: Count
    cycles: Count
    own_cycles: Count
    source: str


class Block(Table):
    """A block of the heap, or a place in it that was read: `bytes` from `offset` on."""

    offset: Count
    bytes: Count


class Search(Table):
    """What an allocation read of the heap, in order.

    `visited` are blocks where `blocks` is true, else single places (`bytes` is 0): of an allocator
    whose blocks nobody knows. Offsets count from `region_address`, the address of the heap's first
    byte.
    """

    region_address: Count
    asked_bytes: Count
    blocks: bool
    visited: list[Block]


class Anatomy(Table):
    """`sentence` says what took most of the `cycles`. `sources` are the texts of source lines."""

    version: Literal[2] = Field(alias="schema")
    quantity: QuantityName
    sentence: str
    cycles: Count
    loop: Loop | None
    calls: list[Call]
    search: Search | None
    sources: dict[str, str]


def read(path: Path, error: type[TailscopeError] = DocumentError) -> Anatomy:
    """Reads the file at `path`. Raises `error`, with a sentence that names line and key."""
    return read_json(path, Anatomy, error, remedy="explain the run again", most_bytes=BYTES_MAX)


def read_all(folder: Path) -> dict[str, Anatomy]:
    """The anatomies in the run `folder`, by quantity. A damaged file is left out."""
    return {name: anatomy for name in NAMED if (anatomy := read_of(folder, name)) is not None}


def read_of(folder: Path, quantity: str) -> Anatomy | None:
    """That of the worst sample of `quantity`; None where the run has none that is whole."""
    path = folder / FOLDER / f"{quantity}{SUFFIX}"
    with suppress(DocumentError):
        if path.is_file() and (anatomy := read(path)).quantity == quantity:
            return anatomy
    return None
