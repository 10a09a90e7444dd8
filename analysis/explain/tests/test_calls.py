"""Calls and loops of traces that are written by hand, one instruction a line."""

from __future__ import annotations

from itertools import count

from analysis.explain.calls import Called, calls, dominating, own_cycles
from analysis.explain.execution import Step

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
    assert [own_cycles(call, executed) for call in called] == [30, 20]


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
