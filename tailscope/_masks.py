"""What `masks` finds: how long a program holds interrupts off, where, and who calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from typing import Any

from tailscope._documents import Part
from tailscope._errors import Error, NotComplete
from tailscope._figures import Before, Figure, Place, calls
from tailscope._program import ask, options

_NONE = "there was no such interval"
KINDS = ("primask", "faultmask", "basepri", "handler", "scheduler")

Remembered = Callable[[str], Before | None]
"""What a baseline says of the figure of a name."""


@dataclass(frozen=True, repr=False)
class Interval(Figure):
    """The longest interval in which interrupts were held off.

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

    def _details(self) -> list[str]:
        lines = [f"raised by {self.where}"] if self.begin else [self.where]
        lines += ["call stack, innermost first:", *calls(self.stack)] if self.stack else []
        lines += [f"ended by {self.end}"] if self.end else []
        lines += [f"task: {self.task}"] if self.task else []
        lines += [f"held off: {', '.join(self.held)}"] if self.held else []
        return lines


class Masks:
    """How long a program held interrupts off. `document` is the JSON of `masks` (the reference)."""

    def __init__(self, part: Part, *, any_verdict: bool, before: Remembered = lambda _: None) -> None:
        self._part = part
        self._any_verdict = any_verdict
        self._before = before
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
        self._refuse_early_end()

    @property
    def complete(self) -> bool:
        """Whether the run went to its end."""
        return self.ended is None

    @cached_property
    def worst(self) -> tuple[Interval, ...]:
        """The longest interval of each place, the longest of all first."""
        return tuple(self._interval(one) for one in self._part.parts("worst"))

    def longest(self, kind: str | None = None, level: int | None = None) -> Interval:
        """The longest interval; of a kind, and of a level, if they are named.

        Raises NotComplete if a longer one was still open at the end: nobody knows its length.
        """
        if kind is not None and kind not in KINDS:
            raise Error(f"There is no kind {kind!r} of interval; choose {', '.join(KINDS)}.")
        name = _name(kind, level)
        found = next((one for one in self.worst if _is(one.kind, one.level, kind, level)), None)
        self._refuse_open(kind, level, 0 if found is None else found._cycles)
        return replace(found or _none_of(name, kind, level), before=self._before(name))

    def not_taken(self, priority: int) -> Figure:
        """The longest time in which masks and handlers together kept an interrupt of this priority
        waiting. Raises NotComplete if it was waiting at the end, and Error if the program has no
        exception of this priority.
        """
        name = f"priority {priority}"
        for one in self._part.parts("priorities"):
            if one.whole("priority") == priority:
                worst = one.maybe_part("worst")
                if one.whole("open"):
                    self._refuse(f"At the end an interrupt of priority {priority} could not be taken.")
                if worst is None:
                    return Figure(name, _NONE, 0.0, 0, before=self._before(name))
                where = f"begun at {Place.of(worst.part('begin'))}, ended at {Place.of(worst.part('end'))}"
                return Figure(
                    name, where, worst.number("ns"), worst.whole("cycles"), before=self._before(name)
                )
        raise Error(f"{self.elf}: no exception of priority {priority} was enabled or taken.")

    def _interval(self, one: Part) -> Interval:
        begin = Place.of(one.part("begin"))
        stack = tuple(map(Place.of, one.parts("stack")))
        caller = stack[stack.index(begin) + 1] if begin in stack[:-1] else None
        return Interval(
            one.text("name"),
            f"{begin}, called by {caller}" if caller else str(begin),
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

    def _refuse_early_end(self) -> None:
        if self.ended is not None:
            self._refuse(f"It ended early: {self.ended}.", *self.notes)

    def _refuse_open(self, kind: str | None, level: int | None, cycles: int) -> None:
        for one in self._part.parts("open"):
            if _is(one.text("kind"), one.maybe_whole("level"), kind, level):
                lasted = self.cycles - one.whole("begin_cycle")
                if lasted > cycles:
                    raised = Place.of(one.part("begin"))
                    self._refuse(
                        f"{one.text('name')}, raised by {raised}, was still open at the end, "
                        f"{lasted:,} cycles later."
                    )

    def _refuse(self, *reasons: str) -> None:
        if not self._any_verdict:
            raise NotComplete(self.elf, "truncated", reasons)

    def __repr__(self) -> str:
        ended = "" if self.complete else f", ended early: {self.ended}"
        return f"<Masks of {self.elf}, {self.cycles:,} cycles{ended}>"


def masks(
    elf: str | PathLike[str],
    *,
    until: str = "1s",
    chip: str | None = None,
    hse: str | None = None,
    gaps: bool = False,
    semihosting: bool = False,
    explain: bool = False,
    any_verdict: bool = False,
) -> Masks:
    """Runs a program on the virtual board, and finds all that holds interrupts off.

    The options are those of the command. Raises NotComplete if the run ended early, and Error.
    """
    return Masks(
        ask_masks(elf, until=until, chip=chip, hse=hse, gaps=gaps, semihosting=semihosting, explain=explain),
        any_verdict=any_verdict,
    )


def ask_masks(elf: str | PathLike[str], **chosen: object) -> Part:
    """The document of the command."""
    return ask("masks", *options(chosen), "--json", "--", fspath(elf)).document


def _none_of(name: str, kind: str | None, level: int | None) -> Interval:
    return Interval(name, _NONE, 0.0, 0, kind or "any", level, None, None, (), None, (), 0)


def _name(kind: str | None, level: int | None) -> str:
    if kind is None:
        return "longest"
    return kind if level is None else f"{kind} {level:#04x}" if kind == "basepri" else f"{kind} {level}"


def _is(kind: str, level: int | None, asked_kind: str | None, asked_level: int | None) -> bool:
    return asked_kind in (None, kind) and asked_level in (None, level)
