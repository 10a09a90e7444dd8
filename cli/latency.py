"""`./lab latency`: how long an interrupt of somebody's program waits, and its sections take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.program.latency import document, measure
from cli import progress
from cli.options import OptionError, whole
from simulator.interrupts import exception_of
from simulator.latency import Question
from simulator.program import UserProgram
from simulator.run import Instant

MODES = ("sweep", "random")
_USUAL_UNTIL = "100ms"
_USUAL_PENDS = 2_000
_PRIORITIES = 16


@dataclass(frozen=True)
class Asked:
    """What was measured, and whether all of it came out."""

    document: dict[str, Any]
    complete: bool


def question(
    *,
    irq: str,
    mode: str = "sweep",
    until: str = "",
    start: str = "",
    every: str = "",
    pends: str = "",
    seed: str = "",
    enable: str = "",
) -> Question:
    """What to pend, in the words of the command line. Raises TailscopeError."""
    if mode not in MODES:
        raise OptionError(f"--mode {mode}: give {' or '.join(MODES)}.")
    if mode == "sweep" and (pends or seed):
        raise OptionError("--pends and --seed go with --mode random; a sweep takes --every.")
    if mode == "random" and every:
        raise OptionError("--every goes with --mode sweep; random takes --pends.")
    return Question(
        exception=exception_of(irq),
        until=instant("until", until or _USUAL_UNTIL),
        start=instant("from", start) if start else None,
        every=whole("every", every) if every else None,
        random=(whole("pends", pends) if pends else _USUAL_PENDS) if mode == "random" else 0,
        seed=whole("seed", seed) if seed else 1,
        enable=_priority(enable) if enable else None,
    )


def instant(option: str, word: str) -> Instant:
    """`100ms`, `2s`, `84000` (cycles) or `cycles:84000`. Raises OptionError."""
    if word.isdecimal():
        return int(word)
    if re.fullmatch(r"(cycles:)[0-9]+|[0-9]+(ns|us|ms|s)", word) is None:
        raise OptionError(f"--{option} {word}: give a time such as 100ms or 2s, or a cycle such as 84000.")
    return word


def _priority(word: str) -> int:
    if not word.isdecimal() or int(word) >= _PRIORITIES:
        raise OptionError(f"--enable {word}: give the interrupt's priority, 0 (highest) to 15.")
    return int(word)


def run(
    program: UserProgram,
    asked: Question | None,
    sections: Sequence[str],
    *,
    until: str = "",
    around: str = "",
    explain: bool = False,
) -> Asked:
    """Measures what was asked for, with progress. Raises TailscopeError."""
    if asked is None and not sections:
        raise OptionError("Nothing to measure: give --irq NAME, --section 'a..b', or both.")
    with progress.shown() as tell:
        subject = measure.Subject.of(program)
        found = measure.latencies(subject, asked, around, explain, tell) if asked else None
        end = instant("until", until or _USUAL_UNTIL)
        times = measure.section_times(subject, sections, end, explain, tell) if sections else []
    complete = (found is None or found.complete) and not any(one.ended for one in times)
    return Asked(document.as_json(subject, found, times), complete)
