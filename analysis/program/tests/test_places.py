"""Callers that LR alone tells of, and what a handler returns to, in hand-written assembler."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.errors import LatencyError
from analysis.explain.program import Function, exits_of
from analysis.program.latency.sections import Section, parse
from analysis.program.masks.measure import MaskReport, measure
from analysis.program.masks.tests.made import Program
from analysis.program.masks.worst import Worst
from analysis.program.places import addresses_of, function_named
from analysis.program.subject import Subject
from simulator.masks import MOST_MARKS
from simulator.program import user_program
from tests import masked_sections
from tests.sentences import Sentences
from tests.tables import table

# None of it has frame information. leaf() is called from caller(); stale() calls other() first, so
# LR points behind that call, in another function; hook() is called by a pointer. The handler masks
# after it has called other(), with LR in itself.
SOURCE = r"""
    .syntax unified
    .cpu cortex-m4
    .thumb
    .section .vectors, "a"
    .word stack_top, reset + 1, 0x0800bad1, 0x0800bad1
    .space 4 * (16 + 28 - 4)
    .word handler + 1
    .text
    .global reset, caller, leaf, stale, tail, other, hook, handler
    .thumb_func
reset:
    bl caller
    ldr r0, =0xE000E100
    ldr r1, =1 << 28
    str r1, [r0]
    str r1, [r0, #0x100]
    dsb
    isb
    b .
    .ltorg
    .thumb_func
caller:
    push {r4, lr}
    bl leaf
    bl stale
    ldr r3, =hook + 1
    blx r3
    pop {r4, pc}
    .ltorg
    .thumb_func
leaf:
    cpsid i
    .rept 10
    nop
    .endr
    cpsie i
    bx lr
    .thumb_func
stale:
    push {r4, lr}
    bl tail
    cpsid i
    .rept 20
    nop
    .endr
    cpsie i
    pop {r4, pc}
tail:
    push {r4, lr}
    bl other
    pop {r4, pc}
    .thumb_func
other:
    bx lr
    .thumb_func
hook:
    cpsid i
    .rept 30
    nop
    .endr
    cpsie i
    bx lr
    .thumb_func
handler:
    push {r4, lr}
    bl tail
    cpsid i
    .rept 40
    nop
    .endr
    cpsie i
    pop {r4, pc}
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> MaskReport:
    folder = tmp_path_factory.mktemp("places")
    (folder / "a.S").write_text(SOURCE)
    elf = masked_sections.build(folder, source=folder / "a.S")
    return measure(Subject.of(user_program(elf), "1ms"), False, lambda _: None)


def masked(report: MaskReport, function: str) -> Worst:
    (row,) = [row for row in report.worst if (row.kind, row.begin.function) == ("primask", function)]
    return row


def names(worst: Worst) -> list[str]:
    return [f"{'likely ' if frame.likely else ''}{frame.function}" for frame in worst.stack]


def test_functions_without_size_have_their_names_and_lengths(report: MaskReport) -> None:
    for function, cycles in (("leaf", 11), ("stale", 21), ("hook", 31), ("handler", 41)):
        assert masked(report, function).cycles == cycles


def test_a_caller_that_lr_alone_tells_of_is_likely(report: MaskReport) -> None:
    """The call there is one of this function, or one by a pointer, which may be."""
    assert names(masked(report, "leaf")) == ["leaf", "likely caller"]
    assert names(masked(report, "hook")) == ["hook", "likely caller"]
    assert str(masked(report, "leaf").caller).startswith("likely caller")


def test_a_call_of_another_function_tells_of_no_caller(report: MaskReport) -> None:
    """LR still points behind the call of other() in tail()."""
    assert names(masked(report, "stale")) == ["stale"]


def test_a_handler_was_called_by_nobody(report: MaskReport) -> None:
    assert names(masked(report, "handler")) == ["handler"]
    (handler,) = [worst for worst in report.worst if worst.kind == "handler"]
    assert [frame.function for frame in handler.stack] == ["handler", "reset"]


# Places as a user writes them, in a program that is written by hand; and whole refusals.


LINES = [
    *((0x100, "app.c:10"), (0x104, "app.c:12"), (0x108, "app.c:10"), (0x140, ""), (0x200, "app.c:12")),
    *((0x204, "app.c:20"), (0x300, "util.c:12"), (0x900, "app.c:30")),
]


class Named(Program):
    """With labels, a line table and a function's instructions."""

    def __init__(self, *code: tuple[int, str, str], functions: bool = True) -> None:
        named = (("first", 0x100), ("second", 0x200), ("third", 0x300), ("twice", 0x400), ("twice", 0x500))
        super().__init__(*(Function(name, address, 0x40) for name, address in named if functions))
        self.labels = {"first": [0x100], "loop": [0x110], "twice": [0x400, 0x500]} if functions else {}
        self.lines = LINES
        self._instructions = code

    def instructions(self, function: Function) -> list[tuple[int, int, str, str]]:
        return [(function.address + at, 2, mnemonic, words) for at, mnemonic, words in self._instructions]


PROGRAM: Any = Named()


@table
def test_a_place_is_one_or_more_addresses(place: str, addresses: tuple[int, ...]) -> None:
    assert addresses_of(PROGRAM, place) == [*addresses]


RETURNS = [(2 * number, "bx", "lr") for number in range(1, MOST_MARKS)]
MANY: Any = Named(*RETURNS, (0, "bx", "lr"), (2 * MOST_MARKS, "bx", "lr"))
PROGRAMS = {"whole": PROGRAM, "bare": Named(functions=False), "many": MANY}
READERS = {"addresses": addresses_of, "function": function_named, "section": parse}


@table
def test_what_is_no_place_is_refused(read: str, word: str, program: str, sentences: Sentences) -> None:
    with sentences.raised(LatencyError):
        READERS[read](PROGRAMS[program], word)


@table
def test_the_ways_out_of_a_function(code: str, exits: str) -> None:
    rows = [row.split(" ", 2) for row in code.split("; ")]
    program: Any = Named(*((int(at), mnemonic, words) for at, mnemonic, words in rows))
    ways = exits_of(program, function_named(program, "first"))
    assert "; ".join(f"{at - 0x100} {'return' if back else 'leaves'}" for at, back in ways.items()) == exits
    assert parse(program, "first..") == Section("first..", frozenset((0x100,)), ways, range(0x100, 0x140))


def test_sections_are_two_places_or_a_function() -> None:
    section = parse(PROGRAM, "first..app.c:12")
    assert section == Section("first..app.c:12", frozenset((0x100,)), {0x104: True, 0x200: True})
    assert section.addresses == {0x100, 0x104, 0x200}
    most: Any = Named(*RETURNS)
    assert len(parse(most, "first..").addresses) == MOST_MARKS
    assert function_named(PROGRAM, "second").address == 0x200
