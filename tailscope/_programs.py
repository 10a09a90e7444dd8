"""What `masks`, `latency` and `bounds` find in a program: how long it holds interrupts off, where,
and who calls it; how long an interrupt waits, and sections take; how long it can hold them off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import fspath
from typing import Literal, TypeAlias, Unpack, get_args

from pydantic import Field

from tailscope._base import BoardOptions, Statistics
from tailscope._bench import Document, FilePath, ask, options
from tailscope._errors import Error, NotComplete
from tailscope._figures import NOTHING, Figure, Place, Row, calls

__tracebackhide__ = True  # pytest shows the line of the test

_OF_INTERRUPTS = ("primask", "faultmask", "basepri", "handler")
Kind: TypeAlias = Literal["primask", "faultmask", "basepri", "handler", "scheduler"]
KINDS: tuple[str, ...] = get_args(Kind)


class Measured:
    """What a command found in a program. `document` is the JSON that it prints (the reference), and
    `reasons` are sentences on why it is not all that the program does.
    """

    def __init__(self, document: Document, *, any_verdict: bool) -> None:
        self.document = document
        self.elf: str = document["elf"]
        self._any_verdict = any_verdict
        self.reasons = self._reasons()
        if self.reasons:
            self._refuse(*self.reasons)

    @property
    def complete(self) -> bool:
        """Whether this is all that the program does until the end of the run."""
        return not self.reasons

    def _reasons(self) -> tuple[str, ...]:
        return (*self.document["reasons"], *filter(None, [self.document.get("polls")]))

    def _refuse(self, *reasons: str) -> None:
        if not self._any_verdict:
            raise NotComplete(self.elf, "truncated", reasons)

    def check_baseline(self) -> None:
        """Raises AssertionError if the program finds anything worse than in its baseline, or if it
        has none, and Error where it cannot say.
        """
        judgement = self.document.get("judgement")
        if judgement is None:
            raise AssertionError("there is no baseline of it: `pytest --tailscope-update` writes one")
        worse = [line for check in _checks(self.document, "worse") for line in check]
        if worse:
            raise AssertionError("\n".join([judgement["verdict"], *worse]))
        if refusal := refusal_of(self.document):
            raise Error(refusal)


def _checks(document: Document, state: str) -> list[list[str]]:
    """Of each check of this state its sentences. After an update there is none."""
    subjects = document.get("judgement", {}).get("subjects", ())
    checks = [check for subject in subjects for check in subject["checks"] if check["state"] == state]
    return [[f"{check['name']}: {check['sentence']}", *check["named"]] for check in checks]


def refusal_of(document: Document) -> str:
    """Why it cannot be said that the program is as good as its baseline; empty if it can."""
    subjects = document.get("judgement", {}).get("subjects", ())
    refused = [subject["refusal"] for subject in subjects if subject["refusal"]]
    refused += map(" ".join, _checks(document, "cannot say"))
    return " ".join([*refused, *(note for subject in subjects for note in subject["notes"] if refused)])


class Interval(Figure):
    """The longest interval in which interrupts were held off.

    `cycles` are the most of any, and `ns` is the longest time of any: where the clock changed, that
    may be another interval. The places are those of the most cycles.

    `kind` and `level` are those of the reference. `held` names the exceptions that were held off,
    `task` the task. `count` says how many intervals there were at this place, and `most_ns` is the
    longest time of these. If there was no interval at all, it has 0 cycles, and neither begin nor
    end.
    """

    kind: str
    level: int | None
    task: str | None = None
    held: tuple[str, ...] = ()
    count: int = 0
    most_ns: float = 0.0

    @property
    def where(self) -> str:
        """The place in words, and who called it."""
        return f"{super().where}, from {self.caller}" if self.caller else super().where

    @property
    def caller(self) -> Place | None:
        """Who called the function that raised it, or what that interrupted if it is a handler's;
        None if that is not known.
        """
        if self.begin is None or self.begin not in self.stack[:-1]:
            return None
        return self.stack[self.stack.index(self.begin) + 1]

    def _details(self) -> list[str]:
        lines = [f"raised by {self.where}"] if self.begin else [self.where]
        lines += calls(self.stack)
        lines += [f"ended by {self.end}"] if self.end else []
        lines += [f"task: {self.task}"] if self.task else []
        lines += [f"held off: {', '.join(self.held)}"] if self.held else []
        return lines


class NotTaken(Figure):
    """The longest time in which an interrupt of a priority could not be taken."""

    @property
    def where(self) -> str:
        """Where it began and ended."""
        return f"begun at {self.begin}, ended at {self.end}" if self.begin else NOTHING


class Masks(Measured):
    """How long a program held interrupts off. `reasons` say that it stopped, hangs, waits in vain,
    or that its start-up never ended.
    """

    def __init__(self, document: Document, *, any_verdict: bool) -> None:
        self.until: str = document["until"]
        self.cycles: int = document["cycles"]
        """Of the whole run."""
        self.clock_hz: float = document["clock_hz"]
        """At the end."""
        self.ended: str | None = document["ended"]
        """Why the run ended early; None if it did not."""
        self.notes: tuple[str, ...] = tuple(document["notes"])
        super().__init__(document, any_verdict=any_verdict)

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

        def counts(of_kind: str, of_level: int | None) -> bool:
            of_any = of_kind in _OF_INTERRUPTS if kind is None else of_kind == kind
            return of_any and level in (None, of_level)

        rows = [row for row in self.worst if counts(row.kind, row.level)]
        nothing = Interval(name=kind or "longest", ns=0.0, cycles=0, kind=kind or "any", level=level)
        longest = next(iter(rows), nothing)
        for row in self.document["open"]:
            lasted = self.cycles - row["begin_cycle"] - row["asleep_cycles"]
            if counts(row["kind"], row["level"]) and lasted > longest.plain_cycles:
                self._refuse(
                    f"{row['name']}, raised by {Place(**row['begin'])}, was still open at the end, "
                    f"{lasted:,} cycles awake later."
                )
        # The longest time of any such interval.
        return longest.model_copy(update={"plain_ns": max((row.most_ns for row in rows), default=0.0)})

    def not_taken(self, priority: int) -> NotTaken:
        """The longest time in which masks and handlers together kept an interrupt of this priority
        waiting: 5 of the NVIC, or its byte, 0x50. Raises NotComplete if it was waiting at the end,
        and Error if the core has no such priority.
        """
        for row in self.document["priorities"]:
            if priority in (row["number"], row["priority"]):
                if row["open"]:
                    self._refuse(f"At the end an interrupt of priority {priority} could not be taken.")
                return NotTaken(**{"ns": 0.0, "cycles": 0, **(row["worst"] or {}), "name": row["name"]})
        raise Error(f"{self.elf}: the core has no priority {priority}.")

    def __repr__(self) -> str:
        return f"<Masks of {self.elf}, {self.cycles:,} cycles{'' if self.complete else ', not complete'}>"


class ProgramOptions(BoardOptions, total=False):
    """The options of a command about a program, but for its own."""

    until: str
    kernel: str


class MasksOptions(ProgramOptions, total=False):
    """Those of `masks`; `start` is --from."""

    start: str
    explain: bool


def masks(elf: FilePath, *, any_verdict: bool = False, **words: Unpack[MasksOptions]) -> Masks:
    """Runs a program on the virtual board, and finds all that holds interrupts off.

    Raises NotComplete if the program stopped or hangs, or its start-up never ended, and Error.
    """
    return Masks(ask_program("masks", elf, words), any_verdict=any_verdict)


def ask_program(command: str, elf: FilePath, words: Mapping[str, object]) -> Document:
    """The document of a command about a program."""
    names = {"start": "from", "sections": "section"}
    typed = options(**{names.get(name, name): value for name, value in words.items()})
    return ask(command, *typed, "--json", "--", fspath(elf))


class Cause(Row):
    """A part of a wait: what held the interrupt, for how many cycles, and who raised it."""

    cause: str
    cycles: int
    raised: Place | None

    def __str__(self) -> str:
        raised = f", set at {self.raised}" if self.raised else ""
        return f"{self.cycles:,} cycles: {self.cause}{raised}"


class Wait(Figure):
    """The longest wait of an interrupt, which was pended `at` this place. `waits` are what held it,
    one after the other; `stack` are the calls where it was pended, the innermost first. `every` is
    how many cycles lay between two pends, on average where they were drawn: with 1, no longer wait
    is possible within the window.
    """

    at: Place
    waits: tuple[Cause, ...]
    every: int

    @property
    def where(self) -> str:
        """Where it was pended."""
        return str(self.at)

    def _details(self) -> list[str]:
        lines = [f"pended at {self.where}, and waited for", *(f"    {cause}" for cause in self.waits)]
        lines += calls(self.stack)
        return lines + ([f"asked at each {self.every:,}th cycle only"] if self.every > 1 else [])


class Passed(Figure):
    """The longest pass of a section, from `begin` to `end`."""

    name: str = "section"
    begin: Place
    end: Place

    def _details(self) -> list[str]:
        return [f"from {self.begin} to {self.end}", *calls(self.stack)]


class Section(Row):
    """A section: how often it was passed, its lengths, and the longest pass."""

    name: str = Field(alias="section")
    count: int
    cycles: Statistics
    ns: Statistics
    longest: Passed


class Latency(Measured):
    """How long an interrupt waits, and how long sections take. `complete` is false if a pend was
    not answered, or the run ended early.
    """

    @property
    def irq(self) -> str:
        """The interrupt that was pended."""
        return str(self._waits["irq"])

    @property
    def pends(self) -> int:
        """How many times it was pended."""
        return int(self._waits["pends"])

    @property
    def cycles(self) -> Statistics:
        """The waits, in cycles."""
        return Statistics.model_validate(self._waits["cycles"])

    @property
    def ns(self) -> Statistics:
        """The waits, in ns."""
        return Statistics.model_validate(self._waits["ns"])

    @property
    def longest(self) -> Wait:
        """The longest wait. Raises Error if the interrupt was never taken."""
        if not self._waits["worst"]:
            raise Error(f"{self.elf}: {self.irq} was never taken, so there is no wait.")
        return Wait(**self._waits["worst"][0], name=self.irq, every=self._waits["every"])

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that were asked for and passed, in order."""
        return tuple(map(Section.model_validate, self.document["sections"]))

    def section(self, name: str) -> Section:
        """The section of this name, as it was asked for. Raises Error if it was never passed."""
        for section in self.sections:
            if section.name == name:
                return section
        raise Error(f"{self.elf}: the section {name!r} was never passed, or not asked for.")

    @property
    def _waits(self) -> Document:
        waits: Document | None = self.document.get("latency")
        if waits is None:
            raise Error(f"{self.elf}: no interrupt was asked for; name one: irq='TIM2'.")
        return waits

    def __repr__(self) -> str:
        waits = self.document.get("latency")
        figures = [self.longest] if waits and waits["worst"] else []
        shown = [repr(figure) for figure in (*figures, *(section.longest for section in self.sections))]
        return f"<Latency of {self.elf}: {', '.join(shown) or 'nothing was seen'}>"


