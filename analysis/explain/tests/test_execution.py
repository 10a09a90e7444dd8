"""The call stack where the frame tables do not tell it: an interrupted PUSH, a naked handler."""

from __future__ import annotations

from itertools import dropwhile
from pathlib import Path

import pytest

from analysis.explain.execution import unwind
from analysis.explain.program import Program
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
    """As the simulator tells it, which unwinds by itself. Behind the handler the calls are those of
    the interrupted code, whether or not the PUSH had moved SP.
    """
    program = Program(elf)
    in_push = [change for change in entries(log) if program.code(change.pc, 2)[1] & 0xFE == 0xB4][:40]
    moved = 0
    at = [change.cycle + 2 for change in in_push]
    for change, state in zip(in_push, states(elf, image, at), strict=True):
        assert change.stack is not None
        assert [frame.address for frame in unwind(program, state)][1:] == log.stacks[change.stack]
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
        [frame.place for frame in unwind(program, state)]
        for state in states(elf, image, list(range(switch, switch + 180)))
    ]
    # The first states are of the handler that it is chained to.
    for places in dropwhile(lambda places: not places[0].startswith("xPortPendSVHandler"), stacks):
        assert len(set(places)) == len(places)
        outermost.add(places[-1].split("+")[0])
    assert outermost == {"xPortPendSVHandler", "run_bench", "answer_stimulus"}
