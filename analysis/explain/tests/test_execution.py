"""The call stack where the frame tables do not tell it: an interrupted PUSH, a naked handler."""

from __future__ import annotations

from itertools import count, dropwhile
from pathlib import Path

import pytest

from analysis.explain.execution import Called, Step, calls, dominating, stack
from analysis.explain.program import Program
from analysis.explain.tests.unwinding import unwind
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import masks
from simulator import run as simulator
from simulator.outputs import Change, State
from simulator.program import UserProgram

UNTIL = "60ms"
PENDSV = 14


@pytest.fixture(scope="module")
def elf() -> Path:
    return firmware.build("seglist").elf


@pytest.fixture(scope="module")
def image() -> bytes:
    return catalogue.load("mem_frag", {"depth": 16}).compile().image


@pytest.fixture(scope="module")
def log(elf: Path, image: bytes) -> masks.MaskRun:
    return masks.run_masks(UserProgram(elf), UNTIL, image)


def entries(log: masks.MaskRun) -> list[Change]:
    return [change for change in log.changes if change.what == "exception" and change.value]


def states(elf: Path, image: bytes, cycles: list[int]) -> tuple[State, ...]:
    return simulator.run(elf, image=image, until=max(cycles) + 1, states_at=cycles).states


def test_what_a_handler_interrupted_in_a_push(elf: Path, image: bytes, log: masks.MaskRun) -> None:
    """In the log of masks and in a state, and as pyelftools' tables tell it. Behind the handler the
    calls are those of the interrupted code, whether or not the PUSH had moved SP.
    """
    program = Program(elf)
    in_push = [change for change in entries(log) if program.code(change.pc, 2)[1] & 0xFE == 0xB4][:40]
    moved = 0
    at = [change.cycle + 2 for change in in_push]
    for change, state in zip(in_push, states(elf, image, at), strict=True):
        assert change.stack is not None
        addresses = [address for address, _ in state.stack]
        assert unwind(program, state) == addresses
        assert addresses[1:] == log.stacks[change.stack]
        status = state.word(state.registers["psp"] + 0x1C)
        moved += status is not None and bool(status & 0xF000) and not status & 0x0600_0C00
    assert moved, "some were cut off after SP had moved"


def test_a_naked_handler_is_no_caller_of_itself(elf: Path, image: bytes, log: masks.MaskRun) -> None:
    """All through FreeRTOS's PendSV. Once it has called, its LR is lost: the stack ends there.

    Before and behind, it is that of the task that was left, or that is come to. The fifth switch is
    of two tasks that have no floating-point frame. Where one of them has, LR is already of the one
    while PSP is still of the other, and the stack ends a caller or two early: nothing tells which
    frame lies there.
    """
    program = Program(elf)
    switch = [change.cycle for change in entries(log) if change.value == PENDSV][4]
    outermost = set()
    stacks = [
        [frame.place for frame in stack(program, state.stack)]
        for state in states(elf, image, list(range(switch, switch + 180)))
    ]
    # The first states are of the handler that it is chained to.
    for places in dropwhile(lambda places: not places[0].startswith("xPortPendSVHandler"), stacks):
        assert len(set(places)) == len(places)
        outermost.add(places[-1].split("+")[0])
    assert outermost == {"xPortPendSVHandler", "run_bench", "answer_stimulus"}


BASE = {"main": 0x100, "walk": 0x200, "look": 0x300, "handler": 0x400, "pend": 0x500, "other": 0x600}


def trace(*result: str) -> list[Step]:
    """`walk+4 bl #0x300`: 10 cycles each, from cycle 0. `!IRQ 28` is the line of an exception."""
    clock = count(0, 10)
    steps: list[Step] = []
    for line in result:
        if line.startswith("!"):
            steps.append(Step(steps[-1].cycle + 10, 0, 0, "(exception)", "", f"now in {line[1:]}", ""))
            continue
        place, _, text = line.partition(" ")
        name, _, offset = place.partition("+")
        address = BASE[name] + int(offset or 0)
        steps.append(Step(next(clock), 10, address, name, place, text, f"{name}.c:{offset or 0}"))
    return steps


def drawn(called: list[Called]) -> list[tuple[int, str, int, int]]:
    return [(call.depth, call.name, call.begin, call.end) for call in called]


def test_a_call_lasts_until_the_step_behind_it() -> None:
    executed = trace(
        "walk mov r0, r1", "walk+4 bl #0x300", "look ldr r0, [r0]", "look+2 bx lr", "walk+8 mov r0, r1"
    )
    called = calls(executed)
    assert drawn(called) == [(0, "walk", 0, 50), (1, "look", 20, 40)]
    assert [sum(step.cycles for step in call.own) for call in called] == [30, 20]


def test_who_called_before_the_trace_began_is_around_it() -> None:
    executed = trace("look pop {r4, pc}", "walk+8 mov r0, r1", "walk+10 bx lr", "main+4 mov r0, r1")
    assert drawn(calls(executed)) == [(0, "main", 0, 40), (1, "walk", 0, 30), (2, "look", 0, 10)]


def test_a_jump_in_place_of_a_last_call_returns_for_both() -> None:
    executed = trace("main+4 bl #0x200", "walk+2 b #0x300", "look mov r0, r1", "look+2 bx lr", "main+8 nop")
    assert drawn(calls(executed)) == [(0, "main", 0, 50), (1, "walk", 10, 40), (2, "look", 20, 40)]


def test_a_handler_lies_in_what_it_interrupted_also_between_a_return_and_its_caller() -> None:
    executed = trace(
        "walk+4 bl #0x300", "look+2 bx lr", "!IRQ 28", "handler mov r0, r1", "handler+2 bx lr",
        "!Thread mode", "walk+8 nop",
    )  # fmt: skip
    assert drawn(calls(executed)) == [(0, "walk", 0, 50), (1, "look", 10, 40), (2, "handler", 20, 40)]
    assert [call.in_handler for call in calls(executed)] == [False, False, True]


WALK = ["walk+4 ldr r0, [r0]", "walk+6 bne #0x204"]


def test_a_loop_is_where_a_branch_leads_back_and_counts_what_it_calls() -> None:
    called = ["walk+4 bl #0x300", "look bx lr", "walk+8 bne #0x204"]
    executed = trace("walk nop", *called, *called, *called, "walk+10 nop")
    loop = dominating(calls(executed), executed, [])
    assert loop is not None
    assert (loop.head, loop.last, loop.passes) == (0x204, 0x208, 3)
    assert (loop.stretches, loop.cycles) == (((10, 100),), 90)


def test_what_interrupts_a_loop_is_not_of_it() -> None:
    executed = trace(*WALK, "!IRQ 28", "handler bx lr", "!Thread mode", *WALK, *WALK)
    loop = dominating(calls(executed), executed, [(20, 30)])
    assert loop is not None
    assert (loop.passes, loop.stretches) == (3, ((0, 20), (30, 70)))
