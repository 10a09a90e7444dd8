"""`./lab latency`: how long an interrupt of somebody's program waits, and its sections take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.program.latency import document, measure
from cli.shell.values import OptionError
from cli.work import progress
from simulator.interrupts import exception_of, name_of
from simulator.latency import Question
from simulator.program import UserProgram
from simulator.run import Instant

_USUAL_PENDS = 2_000


@dataclass(frozen=True)
class Asked:
    """What was measured, and whether all of it came out."""

    subject: measure.Subject
    latencies: measure.Latencies | None
    sections: list[measure.SectionTimes]

    @property
    def document(self) -> dict[str, Any]:
        """What docs/reference/latency.md describes."""
        return document.as_json(self.subject, self.latencies, self.sections)

    @property
    def complete(self) -> bool:
        return not (
            measure.reasons(self.latencies, self.sections) or measure.polls(self.latencies, self.sections)
        )


def question(
    *,
    irq: str,
    mode: str = "sweep",
    until: Instant,
    every: int | None = None,
    pends: int | None = None,
    seed: int | None = None,
    enable: int | None = None,
    chip: str = "",
) -> Question:
    """What to pend, in the words of the command line. Raises TailscopeError."""
    if mode == "sweep" and (pends or seed):
        raise OptionError("--pends and --seed go with --mode random; a sweep takes --every.")
    if mode == "random" and every:
        raise OptionError("--every goes with --mode sweep; random takes --pends.")
    return Question(
        exception=exception_of(irq, chip),
        until=until,
        every=every,
        random=(pends or _USUAL_PENDS) if mode == "random" else 0,
        seed=seed or 1,
        enable=enable,
    )


def run(
    program: UserProgram,
    asked: Question | None,
    sections: Sequence[str],
    *,
    until: Instant,
    around: str = "",
    explain: bool = False,
    start: str | None = None,
    kernel: str = "",
) -> Asked:
    """Measures what was asked for, with progress. Raises TailscopeError."""
    if asked is None and not sections:
        raise OptionError("Nothing to measure: give --irq NAME, --section 'a..b', or both.")
    with progress.shown() as tell:
        subject = measure.Subject.of(program, kernel)
        found = measure.latencies(subject, asked, around, explain, tell, start) if asked else None
        times = measure.section_times(subject, sections, until, explain, tell, start) if sections else []
    return Asked(subject, found, times)


def kinds(asked: Question | None, sections: Sequence[str], chip: str = "") -> tuple[str, ...]:
    """The words that a limit may name: the interrupt, and each section as it was given."""
    return (*([name_of(asked.exception, chip)] if asked else []), *sections)


def settings(**asked: object) -> dict[str, str]:
    """What a baseline must have equal, in the words of the command line: what was given of it."""
    told = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in asked.items()}
    return {name: str(value) for name, value in told.items() if value not in (None, "")}
