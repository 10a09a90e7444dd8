"""What `latency` finds: how long an interrupt of a program waits, how long its sections take."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any

from pydantic import Field

from tailscope._base import Statistics
from tailscope._baseline import Check, check, judgement_of
from tailscope._bench import ask, options
from tailscope._errors import Error, NotComplete
from tailscope._figures import Figure, Place, Row, calls, reasons_of

__tracebackhide__ = True  # pytest shows the line of the test


class Cause(Row):
    """A part of a wait: what held the interrupt, for how many cycles, and who raised it."""

    cause: str
    cycles: int
    raised: Place | None

    def __str__(self) -> str:
        raised = f", set at {self.raised}" if self.raised else ""
        return f"{self.cycles:,} cycle{'s' * (self.cycles != 1)}: {self.cause}{raised}"


class Wait(Figure):
    """The longest wait of an interrupt, which was pended `at` this place. `waits` are what held it,
    one after the other; `stack` are the calls where it was pended, the innermost first. `every` is
    how many cycles lay between two pends: with 1, no longer wait is possible within the window.
    """

    at: Place
    waits: tuple[Cause, ...]
    stack: tuple[Place, ...]
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
    """The longest pass of a section, from `begin` to `end`, with the calls at its begin."""

    begin: Place
    end: Place
    stack: tuple[Place, ...]

    @property
    def where(self) -> str:
        """Where it begins."""
        return str(self.begin)

    def _details(self) -> list[str]:
        return [f"from {self.begin} to {self.end}", *calls(self.stack)]


class Section(Row):
    """A section: how often it was passed, its lengths, and the longest pass."""

    name: str = Field(alias="section")
    count: int
    cycles: Statistics
    ns: Statistics
    longest: Passed


class Latency:
    """How long an interrupt waits, and how long sections take.

    `document` is the JSON of `latency` (the reference). `complete` is false if a pend was not
    answered, or the run ended early.
    """

    def __init__(self, document: dict[str, Any], *, any_verdict: bool) -> None:
        self.document = document
        self._judgement = judgement_of(document)
        self.elf: str = document["elf"]
        self.reasons = reasons_of(document)
        """Sentences on why it is not complete."""
        self.complete = not self.reasons
        if not self.complete and not any_verdict:
            raise NotComplete(self.elf, "truncated", self.reasons)

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
        every = self._waits["window"]["every"]
        return Wait(**self._held(self.irq, self._waits["worst"][0]), every=every)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that were asked for and passed, in order."""
        rows = self.document.get("sections", ())
        return tuple(
            Section(**row, longest=Passed(**self._held(row["section"], row["worst"][0])))
            for row in rows
            if row["worst"]
        )

    def section(self, name: str) -> Section:
        """The section of this name, as it was asked for. Raises Error if it was never passed."""
        for section in self.sections:
            if section.name == name:
                return section
        raise Error(f"{self.elf}: the section {name!r} was never passed, or not asked for.")

    def check_baseline(self, *, more_cycles: int = 0) -> None:
        """Raises AssertionError, with a story each, if the program finds anything worse than in the
        baseline and longer by more than `more_cycles`, or if there is no baseline.
        """
        check(self._judgement, more_cycles, self._story)

    def _story(self, of: Check) -> list[str]:
        if self.document.get("latency") and of.now.kind == self.irq:
            return self.longest.story()
        return next((section.longest.story() for section in self.sections if section.name == of.now.kind), [])

    def _held(self, kind: str, row: dict[str, Any]) -> dict[str, Any]:
        """The row under its name, and what the program says of it beside the baseline."""
        before = self._judgement.of(kind, None, row["cycles"]) if self._judgement else None
        return {**row, "name": kind, "before": before}

    @property
    def _waits(self) -> dict[str, Any]:
        waits: dict[str, Any] | None = self.document.get("latency")
        if waits is None:
            raise Error(f"{self.elf}: no interrupt was asked for; name one: irq='TIM2'.")
        return waits

    def __repr__(self) -> str:
        waits = self.document.get("latency")
        figures = [self.longest] if waits and waits["worst"] else []
        shown = [repr(figure) for figure in (*figures, *(section.longest for section in self.sections))]
        return f"<Latency of {self.elf}: {', '.join(shown) or 'nothing was seen'}>"


def latency(
    elf: str | PathLike[str],
    *,
    irq: str | None = None,
    sections: str | Sequence[str] = (),
    until: str = "100ms",
    start: str | None = None,
    around: str | None = None,
    every: int | None = None,
    mode: str | None = None,
    pends: int | None = None,
    seed: int | None = None,
    enable: int | None = None,
    kernel: str | None = None,
    chip: str | None = None,
    hse: str | None = None,
    strict: bool = False,
    gaps: bool = False,
    semihosting: bool = False,
    any_core: bool = False,
    attach: Sequence[str] = (),
    any_verdict: bool = False,
) -> Latency:
    """Pends an interrupt of a program at every cycle, and finds how long it waits.

    The options are those of the command; `start` is `--from`. Raises NotComplete if a pend was
    lost or the run ended early, and Error.
    """
    words = {name: value for name, value in locals().items() if name not in ("elf", "any_verdict")}
    return Latency(ask_latency(elf, **words), any_verdict=any_verdict)


def ask_latency(
    elf: str | PathLike[str],
    *,
    sections: str | Sequence[str] = (),
    start: str | None = None,
    **chosen: object,
) -> dict[str, Any]:
    """The document of the command."""
    section = [sections] if isinstance(sections, str) else [*sections]
    return ask("latency", *options(**{"from": start}, section=section, **chosen), "--json", "--", fspath(elf))