class LatencyOptions(ProgramOptions, total=False):
    """Those of `latency`; `start` is --from, `sections` is --section, several of them."""

    start: str
    irq: str
    sections: str | Sequence[str]
    around: str
    every: int
    mode: str
    pends: int
    seed: int
    enable: int


def latency(elf: FilePath, *, any_verdict: bool = False, **words: Unpack[LatencyOptions]) -> Latency:
    """Pends an interrupt of a program at every cycle, and finds how long it waits.

    Raises NotComplete if a pend was lost or the run ended early, and Error.
    """
    return Latency(ask_program("latency", elf, words), any_verdict=any_verdict)


class Bounded(Figure):
    """The most that a section or a handler can take; `seen_cycles` is the longest of the run."""

    kind: str
    seen_cycles: int | None = None


class Bounds(Measured):
    """The bounds of a program. `reasons` say why the longest bound is not one of all that holds
    interrupts off.
    """

    @property
    def _rows(self) -> list[Document]:
        return [*self.document["sections"], *self.document["handlers"]]

    def _reasons(self) -> tuple[str, ...]:
        counts = {
            "have no bound": sum(row["bound_cycles"] is None for row in self._rows),
            "took longer than their bound": self.document["violations"],
        }
        return tuple(f"{count:,} of {len(self._rows):,} {what}." for what, count in counts.items() if count)

    @cached_property
    def worst(self) -> tuple[Bounded, ...]:
        """The sections and handlers that have a bound, the longest first."""
        figures = [
            Bounded.model_validate(
                {**row, "name": row["kind"], "cycles": row["bound_cycles"], "ns": row["bound_ns"]}
            )
            for row in self._rows
            if row["bound_cycles"] is not None
        ]
        return tuple(sorted(figures, key=lambda figure: -figure.plain_cycles))

    @property
    def longest(self) -> Bounded:
        """The longest of them; of 0 cycles where nothing holds interrupts off."""
        return next(iter(self.worst), Bounded(name="any", ns=0.0, cycles=0, kind="any"))

    def __repr__(self) -> str:
        return f"<Bounds of {self.elf}, {len(self.worst)} of {len(self._rows)}>"


class BoundsOptions(ProgramOptions, total=False):
    """Those of `bounds`."""

    loops: FilePath


def bounds(elf: FilePath, *, any_verdict: bool = False, **words: Unpack[BoundsOptions]) -> Bounds:
    """Bounds how long a program can hold interrupts off, from its machine code.

    Raises NotComplete if something has no bound or took longer, and Error.
    """
    return Bounds(ask_program("bounds", elf, words), any_verdict=any_verdict)
