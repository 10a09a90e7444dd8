"""What is known of a run's worst sample: explain/<quantity>.json (docs/SPEC.md, section 8).

`./lab explain` writes it, the dashboard reads it; nobody else spells its keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from capture.files.documents import DocumentError, Table, read_json
from capture.files.errors import TailscopeError

FOLDER = "explain"
"""Where in a run folder the explanations are."""

BYTES_MAX = 4 << 20

Count = Annotated[int, Field(ge=0)]
Edge = Annotated[list[Count], Field(min_length=2, max_length=2)]


class Window(Table):
    """The waveform around the sample: rows of sample and levels, the first at first_sample."""

    first_sample: Count
    end_sample: Count
    edges: list[Edge]


class Moment(Table):
    """The instant at which the stack was looked at, in samples of the capture and in cycles of the replay."""

    sample: Count
    cycle: Count


class Frame(Table):
    """One call: `address` is where it executes, or the instruction to which it returns."""

    address: Count
    place: str
    source: str


class Total(Table):
    """What one function, or one instruction, took of the sample, without what it called."""

    name: str
    executions: Count
    cycles: Count
    source: str


class Piece(Table):
    """`bytes` of the region from `offset` on: a block with its header, or what is known of it.

    `what` is live, free, or unknown: free, or the allocator's own.
    """

    offset: Count
    bytes: Count
    what: Literal["live", "free", "unknown"]


class HeapMap(Table):
    """The region from its first byte to its last. `note` says how it was read, and what cannot be told."""

    region_bytes: Count
    pieces: list[Piece]
    note: str


class Told(Table):
    """What wire and records tell of the worst sample, on any board; `maximum` is that of run.json."""

    version: Literal[1] = Field(alias="schema")
    quantity: str
    key: str
    value_ns: float
    maximum: dict[str, Any]
    allocator: str
    scenario: str
    verdict: str
    samplerate_hz: Annotated[int, Field(gt=0)]
    start_sample: Count
    end_sample: Count
    window: Window
    replayed: bool
    unknown: list[str]

    def document(self) -> dict[str, Any]:
        """The content of the file."""
        return self.model_dump(by_alias=True)


class Unreplayed(Told):
    """The run cannot be repeated to the cycle; `unknown` says in sentences what is therefore not known."""

    replayed: Literal[False]


class Replayed(Told):
    """The run was repeated, and what the board did is known instruction by instruction."""

    replayed: Literal[True]
    cycles: Count
    instructions: Count
    moment: Moment
    stack: list[Frame]
    functions: list[Total]
    dearest: list[Total]
    heap: HeapMap


Explanation = Unreplayed | Replayed


class _File(RootModel[Annotated[Explanation, Field(discriminator="replayed")]]):
    """Either kind; which one, the file says itself."""


def read(path: Path, error: type[TailscopeError] = DocumentError) -> Explanation:
    """The explanation in the file at `path`. Raises `error` with one sentence that names line and key."""
    return read_json(path, _File, error, remedy="explain the run again", most_bytes=BYTES_MAX).root
