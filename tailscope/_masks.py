"""What `masks` finds: how long a program holds interrupts off, where, and who calls it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Literal, TypeAlias, get_args

from tailscope._baseline import Check, check, judgement_of
from tailscope._bench import ask, options
from tailscope._errors import Error, NotComplete
from tailscope._figures import NOTHING, Figure, Place, calls, reasons_of

__tracebackhide__ = True  # pytest shows the line of the test

_RESET = "(reset)"
_OF_INTERRUPTS = ("primask", "faultmask", "basepri", "handler")
Kind: TypeAlias = Literal["primask", "faultmask", "basepri", "handler", "scheduler"]
KINDS: tuple[str, ...] = get_args(Kind)


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
    begin: Place | None = None
    end: Place | None = None
    stack: tuple[Place, ...] = ()
    task: str | None = None
    held: tuple[str, ...] = ()
    count: int = 0

    @property
    def where(self) -> str:
        """The place in words, and who called it."""
        if self.begin is None:
            return NOTHING
        return f"{self.begin}, from {self.caller}" if self.caller else str(self.begin)

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
        lines += calls(self.stack)
        lines += [f"ended by {self.end}"] if self.end else []
        lines += [f"task: {self.task}"] if self.task else []
        lines += [f"held off: {', '.join(self.held)}"] if self.held else []
        return lines


class NotTaken(Figure):
    """The longest time in which an interrupt of a priority could not be taken."""

    begin: Place | None = None
    end: Place | None = None

    @property
    def where(self) -> str:
        """Where it began and ended."""
        return f"begun at {self.begin}, ended at {self.end}" if self.begin else NOTHING

    def check_baseline(self, *, more_cycles: int = 0) -> None:
        """Raises Error: a baseline has intervals, which lengthen where somebody changes them."""
        del more_cycles
        raise Error(f"{self.name}: a baseline has no priorities; give check() a limit.")


class Masks:
    """How long a program held interrupts off. `document` is the JSON of `masks` (the reference)."""

    def __init__(self, document: dict[str, Any], *, any_verdict: bool) -> None:
        self.document = document
        self._any_verdict = any_verdict
        self._judgement = judgement_of(document)
        self.elf: str = document["elf"]
        self.until: str = document["until"]
        self.cycles: int = document["cycles"]
        """Of the whole run."""
        self.clock_hz: float = document["clock_hz"]
        """At the end."""
        self.ended: str | None = document["ended"]
        """Why the run ended early; None if it did not."""
        self.notes: tuple[str, ...] = tuple(document["notes"])
        self.reasons = reasons_of(document)
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
        return tuple(map(Interval.model_validate, self.document["worst"]))

    def longest(self, kind: Kind | None = None, level: int | None = None) -> Interval:
        """The longest interval of what holds interrupts off; of a kind, and of a level, if they are
        named: a locked scheduler only if it is.

        Raises NotComplete if a longer one was still open at the end: nobody knows its length.
        """
        if kind is not None and kind not in KINDS:
            raise Error(f"There is no kind {kind!r} of interval; choose {', '.join(KINDS)}.")
        longest = next(
            (interval for interval in self.worst if _is(interval.kind, interval.level, kind, level)), None
        )
        self._refuse_open(kind, level, 0 if longest is None else longest.plain_cycles)
        longest = longest or _none_of(kind, level)
        before = None
        if self._judgement:
            before = self._judgement.of(longest._row_kind, longest.function, longest.plain_cycles)
        plain_ns = max(longest.plain_ns, self._most_ns(kind, level))
        return longest.model_copy(update={"before": before, "plain_ns": plain_ns})

    def check_baseline(self, *, more_cycles: int = 0) -> None:
        """Raises AssertionError, with a story each, if the program finds anything worse than in the
        baseline and longer by more than `more_cycles`, or if there is no baseline.
        """
        check(self._judgement, more_cycles, self._story)

    def _story(self, of: Check) -> list[str]:
        for interval in self.worst:
            if (interval._row_kind, interval.plain_cycles) == (of.now.kind, of.now.cycles):
                return interval.story()
        return []

    def _most_ns(self, kind: str | None, level: int | None) -> float:
        """The longest time of any such interval."""
        rows = [self.document["intervals"][name] for name in (_OF_INTERRUPTS if kind is None else (kind,))]
        if level is not None:
            rows = [row for of_kind in rows for row in of_kind["by_level"] if row["level"] == level]
        return max((row["ns"]["max"] or 0.0 for row in rows), default=0.0)

    def not_taken(self, priority: int) -> NotTaken:
        """The longest time in which masks and handlers together kept an interrupt of this priority
        waiting: 5 of the NVIC, or its byte, 0x50; an interrupt need not have it. Raises NotComplete
        if it was waiting at the end, and Error if the chip has no such priority.
        """
        name = f"priority {priority}"
        rows = self.document["priorities"]
        key = "number" if any(row["number"] == priority for row in rows) else "priority"
        for row in rows:
            if row[key] == priority:
                if row["open"]:
                    self._refuse(f"At the end an interrupt of priority {priority} could not be taken.")
                return NotTaken(**{"ns": 0.0, "cycles": 0, **(row["worst"] or {}), "name": name})
        raise Error(f"{self.elf}: the chip has no priority {priority}; give a number of its NVIC.")

    def _refuse_open(self, kind: str | None, level: int | None, cycles: int) -> None:
        for row in self.document["open"]:
            if _is(row["kind"], row["level"], kind, level):
                lasted = self.cycles - row["begin_cycle"] - row["asleep_cycles"]
                if lasted > cycles:
                    self._refuse(
                        f"{row['name']}, raised by {Place(**row['begin'])}, was still open at the end, "
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
    attach: Sequence[str] = (),
    explain: bool = False,
    any_verdict: bool = False,
) -> Masks:
    """Runs a program on the virtual board, and finds all that holds interrupts off.

    The options are those of the command; `start` is `--from`. Raises NotComplete if the program
    stopped or hangs, or its start-up never ended, and Error.
    """
    words = {name: value for name, value in locals().items() if name not in ("elf", "any_verdict")}
    return Masks(ask_masks(elf, **words), any_verdict=any_verdict)


def ask_masks(elf: str | PathLike[str], *, start: str | None = None, **chosen: object) -> dict[str, Any]:
    """The document of the command."""
    return ask("masks", *options(**{"from": start}, **chosen), "--json", "--", fspath(elf))


def _none_of(kind: str | None, level: int | None) -> Interval:
    return Interval(name=_name(kind, level), ns=0.0, cycles=0, kind=kind or "any", level=level)


def _name(kind: str | None, level: int | None) -> str:
    if kind is None:
        return "longest"
    return kind if level is None else f"{kind} {level:#04x}" if kind == "basepri" else f"{kind} {level}"


def _is(kind: str, level: int | None, asked_kind: str | None, asked_level: int | None) -> bool:
    of_kind = kind in _OF_INTERRUPTS if asked_kind is None else kind == asked_kind
    return of_kind and asked_level in (None, level)
