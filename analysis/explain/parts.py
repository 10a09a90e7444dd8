"""Divides a sample's cycles, in order: handlers, masks, the scheduler's lock, the code.

It is told by the board's log of what holds interrupts and tasks off
(docs/reference/simulator-files.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analysis.explain.program import Program
from analysis.explain.worst import Worst
from base.run_folder.explanation import Part
from base.run_folder.named_quantities import INTERRUPT, TASK
from simulator.outputs import Change
from simulator.program import FLASH_ADDRESS

_MASKS = {"primask": "PRIMASK", "faultmask": "FAULTMASK", "basepri": "BASEPRI"}
_WORD_BYTES = 4
WOKEN = "the woken task"


@dataclass(frozen=True)
class _Held:
    """A mask or the scheduler's lock, and the instruction that set it; None if nobody saw it."""

    words: str
    pc: int | None


@dataclass(frozen=True)
class _Now:
    """The state from `cycle` on. `masks` are in the order in which they were set."""

    cycle: int
    exception: int = 0
    masks: tuple[tuple[str, _Held], ...] = ()
    scheduler: _Held | None = None
    task: int | None = None


@dataclass(frozen=True)
class _Key:
    """The key that tells one part from the next."""

    what: Literal["exception", "masked", "scheduler", "running"]
    words: str
    pc: int | None


def parts(program: Program, masks: Sequence[Change], worst: Worst, start: int, end: int) -> list[Part]:
    """The parts from cycle `start` to before `end`; they are without gaps.

    An exception lasts from where the core begins to enter it to where it is back from it. A mask
    counts in an interrupt's and a task's latency. In a task's the scheduler's lock does too, before
    masks within it, and what the woken task does itself is no waiting.
    """
    states = sorted(_states(masks), key=lambda now: now.cycle)
    before = [now for now in states if now.cycle <= start]
    within = [now for now in states if start < now.cycle < end]
    first = replace(before[-1] if before else _Now(start), cycle=start)
    woken = [first, *within][-1].task
    settled = _Told(program, worst, first.task, woken)
    spans: list[tuple[_Key, int]] = []
    for now in (first, *within):
        key = settled.key(now)
        if spans and spans[-1][1] == now.cycle:
            spans.pop()
        if not spans or spans[-1][0] != key:
            spans.append((key, now.cycle))
    ends = [*(cycle for _, cycle in spans[1:]), end]
    return [settled.part(key, cycle, until) for (key, cycle), until in zip(spans, ends, strict=True)]


@dataclass(frozen=True)
class _Told:
    program: Program
    worst: Worst
    interrupted: int | None
    woken: int | None

    def key(self, now: _Now) -> _Key:
        """The key of what the time goes to: of several, the one that holds the others off."""
        quantity = self.worst.quantity
        if now.exception:
            return _Key("exception", self._handler(now.exception), self._entry(now.exception))
        if quantity == TASK and now.task == self.woken != self.interrupted:
            return _Key("running", WOKEN, None)
        if quantity == TASK and now.scheduler:
            return _Key("scheduler", now.scheduler.words, now.scheduler.pc)
        if quantity in (INTERRUPT, TASK) and now.masks:
            _, held = now.masks[0]
            return _Key("masked", held.words, held.pc)
        words = "nothing held it off" if quantity in (INTERRUPT, TASK) else "the section's own code"
        return _Key("running", words, None)

    def part(self, key: _Key, begin: int, end: int) -> Part:
        has_place = key.pc is not None
        return Part(
            what=key.what,
            words=key.words,
            begin_cycle=begin,
            cycles=end - begin,
            place=self.program.place(key.pc) if has_place and key.pc is not None else "",
            source=self.program.source_line(key.pc) if has_place and key.pc is not None else "",
        )

    def _entry(self, exception: int) -> int | None:
        """The address of its handler, from the vector table."""
        word = self.program.code(FLASH_ADDRESS + exception * _WORD_BYTES, _WORD_BYTES)
        return int.from_bytes(word, "little") & ~1 if word else None

    def _handler(self, exception: int) -> str:
        entry = self._entry(exception)
        function = None if entry is None else self.program.function_at(entry)
        return f"exception {exception}" if function is None else f"handler {function.name}"


def _states(masks: Sequence[Change]) -> Iterator[_Now]:
    """The state after each change. What the log begins with was set before, nobody knows where."""
    now, active, began_at = _Now(0), [0], masks[0].cycle if masks else None
    for cycle, what, value, pc, began, task, _ in masks:
        seen = None if cycle == began_at else pc
        now = replace(now, cycle=cycle, task=task)
        if what == "exception":
            if value in active:
                del active[active.index(value) + 1 :]
            else:
                active.append(value)
                now = replace(now, cycle=cycle if began is None else began)
            now = replace(now, exception=value)
        elif what in _MASKS:
            others = tuple(held for held in now.masks if held[0] != what)
            now = replace(now, masks=_with(others, what, value, seen))
        elif what == "scheduler":
            suspended = _Held("scheduler suspended", seen)
            now = replace(now, scheduler=(now.scheduler or suspended) if value else None)
        yield now


def _with(
    others: tuple[tuple[str, _Held], ...], what: str, value: int, pc: int | None
) -> tuple[tuple[str, _Held], ...]:
    if not value:
        return others
    level = f" {value:#x}" if what == "basepri" else ""
    return (*others, (what, _Held(f"interrupts masked by {_MASKS[what]}{level}", pc)))
