"""Latencies and sections as JSON (docs/reference/latency.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.program.latency import answers
from analysis.program.latency.answers import Answered, Wait
from analysis.program.latency.measure import (
    Explained,
    Latencies,
    SectionTimes,
    Subject,
    handler,
    polls,
    reasons,
)
from analysis.program.masks.beginning import Beginning
from analysis.program.masks.intervals import Clock
from base.metrology.quantiles import summarise
from simulator.interrupts import name_of
from simulator.outputs import Note

SCHEMA = 1


def as_json(subject: Subject, latencies: Latencies | None, sections: list[SectionTimes]) -> dict[str, Any]:
    """The document. What was not asked for is left out."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "elf": str(subject.user.elf),
        "reasons": list(reasons(latencies, sections)),
        "polls": polls(latencies, sections) or None,
    }
    if latencies:
        document["latency"] = _latency(subject, latencies)
    if sections:
        document["sections"] = [_section(subject, times) for times in sections]
    document["noted"] = [note.as_json() for note in _notes(latencies, sections)]
    return document


def _notes(latencies: Latencies | None, sections: list[SectionTimes]) -> list[Note]:
    """What was odd in the runs, by its first cycle; of one that several saw, the longest's."""
    seen = [times.notes for times in sections] + ([latencies.answers.notes] if latencies else [])
    by_what: dict[tuple[str, int, str], Note] = {}
    for note in (note for notes in seen for note in notes):
        known = by_what.setdefault((note.kind, note.address, note.what), note)
        if note.reads + note.writes > known.reads + known.writes:
            by_what[note.kind, note.address, note.what] = note
    return sorted(by_what.values(), key=lambda note: note.cycle)


def _latency(subject: Subject, latencies: Latencies) -> dict[str, Any]:
    question, found = latencies.question, latencies.answers
    cycles, ns = answers.latencies(latencies.taken, found.every, latencies.clock)
    return {
        "irq": name_of(question.exception, subject.user.chip),
        "exception": question.exception,
        "handler": handler(subject, question, found),
        "mode": "random" if question.random else "sweep",
        "seed": question.seed if question.random else None,
        "enabled_by": "program" if question.enable is None else "board",
        "first_use_cycle": found.first_use_cycle,
        "window": {"first_cycle": found.first_cycle, "end_cycle": found.end_cycle, "every": found.every},
        "pends": int(found.rows["pends"].sum()),
        "taken": len(cycles),
        "lost": answers.lost(found),
        "ended": found.ended or None,
        "kernel": subject.kernel.name if subject.kernel else None,
        "start": _start(latencies.beginning),
        "start_up": _start_up(subject, latencies),
        "cycles": summarise(cycles).model_dump(),
        "ns": summarise(ns).model_dump(),
        "causes": [
            {
                "cause": cause.words,
                "raised": _raised(subject, cause.raised.address) if cause.raised else None,
                "pends": cause.pends,
                "worst_cycles": cause.worst_cycles,
            }
            for cause in answers.causes(latencies.taken, subject.places)
        ],
        "worst": [_worst(subject, row, explained, latencies.clock) for row, explained in latencies.worst],
    }


def _start(beginning: Beginning) -> dict[str, Any]:
    """From when on the figures count; the cycle is null where the run did not come there."""
    request = beginning.asked
    return {"from": request.settings, "until": request.where, "why": request.why, "cycle": beginning.cycle}


def _start_up(subject: Subject, latencies: Latencies) -> dict[str, Any] | None:
    """The longest wait of the pends before that."""
    if not latencies.start_up:
        return None
    longest = answers.worst_kinds(latencies.start_up, 1)[0]
    held = longest.main
    raised = None if held.raised is None else _raised(subject, held.raised)
    return {
        "pends": sum(answer.pends for answer in latencies.start_up),
        "first_cycle": latencies.start_up[0].first,
        "cycles": longest.cycles,
        "ns": longest.ns(latencies.clock),
        "cause": answers.words(held, subject.places),
        "raised": raised,
    }


def _worst(subject: Subject, row: Answered, explained: Explained, clock: Clock) -> dict[str, Any]:
    return {
        "pended": row.first,
        "last_pended": row.last,
        "taken": row.taken,
        "cycles": row.cycles,
        "ns": row.ns(clock),
        "waits": [_wait(subject, wait) for wait in row.waits],
        "at": subject.places.place(row.pc).as_json(),
        "exception": row.exception,
        "task": explained.task if explained.task and not row.exception else None,
        "interrupted": None if row.return_pc is None else subject.places.place(row.return_pc).as_json(),
        **_explained(explained),
    }


def _raised(subject: Subject, address: int) -> dict[str, Any]:
    """The place where a mask was set, with the kernel's word for it, if it has one."""
    lock = subject.places.lock(address)
    return {**subject.places.place(address).as_json(), **({"lock": lock} if lock else {})}


def _wait(subject: Subject, wait: Wait) -> dict[str, Any]:
    raised = None if wait.raised is None else _raised(subject, wait.raised)
    return {
        "cause": answers.words(wait, subject.places),
        "cycles": wait.cycles,
        "exception": wait.exception,
        "raised": raised,
    }


def _explained(explained: Explained) -> dict[str, Any]:
    return {
        "stack": [place.as_json() for place in explained.stack],
        "functions": [total.model_dump() for total in explained.functions],
        "dearest": [total.model_dump() for total in explained.dearest],
    }


def _early(times: SectionTimes) -> dict[str, Any] | None:
    """The passes of start-up."""
    if not times.start_up:
        return None
    longest = max(times.start_up, key=lambda each: each.cycles)
    ns = float(times.clock.between_ns(longest.begin, longest.end))
    return {"count": len(times.start_up), "cycles": longest.cycles, "ns": ns}


def _section(subject: Subject, times: SectionTimes) -> dict[str, Any]:
    measured = times.measured
    begins = np.array([passed.begin for passed in measured.passed], dtype=np.int64)
    ends = np.array([passed.end for passed in measured.passed], dtype=np.int64)
    return {
        "section": measured.section.name,
        "count": len(measured.passed),
        "nested": sum(passed.nested > 0 for passed in measured.passed),
        "restarted": measured.restarted,
        "unbegun": measured.unbegun,
        "unended": measured.unended,
        "crossed": measured.crossed,
        "ended": times.ended or None,
        "start": _start(times.beginning),
        "start_up": _early(times),
        "cycles": summarise(ends - begins).model_dump(),
        "ns": summarise(times.clock.between_ns(begins, ends)).model_dump(),
        "worst": [
            {
                "begin_cycle": passed.begin,
                "end_cycle": passed.end,
                "cycles": passed.cycles,
                "ns": float(times.clock.between_ns(passed.begin, passed.end)),
                "exception": passed.exception,
                "task": None if passed.task is None else explained.task or f"{passed.task:#010x}",
                "begin": subject.places.place(passed.begin_address).as_json(),
                "end": subject.places.place(passed.end_address).as_json(),
                **_explained(explained),
            }
            for passed, explained in times.worst
        ],
    }
