"""Which passages belong together: by hand."""

from __future__ import annotations

import pytest

from analysis.program.latency.sections import Section, measure
from simulator.masks import Passage

A, B, ENTRY, RETURN, TAIL = 0x100, 0x200, 0x300, 0x340, 0x330
PLACES = {"A": A, "B": B, "E": ENTRY, "R": RETURN, "T": TAIL}
TOP = 0x2000_1000
BETWEEN = Section("a..b", frozenset((A,)), {B: True})
ITSELF = Section("a..a", frozenset((A,)), {A: True})
CALL = Section("f..", frozenset((ENTRY,)), {RETURN: True, TAIL: False}, (ENTRY, ENTRY + 0x48))


def passage(text: str) -> Passage:
    """`A10` is A at cycle 10; then the bytes on the stack, the exception, the task. `R40 16 0x500`
    leaves: the stack below its top behind it, and where the program goes on.
    """
    place, *words = text.split()
    address, cycle = PLACES[place[0]], int(place[1:])
    depth, *others = [int(word, 0) for word in words] or [0]
    if place[0] in "RT":
        return Passage(address, cycle, cycle + 5, 0, TOP - depth - 8, TOP - depth, others[0], None)
    exception, task = ([*others, 0])[0], others[1] if others[1:] else None
    return Passage(address, cycle, cycle + 2, exception, TOP - depth, TOP - depth, address + 2, task)


@pytest.mark.parametrize(
    ("section", "passages", "spans"),
    [
        # One after the other; one from a place to itself.
        (BETWEEN, "A10, B30, A50, B55", "10-30 50-55"),
        (ITSELF, "A10, A25, A45", "10-25 25-45 unbegun unended"),
        # A handler that passes the same code pairs for itself.
        (BETWEEN, "A10, A20 64 22, B25 64 22, B60", "10-60 20-25"),
        # A recursive section pairs by depth.
        (BETWEEN, "A10, A20 32, B30 32, B50", "10-50 20-30/1"),
        # Tasks that are switched pair among themselves.
        (BETWEEN, "A10 0 0 1, A20 -512 0 2, B30 0 0 1, B45 -512 0 2", "10-30 20-45"),
        # A beginning at the same depth starts anew.
        (BETWEEN, "A10, A20, B30", "20-30 restarted"),
        (BETWEEN, "B5, A10, B12, A20", "10-12 unbegun unended"),
        # From a handler to the task that it wakes.
        (BETWEEN, "A10 0 45, B90 8", "10-90 crossed"),
        # A call lasts to the end of its return, where the stack is as it was.
        (CALL, "E10, R40 0 0x500", "10-45"),
        (CALL, "E10, E20 16, R30 16 0x308, R50 0 0x500", "10-55 20-35/1"),
        # A branch leaves only if it goes out.
        (CALL, "E10, T20 0 0x332, T30 0 0x900", "10-35"),
        # A call that never returned is not paired with a later end.
        (CALL, "E10 64, E30, R40 0 0x500", "30-45/1 unended"),
    ],
)
def test_an_end_belongs_to_its_beginning(section: Section, passages: str, spans: str) -> None:
    """`20-25/1` is nested in another one."""
    rows = [passage(text) for text in passages.split(", ")]
    measured = measure(section, rows)
    words = [f"{row.begin}-{row.end}{f'/{row.nested}' if row.nested else ''}" for row in measured.passed]
    for name in ("restarted", "unbegun", "unended", "crossed"):
        words += [name] * getattr(measured, name)
    assert " ".join(words) == spans
