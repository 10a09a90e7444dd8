"""What is known of a run's worst sample: explain/<quantity>.json (docs/reference/explain.md).

`./lab explain` writes it and the dashboard reads it. The keys are spelled here and nowhere else.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from ..files.documents import DocumentError, Table, read_json
from ..files.errors import TailscopeError
from ..metrology.summaries import MOST_NUMBER
from .manifest import Count, Maximum
from .named_quantities import NAMED

FOLDER = "explain"
"""Where in a run folder the explanations are."""

BYTES_MAX = 4 << 20
"""Of a file in it, which may be a stranger's."""

QuantityName = Literal["section", "allocate", "free", "interrupt", "task"]

_Ns = Annotated[float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]
Edge = Annotated[list[Count], Field(min_length=2, max_length=2)]


class Window(Table):
    """The waveform around the sample: rows of sample and word, the first at `first_sample`."""

    first_sample: Count
    end_sample: Count
    edges: list[Edge]


class Moment(Table):
    """When the stack was looked at: in samples of the capture, and in cycles of the replay."""

    sample: Count
    cycle: Count


class Frame(Table):
    """One call: `address` is where it executes, or the instruction to which it returns.

    A `likely` one may not have called what comes before it: LR alone tells of it.
    """

    address: Count
    place: str
    source: str
    likely: bool = False

    @property
    def shown(self) -> str:
        """The place for a reader, with a word of doubt if there is some."""
        return f"likely {self.place}" if self.likely else self.place


class Total(Table):
    """The share of the sample of a function or an instruction, without what it called."""

    name: str
    executions: Count
    cycles: Count
    source: str


class Piece(Table):
    """A piece of the region, `bytes` long from `offset` on: a block with its header, or a gap.

    `what` is live, free, or unknown. An unknown piece is free or the allocator's own.
    """

    offset: Count
    bytes: Count
    what: Literal["live", "free", "unknown"]


class Operation(Table):
    """An operation of the run. Samples are those of its OP pulse.

    `words` say what it was, such as `allocation of 120 bytes`.
    """

    seq: Count
    kind: str
    words: str
    label: str | None
    start_sample: Count | None
    end_sample: Count | None


class Part(Table):
    """A part of the time, from `begin_cycle` on. The parts follow each other without a gap.

    `place` and `source` are of the instruction that masked, or that suspended the scheduler; of an
    exception that of its handler. They are empty where that is not known.
    """

    what: Literal["exception", "masked", "scheduler", "running"]
    words: str
    begin_cycle: Count
    cycles: Count
    place: str
    source: str


class HeapMap(Table):
    """The region, from its first byte to its last.

    `note` says how it was read, and what cannot be told.
    """

    region_bytes: Count
    pieces: list[Piece]
    note: str


class Told(Table):
    """What wire and records tell of the worst sample, on any board; `maximum` is run.json's."""

    schema_: Literal[3]
    quantity: QuantityName
    key: str
    """The operation's number; @ and its sample for a stimulus outside of all operations."""
    value_ns: _Ns
    maximum: Maximum
    allocator: str
    scenario: str
    verdict: str
    samplerate_hz: Annotated[int, Field(gt=0)]
    start_sample: Count
    """CRIT's rise, or the stimulus."""
    end_sample: Count
    """CRIT's fall, or the answer."""
    window: Window
    """With 4 µs around the sample."""
    replayed: bool
    """Whether the run was replayed."""
    unknown: list[str]
    """If not, one sentence each on what is therefore not known."""
    start_ns: _Ns
    """Of `start_sample`, since the start of the capture."""
    place: str
    """A sentence: how far from which operation it begins."""
    operation: Operation | None
    """The sample's own, null outside of all."""

    def document(self) -> dict[str, Any]:
        """The content of the file; of the maximum what run.json has."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Unreplayed(Told):
    """The run cannot be repeated to the cycle; sentences in `unknown` say what that leaves open."""

    replayed: Literal[False]


class Replayed(Told):
    """The run was repeated, and what the board did is known instruction by instruction."""

    replayed: Literal[True]
    cycles: Count
    instructions: Count
    moment: Moment
    """The middle of the section; or the stimulus."""
    stack: list[Frame]
    """At `moment`, the innermost call first."""
    functions: list[Total]
    """Totals, without what they call."""
    heap: HeapMap
    """As the section, or the interrupted operation, found it."""
    parts: list[Part] = Field(default_factory=list)
    """What the time went to."""
    lines: list[Total] = Field(default_factory=list)
    """The most expensive source lines; `name` is the function, executions are instructions."""
    sources: dict[str, str] = Field(default_factory=dict)
    """The texts of source lines, by `file.c:12`."""


Explanation = Unreplayed | Replayed


class _File(RootModel[Annotated[Explanation, Field(discriminator="replayed")]]):
    """Either kind. The file says itself which."""


def read(path: Path, error: type[TailscopeError] = DocumentError) -> Explanation:
    """Reads the explanation at `path`. Raises `error`, with a sentence that names line and key."""
    return read_json(path, _File, error, remedy="explain the run again", most_bytes=BYTES_MAX).root


def read_all(folder: Path) -> dict[str, Explanation]:
    """The explanations in the run `folder`, by quantity. A damaged file is left out."""
    explanations: dict[str, Explanation] = {}
    for name in NAMED:
        with suppress(DocumentError):
            explanations[name] = read(folder / FOLDER / f"{name}.json")
    return explanations


# What the sample is made of: explain/<quantity>-anatomy.json, which `./lab explain` writes beside
# the explanation, and pages draw. Cycles count from the sample's start.


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

    schema_: Literal[2] = Field(alias="schema")  # named, so that a caller may write it
    quantity: QuantityName
    sentence: str
    cycles: Count
    loop: Loop | None
    calls: list[Call]
    search: Search | None
    sources: dict[str, str]


def read_anatomy(folder: Path, quantity: str) -> Anatomy | None:
    """That of the worst sample of `quantity`; None where the run has none that is whole."""
    path = folder / FOLDER / f"{quantity}{SUFFIX}"
    with suppress(DocumentError):
        anatomy = read_json(path, Anatomy, most_bytes=BYTES_MAX)
        return anatomy if anatomy.quantity == quantity else None
    return None
