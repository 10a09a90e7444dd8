"""What `masks` finds: how long a program holds interrupts off, where, and who calls it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from typing import Any

from tailscope._baseline import Check, check, judgement_of
from tailscope._documents import Part, reasons_of
from tailscope._errors import Error, NotComplete
from tailscope._figures import NOTHING, Figure, Place, calls
from tailscope._program import ask, options

__tracebackhide__ = True  # pytest shows the line of the test

_RESET = "(reset)"
_OF_INTERRUPTS = ("primask", "faultmask", "basepri", "handler")
KINDS = (*_OF_INTERRUPTS, "scheduler")


@dataclass(frozen=True, repr=False)
class Interval(Figure):
    """The longest interval in which interrupts were held off.

    `cycles` are the most of any, and `ns` is the longest time of any: where the clock changed, that
    may be another interval. The places are those of the most cycles.

    `kind` and `level` are those of the reference. `begin` and `end` are places, `stack` are the
    calls at its begin, the innermost first. `held` names the exceptions that were held off, `task`
    the task. `count` says how many intervals there were at this place. If there was no interval at
    all, it has 0 cycles, and neither begin nor end.
    """

    kind: str
    level: int | None
    begin: Place | None
    end: Place | None
    stack: tuple[Place, ...]
    task: str | None
    held: tuple[str, ...]
    count: int

    @property
    def function(self) -> str:
        """The function whose section it is: who calls a helper that only raises the mask."""
        if self.begin is None:
            return ""
        helped = (
            self.kind != "handler" and self.end and self.end.function not in (self.begin.function, _RESET)
        )
        return self.caller.function if helped and self.caller else self.begin.function

    @property
    def caller(self) -> Place | None:
        """Who called the function that raised it, or what that interrupted if it is a handler's;
        None if that is not known.
        """
        if self.begin is None or self.begin not in self.stack[:-1]:
            return None
        return self.stack[self.stack.index(self.begin) + 1]

    @property
    def _row_kind(self) -> str:
        """Its kind in a baseline: of BASEPRI with the level."""
        return self.name if self.kind == "basepri" else self.kind

    def _details(self) -> list[str]:
        lines = [f"raised by {self.where}"] if self.begin else [self.where]
        lines += ["call stack, innermost first:", *calls(self.stack)] if self.stack else []
        lines += [f"ended by {self.end}"] if self.end else []
        lines += [f"task: {self.task}"] if self.task else []
        lines += [f"held off: {', '.join(self.held)}"] if self.held else []
        return lines


@dataclass(frozen=True, repr=False)
class NotTaken(Figure):
    """The longest time in which an interrupt of a priority could not be taken."""

    def check_baseline(self, *, more_cycles: int = 0) -> None:
        """Raises Error: a baseline has intervals, which lengthen where somebody changes them."""
        del more_cycles
        raise Error(f"{self.name}: a baseline has no priorities; give check() a limit.")


class Masks:
    """How long a program held interrupts off. `document` is the JSON of `masks` (the reference)."""

    def __init__(self, part: Part, *, any_verdict: bool) -> None:
        self._part = part
        self._any_verdict = any_verdict
        self._judgement = judgement_of(part)
        self.document: dict[str, Any] = dict(part.values)
        self.elf = part.text("elf")
        self.until = part.text("until")
        self.cycles = part.whole("cycles")
        """Of the whole run."""
        self.clock_hz = part.number("clock_hz")
        """At the end."""
        self.ended = part.maybe_text("ended")
        """Why the run ended early; None if it did not."""
        self.notes = part.texts("notes")
        self.reasons = reasons_of(part)
        """Sentences on why this is not all that the program does: it stopped, hangs, waits in vain,
        or its start-up never ended."""
        if not self.complete:
            self._refuse(*self.reasons)

    @property
    def complete(self) -> bool:
        """Whether this is all that the program does until the end of the run."""
        return not self.reasons

    @cached_property
    def worst(self) -> tuple[Interval, ...]:
        """The longest interval of each place, the longest of all first."""
        return tuple(self._interval(one) for one in self._part.parts("worst"))

    def longest(self, kind: str | None = None, level: int | None = None) -> Interval:
        """The longest interval of what holds interrupts off; of a kind, and of a level, if they are
        named: a locked scheduler only if it is.

        Raises NotComplete if a longer one was still open at the end: nobody knows its length.
        """
        if kind is not None and kind not in KINDS:
            raise Error(f"There is no kind {kind!r} of interval; choose {', '.join(KINDS)}.")
        name = _name(kind, level)
        found = next((one for one in self.worst if _is(one.kind, one.level, kind, level)), None)
        self._refuse_open(kind, level, 0 if found is None else found._cycles)
        found = found or _none_of(name, kind, level)
        told = self._judgement
        before = told.of(found._row_kind, found.function, found._cycles) if told else None
        return replace(found, before=before, _ns=max(found._ns, self._most_ns(kind, level)))

    def check_baseline(self, *, more_cycles: int = 0) -> None:
        """Raises AssertionError, with a story each, if the program finds anything worse than in the
        baseline and longer by more than `more_cycles`, or if there is no baseline.
        """
        check(self._judgement, more_cycles, self._story)

    def _story(self, of: Check) -> list[str]:
        for one in self.worst:
            if (one._row_kind, one._cycles) == (of.kind, of.cycles):
                return one.story()
        return []

    def _most_ns(self, kind: str | None, level: int | None) -> float:
        """The longest time of any such interval."""
        of_kinds = self._part.part("intervals")
        found = [of_kinds.part(name) for name in (_OF_INTERRUPTS if kind is None else (kind,))]
        if level is not None:
            levels = [row for one in found for row in one.parts("by_level")]
            found = [row for row in levels if row.whole("level") == level]
        return max((one.part("ns").maybe_number("max") or 0.0 for one in found), default=0.0)

    def not_taken(self, priority: int) -> NotTaken:
        """The longest time in which masks and handlers together kept an interrupt of this priority
        waiting: 5 of the NVIC, or its byte, 0x50; an interrupt need not have it. Raises NotComplete
        if it was waiting at the end, and Error if the chip has no such priority.
        """
        name = f"priority {priority}"
        rows = self._part.parts("priorities")
        key = "number" if any(row.whole("number") == priority for row in rows) else "priority"
        for one in rows:
            if one.whole(key) == priority:
                worst = one.maybe_part("worst")
                if one.whole("open"):
                    self._refuse(f"At the end an interrupt of priority {priority} could not be taken.")
                if worst is None:
                    return NotTaken(name, NOTHING, 0.0, 0)
                where = f"begun at {Place.of(worst.part('begin'))}, ended at {Place.of(worst.part('end'))}"
                return NotTaken(name, where, worst.number("ns"), worst.whole("cycles"))
        raise Error(f"{self.elf}: the chip has no priority {priority}; give a number of its NVIC.")

    def _interval(self, one: Part) -> Interval:
        begin = Place.of(one.part("begin"))
        stack = tuple(map(Place.of, one.parts("stack")))
        made = Interval(
            one.text("name"),
            str(begin),
            one.number("ns"),
            one.whole("cycles"),
            one.text("kind"),
            one.maybe_whole("level"),
            begin,
            Place.of(one.part("end")),
            stack,
            one.maybe_text("task"),
            one.texts("held"),
            one.whole("count"),
        )
        return replace(made, where=f"{begin}, from {made.caller}") if made.caller else made

    def _refuse_open(self, kind: str | None, level: int | None, cycles: int) -> None:
        for one in self._part.parts("open"):
            if _is(one.text("kind"), one.maybe_whole("level"), kind, level):
                lasted = self.cycles - one.whole("begin_cycle") - one.whole("asleep_cycles")
                if lasted > cycles:
                    raised = Place.of(one.part("begin"))
                    self._refuse(
                        f"{one.text('name')}, raised by {raised}, was still open at the end, "
                        f"{lasted:,} cycles awake later."
                    )

    def _refuse(self, *reasons: str) -> None:
        if not self._any_verdict:
            raise NotComplete(self.elf, "truncated", reasons)

    def __repr__(self) -> str:
        return f"<Masks of {self.elf}, {self.cycles:,} cycles{'' if self.complete else ', not complete'}>"


def masks(
    elf: str | PathLike[str],
    *,
    until: str = "1s",
    start: str | None = None,
    kernel: str | None = None,
    chip: str | None = None,
    hse: str | None = None,
    strict: bool = False,
    gaps: bool = False,
    semihosting: bool = False,
    any_core: bool = False,
    explain: bool = False,
    any_verdict: bool = False,
) -> Masks:
    """Runs a program on the virtual board, and finds all that holds interrupts off.

    The options are those of the command; `start` is `--from`. Raises NotComplete if the program
    stopped or hangs, or its start-up never ended, and Error.
    """
    part = ask_masks(
        elf,
        until=until,
        start=start,
        kernel=kernel,
        chip=chip,
        hse=hse,
        strict=strict,
        gaps=gaps,
        semihosting=semihosting,
        any_core=any_core,
        explain=explain,
    )
    return Masks(part, any_verdict=any_verdict)


def ask_masks(elf: str | PathLike[str], *, start: str | None = None, **chosen: object) -> Part:
    """The document of the command."""
    return ask("masks", *options({"from": start, **chosen}), "--json", "--", fspath(elf))


def _none_of(name: str, kind: str | None, level: int | None) -> Interval:
    return Interval(name, NOTHING, 0.0, 0, kind or "any", level, None, None, (), None, (), 0)


def _name(kind: str | None, level: int | None) -> str:
    if kind is None:
        return "longest"
    return kind if level is None else f"{kind} {level:#04x}" if kind == "basepri" else f"{kind} {level}"


def _is(kind: str, level: int | None, asked_kind: str | None, asked_level: int | None) -> bool:
    of_kind = kind in _OF_INTERRUPTS if asked_kind is None else kind == asked_kind
    return of_kind and asked_level in (None, level)
