"""What the operations of a search cost on the virtual board: instructions, cycles, and the wire."""

from __future__ import annotations

from firmware.build.host_search import Goal
from scenarios.operations import Allocate, Free, Image, Operation, encode
from scenarios.stimulus import NO_STIMULUS
from scenarios.trace import ALLOCATE, Operations
from studies.tables import critical_sections
from studies.tables.critical_sections import CriticalSection

_TICK_INSTRUCTIONS = 32
"""A tick adds fewer to a critical section that it comes into."""

_KINDS: dict[Goal, str] = {"allocate": "AO", "free": "F"}


def longest(allocator: str, operations: Operations) -> dict[Goal, CriticalSection]:
    """The critical section with the most instructions, of allocations (refused ones too) and of
    frees, where the list has one.

    A kernel's tick is not the allocator's. So a section that one came into stands only if it is the
    longest by more than a tick adds.

    Raises BuildError, SimulatorError, ImageError.
    """
    sections = critical_sections.measure(allocator, encode(image(operations)))
    found: dict[Goal, CriticalSection] = {}
    for goal, kinds in _KINDS.items():
        of_kind = [section for section in sections if section.kind in kinds]
        if of_kind:
            found[goal] = max(of_kind, key=_own_instructions)
    return found


def _own_instructions(section: CriticalSection) -> int:
    """Of the allocator at least."""
    return section.instructions - _TICK_INSTRUCTIONS * section.ticks


def image(operations: Operations) -> Image:
    """The operations as the firmware runs them, without a stimulus. Raises ImageError."""
    return Image("adversary", NO_STIMULUS, tuple(_operation(*row) for row in operations.tolist()))


def _operation(kind: int, slot: int, size: int, _alignment: int) -> Operation:
    return Allocate(slot, size) if kind == ALLOCATE else Free(slot)
