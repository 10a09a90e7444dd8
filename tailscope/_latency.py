"""What `latency` finds: how long an interrupt of a program waits, how long its sections take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from tailscope._baseline import Before, Check, check, judgement_of
from tailscope._documents import Part, reasons_of
from tailscope._errors import Error, NotComplete
from tailscope._figures import Figure, Place, Statistics, calls
from tailscope._program import ask, options

__tracebackhide__ = True  # pytest shows the line of the test


@dataclass(frozen=True)
class Cause:
    """A part of a wait: what held the interrupt, for how many cycles, and who raised it."""

    cause: str
    cycles: int
    raised: Place | None

    @classmethod
    def of(cls, part: Part) -> Cause:
        """That of a document."""
        raised = part.maybe_part("raised")
        return cls(part.text("cause"), part.whole("cycles"), Place.of(raised) if raised else None)

    def __str__(self) -> str:
        raised = f", set at {self.raised}" if self.raised else ""
        return f"{self.cycles:,} cycle{'s' * (self.cycles != 1)}: {self.cause}{raised}"


@dataclass(frozen=True, repr=False)
class Wait(Figure):
    """The longest wait of an interrupt. `waits` are what held it, one after the other; `stack` are
    the calls where it was pended, the innermost first. `every` is how many cycles lay between two
    pends: with 1, no longer wait is possible within the window.
    """

    waits: tuple[Cause, ...]
    stack: tuple[Place, ...]
    every: int

    def _details(self) -> list[str]:
        lines = [f"pended at {self.where}, and waited for", *(f"    {one}" for one in self.waits)]
        lines += ["call stack, innermost first:", *calls(self.stack)] if self.stack else []
        return lines + ([f"asked at each {self.every:,}th cycle only"] if self.every > 1 else [])


@dataclass(frozen=True, repr=False)
class Passed(Figure):
    """The longest pass of a section, from `begin` to `end`, with the calls at its begin."""

    begin: Place
    end: Place
    stack: tuple[Place, ...]

    def _details(self) -> list[str]:
        lines = [f"from {self.begin} to {self.end}"]
        return lines + (["call stack, innermost first:", *calls(self.stack)] if self.stack else [])


@dataclass(frozen=True)
class Section:
    """A section: how often it was passed, its lengths, and the longest pass."""

    name: str
    count: int
    cycles: Statistics
    ns: Statistics
    longest: Passed


class Latency:
    """How long an interrupt waits, and how long sections take.

    `document` is the JSON of `latency` (the reference). `complete` is false if a pend was not
    answered, or the run ended early.
    """

    def __init__(self, part: Part, *, any_verdict: bool) -> None:
        self._part = part
        self._judgement = judgement_of(part)
        self.document: dict[str, Any] = dict(self._part.values)
        self.elf = self._part.text("elf")
        self.complete = not self.reasons
        if not self.complete and not any_verdict:
            raise NotComplete(self.elf, "truncated", self.reasons)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Sentences on why it is not complete."""
        return reasons_of(self._part)

    @property
    def irq(self) -> str:
        """The interrupt that was pended."""
        return self._asked.text("irq")

    @property
    def pends(self) -> int:
        """How many times it was pended."""
        return self._asked.whole("pends")

    @property
    def cycles(self) -> Statistics:
        """The waits, in cycles."""
        return Statistics.of(self._asked.part("cycles"))

    @property
    def ns(self) -> Statistics:
        """The waits, in ns."""
        return Statistics.of(self._asked.part("ns"))

    @property
    def longest(self) -> Wait:
        """The longest wait. Raises Error if the interrupt was never taken."""
        waits = self._asked.parts("worst")
        if not waits:
            raise Error(f"{self.elf}: {self.irq} was never taken, so there is no wait.")
        one = waits[0]
        return Wait(
            self.irq,
            str(Place.of(one.part("at"))),
            one.number("ns"),
            one.whole("cycles"),
            tuple(map(Cause.of, one.parts("waits"))),
            tuple(map(Place.of, one.parts("stack"))),
            self._asked.part("window").whole("every"),
            before=self._before(self.irq, one.whole("cycles")),
        )

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that were asked for and passed, in order."""
        found = self._part.parts("sections") if "sections" in self._part else []
        return tuple(self._section(one) for one in found if one.parts("worst"))

    def section(self, name: str) -> Section:
        """The section of this name, as it was asked for. Raises Error if it was never passed."""
        for one in self.sections:
            if one.name == name:
                return one
        raise Error(f"{self.elf}: the section {name!r} was never passed, or not asked for.")

    def check_baseline(self, *, more_cycles: int = 0) -> None:
        """Raises AssertionError, with a story each, if the program finds anything worse than in the
        baseline and longer by more than `more_cycles`, or if there is no baseline.
        """
        check(self._judgement, more_cycles, self._story)

    def _story(self, of: Check) -> list[str]:
        asked = self._part.maybe_part("latency")
        if asked and of.kind == self.irq:
            return self.longest.story()
        return next((one.longest.story() for one in self.sections if one.name == of.kind), [])

    def _before(self, kind: str, cycles: int) -> Before | None:
        return self._judgement.of(kind, None, cycles) if self._judgement else None

    @property
    def _asked(self) -> Part:
        found = self._part.maybe_part("latency")
        if found is None:
            raise Error(f"{self.elf}: no interrupt was asked for; name one: irq='TIM2'.")
        return found

    def _section(self, one: Part) -> Section:
        worst = one.parts("worst")[0]
        name, begin = one.text("section"), Place.of(worst.part("begin"))
        longest = Passed(
            name,
            str(begin),
            worst.number("ns"),
            worst.whole("cycles"),
            begin,
            Place.of(worst.part("end")),
            tuple(map(Place.of, worst.parts("stack"))),
            before=self._before(name, worst.whole("cycles")),
        )
        cycles, ns = Statistics.of(one.part("cycles")), Statistics.of(one.part("ns"))
        return Section(name, one.whole("count"), cycles, ns, longest)

    def __repr__(self) -> str:
        asked = self._part.maybe_part("latency")
        waits = [self.longest] if asked and asked.parts("worst") else []
        found = [*waits, *(one.longest for one in self.sections)]
        return f"<Latency of {self.elf}: {', '.join(map(repr, found)) or 'nothing was seen'}>"


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
    any_verdict: bool = False,
) -> Latency:
    """Pends an interrupt of a program at every cycle, and finds how long it waits.

    The options are those of the command; `start` is `--from`. Raises NotComplete if a pend was
    lost or the run ended early, and Error.
    """
    part = ask_latency(
        elf,
        irq=irq,
        sections=sections,
        until=until,
        start=start,
        around=around,
        every=every,
        mode=mode,
        pends=pends,
        seed=seed,
        enable=enable,
        kernel=kernel,
        chip=chip,
        hse=hse,
        strict=strict,
        gaps=gaps,
        semihosting=semihosting,
        any_core=any_core,
    )
    return Latency(part, any_verdict=any_verdict)


def ask_latency(
    elf: str | PathLike[str],
    *,
    sections: str | Sequence[str] = (),
    start: str | None = None,
    **chosen: object,
) -> Part:
    """The document of the command."""
    words = options(
        {"section": [sections] if isinstance(sections, str) else [*sections], "from": start, **chosen}
    )
    return ask("latency", *words, "--json", "--", fspath(elf))
