"""Latencies and sections as JSON (docs/reference/latency.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.program.latency import answers
from analysis.program.latency.answers import Answered, Wait
from analysis.program.latency.measure import Explained, Latencies, SectionTimes, Subject, handler
from base.metrology.quantiles import summarise
from simulator.interrupts import name_of
from simulator.outputs import Note

SCHEMA = 1


def as_json(subject: Subject, asked: Latencies | None, sections: list[SectionTimes]) -> dict[str, Any]:
    """The document. What was not asked for is left out."""
    found: dict[str, Any] = {"schema": SCHEMA, "elf": str(subject.user.elf)}
    if asked:
        found["latency"] = _latency(subject, asked)
    if sections:
        found["sections"] = [_section(subject, one) for one in sections]
    found["noted"] = [note.as_json() for note in _notes(asked, sections)]
    return found


def _notes(asked: Latencies | None, sections: list[SectionTimes]) -> list[Note]:
    """What was odd in the runs, by its first cycle; of one that several saw, the longest's."""
    seen = [one.notes for one in sections] + ([asked.answers.notes] if asked else [])
    by_what: dict[tuple[str, int, str], Note] = {}
    for note in (note for notes in seen for note in notes):
        known = by_what.setdefault((note.kind, note.address, note.what), note)
        if note.reads + note.writes > known.reads + known.writes:
            by_what[note.kind, note.address, note.what] = note
    return sorted(by_what.values(), key=lambda one: one.cycle)


def _latency(subject: Subject, asked: Latencies) -> dict[str, Any]:
    question, found = asked.question, asked.answers
    cycles, ns = answers.latencies(asked.taken, found.every)
    return {
        "irq": name_of(question.exception),
        "exception": question.exception,
        "handler": handler(subject, found),
        "mode": "random" if question.random else "sweep",
        "seed": question.seed if question.random else None,
        "enabled_by": "program" if question.enable is None else "board",
        "first_use_cycle": found.first_use_cycle,
        "window": {"first_cycle": found.first_cycle, "end_cycle": found.end_cycle, "every": found.every},
        "pends": int(found.rows["pends"].sum()),
        "taken": len(cycles),
        "lost": answers.lost(found),
        "ended": found.ended or None,
        "cycles": summarise(cycles).model_dump(),
        "ns": summarise(ns).model_dump(),
        "causes": [
            {
                "cause": cause.words,
                "raised": cause.raised.as_json() if cause.raised else None,
                "pends": cause.pends,
                "worst_cycles": cause.worst_cycles,
            }
            for cause in answers.causes(asked.taken, subject.places)
        ],
        "worst": [_worst(subject, row, explained) for row, explained in asked.worst],
    }


def _worst(subject: Subject, row: Answered, explained: Explained) -> dict[str, Any]:
    return {
        "pended": row.first,
        "last_pended": row.last,
        "taken": row.taken,
        "cycles": row.cycles,
        "ns": row.ns,
        "waits": [_wait(subject, wait) for wait in row.waits],
        "at": subject.places.place(row.pc).as_json(),
        "exception": row.exception,
        "interrupted": None if row.return_pc is None else subject.places.place(row.return_pc).as_json(),
        **_explained(explained),
    }


def _wait(subject: Subject, wait: Wait) -> dict[str, Any]:
    raised = None if wait.raised is None else subject.places.place(wait.raised).as_json()
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


def _section(subject: Subject, one: SectionTimes) -> dict[str, Any]:
    measured = one.measured
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
        "ended": one.ended or None,
        "cycles": summarise(ends - begins).model_dump(),
        "ns": summarise(one.clock.between_ns(begins, ends)).model_dump(),
        "worst": [
            {
                "begin_cycle": passed.begin,
                "end_cycle": passed.end,
                "cycles": passed.cycles,
                "ns": float(one.clock.between_ns(passed.begin, passed.end)),
                "exception": passed.exception,
                "task": None if passed.task is None else f"{passed.task:#010x}",
                "begin": subject.places.place(passed.begin_address).as_json(),
                "end": subject.places.place(passed.end_address).as_json(),
                **_explained(explained),
            }
            for passed, explained in one.worst
        ],
    }
