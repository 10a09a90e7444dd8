"""A trace: heap operations and nothing else, as many as memory holds.

Where an image (operations.py) is bound to the board's flash and its slots, a trace is replayed on
the host. It comes from a scenario's steps or from a file of comma-separated values
(docs/how-to/traces.md).

The SHA-256 of a replay is of its operations in order, four little-endian u32 each: kind (1
allocate, 2 free, 3 reallocate; 256 more for a retry, 512 more for what is last if refused), slot,
size in bytes (0 for a free), alignment in bytes (0: the allocator's own). Slots are numbered as
they come into use, and the one freed last is used again first. Marks and calls are left out, so a
run's image and the scenario it was made from have the same sum.
"""

from __future__ import annotations

import hashlib
import io
import re
from array import array
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from base.files.whole import read_bytes, why
from scenarios.errors import ScenarioError, quoted
from scenarios.operations import Allocate, Free

if TYPE_CHECKING:  # a generator may be made of a trace
    from scenarios.generator import Step

ALLOCATE, FREE, REALLOCATE = 1, 2, 3
RETRY, LAST_IF_REFUSED = 256, 512
"""Added to ALLOCATE where an allocation is one (operations.Allocate)."""
KIND, SLOT, SIZE, ALIGNMENT = range(4)
"""The columns of Trace.operations."""

_U32 = 0xFFFF_FFFF

Operations: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Trace:
    """`operations` has one row for each, of shape (n, 4).

    - kind: ALLOCATE, FREE or REALLOCATE;
    - slot: which block; one is used again once it is free,
    so they are no more than blocks live at once;
    - size: bytes, 0 for a free;
    - alignment: bytes, 0 for the allocator's own.

    No allocation but a retry goes into a live slot, and only live ones are freed or resized.
    """

    name: str
    operations: Operations
    seed: int | None = None
    sha256: str = ""
    """Of the file it was read from; empty of others."""


class TraceBuilder:
    """Makes a trace of operations on blocks that are known by ids, whatever these are.

    Each method raises ScenarioError for what cannot be:
    half a sentence, to which the caller adds where.
    """

    def __init__(self) -> None:
        self._slots: dict[Hashable, int] = {}
        self._idle: list[int] = []
        self._words = array("I")

    def allocate(
        self, block: Hashable, size: int, alignment: int = 0, *, retry: bool = False, last: bool = False
    ) -> None:
        """A `retry` is made only if the allocation just made, of the same block, is refused; what
        is `last` if refused ends the allocations.
        """
        _check_size(size)
        if alignment and (alignment & (alignment - 1) or alignment > _U32):
            raise ScenarioError(f"the alignment {alignment} is no power of two")
        if retry:
            slot = self._live(block)
            if self._words[-4] & ~LAST_IF_REFUSED != ALLOCATE or self._words[-3] != slot:
                raise ScenarioError(f"block {quoted(block)} was not allocated just before; retry it there")
        elif block in self._slots:
            raise ScenarioError(f"block {quoted(block)} is live already; free it first")
        else:
            slot = self._slots[block] = self._idle.pop() if self._idle else len(self._slots)
        self._words.extend((ALLOCATE | RETRY * retry | LAST_IF_REFUSED * last, slot, size, alignment))

    def reallocate(self, block: Hashable, size: int) -> None:
        _check_size(size)
        self._words.extend((REALLOCATE, self._live(block), size, 0))

    def free(self, block: Hashable) -> None:
        slot = self._live(block)
        del self._slots[block]
        self._idle.append(slot)
        self._words.extend((FREE, slot, 0, 0))

    def __len__(self) -> int:
        return len(self._words) // 4

    def trace(self, name: str, seed: int | None = None, sha256: str = "") -> Trace:
        """All operations so far. Raises ScenarioError if there are none."""
        if not self._words:
            raise ScenarioError(f"{name} has no heap operation; there is nothing to replay.")
        return Trace(name, np.array(self._words, dtype=np.uint32).reshape(-1, 4), seed, sha256)

    def _live(self, block: Hashable) -> int:
        if block not in self._slots:
            raise ScenarioError(
                f"block {quoted(block)} is not live; it was never allocated, or is freed already"
            )
        return self._slots[block]


def _check_size(size: int) -> None:
    if not 1 <= size <= _U32:
        raise ScenarioError(f"the size {size} is outside 1…{_U32}")


def of_steps(name: str, steps: Iterable[Step], seed: int | None = None) -> Trace:
    """The heap operations of a scenario's steps; calls of
    the kernel are left out. Raises ScenarioError.
    """
    builder = TraceBuilder()
    for number, step in enumerate(steps):
        operation = step.operation
        try:
            if isinstance(operation, Allocate):
                alignment = 1 << operation.align_log2 if operation.align_log2 else 0
                builder.allocate(
                    operation.id,
                    operation.size,
                    alignment,
                    retry=operation.retry,
                    last=operation.last_if_refused,
                )
            elif isinstance(operation, Free):
                builder.free(operation.id)
        except ScenarioError as error:
            raise ScenarioError(f"{name}, step {number}: {error}.") from None
    return builder.trace(name, seed)


MOST_OPERATIONS = 4_194_304
MOST_BYTES = 128 << 20
MOST_LINE_BYTES = 512

_FIELDS = {"a": (2, 3), "f": (1,), "r": (2,)}
_WHOLE = re.compile(r"\d{1,10}", re.ASCII)


def read(path: Path) -> Trace:
    """The trace in the file. Raises ScenarioError, which names the file and the line."""
    try:
        content = read_bytes(path, MOST_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a path that no system can have
        raise ScenarioError(f"{path} cannot be read: {why(error)}.") from None
    builder = TraceBuilder()
    for number, line in enumerate(io.BytesIO(content), start=1):
        try:
            _enter(line, builder)
        except ScenarioError as error:
            raise ScenarioError(f"{path}, line {number}: {error}.") from None
    return builder.trace(path.name, sha256=hashlib.sha256(content).hexdigest())


def _enter(line: bytes, builder: TraceBuilder) -> None:
    """Takes a line."""
    if len(line) > MOST_LINE_BYTES:
        raise ScenarioError(f"a line has {MOST_LINE_BYTES} bytes at most, this one {len(line):,}")
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise ScenarioError("this is no text in UTF-8; a trace has lines such as a,1,24 and f,1") from None
    if not text or text.startswith("#"):
        return
    kind, *fields = (field.strip() for field in text.split(","))
    numbers = [int(field) for field in fields[1:] if _WHOLE.fullmatch(field)]
    if len(fields) not in _FIELDS.get(kind, ()) or not fields[0] or len(numbers) != len(fields) - 1:
        raise ScenarioError(f"{quoted(text)} is none of a,ID,SIZE[,ALIGNMENT], f,ID and r,ID,SIZE")
    if len(builder) >= MOST_OPERATIONS:
        raise ScenarioError(f"a trace has {MOST_OPERATIONS:,} operations at most; cut it there")
    if kind == "a":
        builder.allocate(fields[0], *numbers)
    elif kind == "r":
        builder.reallocate(fields[0], *numbers)
    else:
        builder.free(fields[0])
