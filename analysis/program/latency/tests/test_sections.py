"""Which passages belong together: by hand."""

from __future__ import annotations

from analysis.program.latency.sections import Section, measure
from simulator.masks import Passage
from tests.tables import table

A, B, ENTRY, RETURN, TAIL = 0x100, 0x200, 0x300, 0x340, 0x330
PLACES = {"A": A, "B": B, "E": ENTRY, "R": RETURN, "T": TAIL}
TOP = 0x2000_1000
SECTIONS = {
    "between": Section("a..b", frozenset((A,)), {B: True}),
    "itself": Section("a..a", frozenset((A,)), {A: True}),
    "call": Section("f..", frozenset((ENTRY,)), {RETURN: True, TAIL: False}, (ENTRY, ENTRY + 0x48)),
}


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


@table
def test_an_end_belongs_to_its_beginning(section: str, passages: str, spans: str) -> None:
    """`20-25/1` is nested in another one."""
    rows = [passage(text) for text in passages.split(", ")]
    measured = measure(SECTIONS[section], rows)
    words = [f"{row.begin}-{row.end}{f'/{row.nested}' if row.nested else ''}" for row in measured.passed]
    for name in ("restarted", "unbegun", "unended", "crossed"):
        words += [name] * getattr(measured, name)
    assert " ".join(words) == spans
