"""What a search visited, from the addresses that it read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from analysis.explain.anatomy import _visited, parts
from analysis.explain.program import Function
from analysis.explain.replay import Worst
from analysis.explain.tests.made import maximum
from base.run_folder.named_quantities import ALLOCATE, INTERRUPT, TASK, NamedQuantity
from simulator.outputs import Change


def test_the_words_of_a_header_are_of_one_place() -> None:
    """Of 257 blocks each has its size and two links read, of the first the size alone."""
    blocks = [32 * number for number in range(257)]
    read = [0, *(address + word for address in blocks[1:] for word in (4, 8, 0))]
    assert len(read) == 769
    assert len(_visited(read, (), blocks=False)) == 257


LOCK, HANDLER, SUSPEND = 0x0800_0300, 0x0800_0500, 0x0800_0700
NAMES = {LOCK: "lock", HANDLER: "on_tim3", SUSPEND: "suspend"}
VECTOR_OF_45 = 0x0800_0000 + 4 * 45
PROGRAM: Any = SimpleNamespace(
    place=NAMES.__getitem__,
    source_line=lambda address: f"{NAMES[address]}.c:1",
    function_at=lambda address: Function(NAMES[address], address, 8) if address in NAMES else None,
    code=lambda address, size: (HANDLER | 1).to_bytes(size, "little") if address == VECTOR_OF_45 else b"",
)
FIRST, SECOND = 0x2000_0100, 0x2000_0200
Row = tuple[int, str, int, int, int | None, int]
"""Cycle, what, value, pc, the cycle at which it began, task."""
Part = tuple[str, str, int, int, str]


def parts_of(quantity: NamedQuantity, *rows: Row, start: int = 100, end: int = 200) -> list[Part]:
    """What, words, first cycle, cycles and place of each part."""
    masks = [Change(*row) for row in rows]
    worst = Worst(quantity, 0.0, maximum(), 0, 0, 0, 0, 0, 0)
    pieces = parts(PROGRAM, masks, worst, start, end)
    assert all(part.source == (f"{part.place}.c:1" if part.place else "") for part in pieces)
    return [(part.what, part.words, part.begin_cycle, part.cycles, part.place) for part in pieces]


BEGIN: Row = (0, "primask", 0, 0, None, FIRST)
BY_BASEPRI = "interrupts masked by BASEPRI 0x50"
FREE, OWN = "nothing held it off", "the section's own code"


def test_an_interrupt_waits_for_masks_and_handlers() -> None:
    """The handler counts from where the core begins to enter it; of two masks the first holds."""
    assert parts_of(
        INTERRUPT,
        BEGIN,
        (90, "basepri", 0x50, LOCK, None, FIRST),
        (120, "primask", 1, SUSPEND, None, FIRST),
        (130, "basepri", 0, LOCK, None, FIRST),
        (140, "primask", 0, SUSPEND, None, FIRST),
        (162, "exception", 45, 0, 150, FIRST),
        (180, "exception", 0, 0, 170, FIRST),
    ) == [
        ("masked", BY_BASEPRI, 100, 30, "lock"),
        ("masked", "interrupts masked by PRIMASK", 130, 10, "suspend"),
        ("running", FREE, 140, 10, ""),
        ("exception", "handler on_tim3", 150, 30, "on_tim3"),
        ("running", FREE, 180, 20, ""),
    ]


def test_a_section_is_its_own_code_but_for_handlers() -> None:
    """Within the handler of 45 another one, without a vector; both return."""
    assert parts_of(
        ALLOCATE,
        BEGIN,
        (90, "basepri", 0x50, LOCK, None, FIRST),
        (112, "exception", 45, 0, 110, FIRST),
        (122, "exception", 46, 0, 120, FIRST),
        (130, "exception", 45, 0, 128, FIRST),
        (140, "exception", 0, 0, 138, FIRST),
    ) == [
        ("running", OWN, 100, 10, ""),
        ("exception", "handler on_tim3", 110, 10, "on_tim3"),
        ("exception", "exception 46", 120, 10, ""),
        ("exception", "handler on_tim3", 130, 10, "on_tim3"),
        ("running", OWN, 140, 60, ""),
    ]


def test_a_task_waits_for_the_scheduler_too_and_not_for_itself() -> None:
    """Suspended twice, the scheduler counts from the first on, and before a mask within it."""
    rows: tuple[Row, ...] = (
        BEGIN,
        (105, "scheduler", 1, SUSPEND, None, FIRST),
        (110, "scheduler", 2, LOCK, None, FIRST),
        (115, "basepri", 0x50, LOCK, None, FIRST),
        (120, "scheduler", 0, SUSPEND, None, FIRST),
        (150, "basepri", 0, LOCK, None, FIRST),
        (160, "basepri", 0x50, LOCK, None, SECOND),
    )
    assert parts_of(TASK, *rows) == [
        ("running", FREE, 100, 5, ""),
        ("scheduler", "scheduler suspended", 105, 15, "suspend"),
        ("masked", BY_BASEPRI, 120, 30, "lock"),
        ("running", FREE, 150, 10, ""),
        ("running", "the woken task", 160, 40, ""),
    ]
    assert parts_of(INTERRUPT, *rows) == [
        ("running", FREE, 100, 15, ""),
        ("masked", BY_BASEPRI, 115, 35, "lock"),
        ("running", FREE, 150, 10, ""),
        ("masked", BY_BASEPRI, 160, 40, "lock"),
    ]
