"""`./lab latency`: how long an interrupt of somebody's program waits, and its sections take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
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
class Report:
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


@dataclass(frozen=True)
class Pending:
    """When the interrupt is pended, in the words of the command line."""

    mode: str = "sweep"
    every: int | None = None
    pends: int | None = None
    seed: int | None = None
    enable: int | None = None


def question(pending: Pending, *, irq: str, until: Instant, chip: str = "") -> Question:
    """What to pend, and when. Raises TailscopeError."""
    if pending.mode == "sweep" and (pending.pends or pending.seed):
        raise OptionError("--pends and --seed go with --mode random; a sweep takes --every.")
    if pending.mode == "random" and pending.every:
        raise OptionError("--every goes with --mode sweep; random takes --pends.")
    return Question(
        exception=exception_of(irq, chip),
        until=until,
        every=pending.every,
        random=(pending.pends or _USUAL_PENDS) if pending.mode == "random" else 0,
        seed=pending.seed or 1,
        enable=pending.enable,
    )


def run(
    program: UserProgram,
    pended: Question | None,
    sections: Sequence[str],
    *,
    until: Instant,
    around: str = "",
    explain: bool = False,
    start: str | None = None,
    kernel: str = "",
) -> Report:
    """Measures waits and sections, with progress. Raises TailscopeError."""
    if pended is None and not sections:
        raise OptionError("Nothing to measure: give --irq NAME, --section 'a..b', or both.")
    with progress.shown() as tell:
        subject = measure.Subject.of(program, kernel)
        waits = measure.latencies(subject, pended, around, explain, tell, start) if pended else None
        times = measure.section_times(subject, sections, until, explain, tell, start) if sections else []
    return Report(subject, waits, times)


def kinds(pended: Question | None, sections: Sequence[str], chip: str = "") -> tuple[str, ...]:
    """The words that a limit may name: the interrupt, and each section as it was given."""
    return (*([name_of(pended.exception, chip)] if pended else []), *sections)


def settings(
    pending: Pending, *, irq: str | None, sections: Sequence[str], until: Instant, around: str | None
) -> dict[str, str]:
    """The settings that a baseline must have equal, by the words of the command line."""
    chosen = {
        "irq": irq,
        "section": ", ".join(sections),
        "until": until,
        "around": around,
        **asdict(pending),
    }
    return {name: str(value) for name, value in chosen.items() if value not in (None, "")}
