"""What was found as JSON (docs/reference/masks.md), and its call stacks for flame graph tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import polars as pl

from analysis.explain import execution
from analysis.explain.execution import Step
from analysis.program.masks.intervals import KINDS
from analysis.program.masks.measure import AtPriority, MaskReport
from analysis.program.masks.places import Places
from analysis.program.masks.worst import name_of
from base.metrology.quantiles import summarise

# So many instructions of an interval are listed; of the rest there are totals.
_MOST_STEPS = 20_000


def as_json(report: MaskReport) -> dict[str, Any]:
    """The whole document."""
    return {
        "elf": str(report.program.elf),
        "options": list(report.program.options),
        "until": report.until,
        "cycles": report.cycles,
        "instructions": report.run.stats.instructions,
        "ended": report.run.ended or None,
        "reasons": list(report.reasons),
        "polls": report.polls or None,
        "clock_hz": report.clock.last_hz,
        "clocks": [
            {"cycle": span.cycle, "ns": float(span.seconds * 10**9), "core_hz": float(span.core_hz)}
            for span in report.run.stats.clocks
        ],
        "notes": list(report.notes),
        "noted": [note.as_json() for note in report.run.stats.notes],
        "kernel": report.kernel.name if report.kernel else None,
        "start": _start(report),
        "start_up": _start_up(report),
        "intervals": {kind: _kind(report, kind) for kind in KINDS},
        "worst": [worst.as_json() for worst in report.worst],
        "open": [worst.as_json() for worst in report.still_open],
        "priorities": [_priority(priority, report) for priority in report.priorities],
        "idle_cycles": report.idle_cycles,
        "tasks": {f"{block:#010x}": name for block, name in report.tasks.items()},
        "explained": {kind: _explained(steps) for kind, steps in report.steps.items()},
    }


def _start(report: MaskReport) -> dict[str, Any]:
    """From when on the figures count; the cycle is null where the run did not come there."""
    beginning = report.beginning
    ns = None if beginning.cycle is None else float(report.clock.ns([beginning.cycle])[0])
    request = beginning.asked
    return {
        "from": request.settings,
        "until": request.where,
        "why": request.why,
        "cycle": beginning.cycle,
        "ns": ns,
    }


def _start_up(report: MaskReport) -> dict[str, Any] | None:
    if report.start_up is None:
        return None
    rows = report.start_up.intervals
    return {
        "intervals": {kind: _counted(rows.filter(kind=kind)) for kind in KINDS},
        "worst": [worst.as_json() for worst in report.start_up.worst],
    }


def _kind(report: MaskReport, kind: str) -> dict[str, Any]:
    rows = report.intervals.filter(kind=kind)
    levels = rows["level"].drop_nulls().unique().sort().to_list()
    by = [(level, rows.filter(level=level)) for level in levels]
    return {
        **_counted(rows),
        "by_level": [
            {"level": level, "name": name_of(kind, level, report.places), **_counted(part)}
            for level, part in by
        ],
    }


def _counted(rows: pl.DataFrame) -> dict[str, Any]:
    """Counts and statistics of intervals that ended, and how many did not."""
    ended = rows.filter(pl.col("cycles").is_not_null())
    return {
        "count": ended.height,
        "open": rows.height - ended.height,
        "total_cycles": int(ended["cycles"].sum()),
        "cycles": summarise(ended["cycles"].to_numpy()).model_dump(),
        "ns": summarise(ended["ns"].to_numpy()).model_dump(),
        "distribution": [list(row) for row in _distribution(ended)],
    }


def _distribution(ended: pl.DataFrame) -> Iterator[tuple[int, int]]:
    """Pairs of cycles and how often they occurred, ascending."""
    yield from ended.group_by("cycles").len().sort("cycles").iter_rows()


def _priority(priority: AtPriority, report: MaskReport) -> dict[str, Any]:
    return {
        "priority": priority.priority,
        "number": priority.number,
        "exceptions": list(priority.exceptions),
        **_counted(priority.intervals),
        "share": report.share(priority.ended),
        "worst": None if priority.begin is None else _worst_at(priority, report.places),
    }


def _worst_at(priority: AtPriority, places: Places) -> dict[str, Any]:
    longest = priority.longest
    assert longest and priority.begin and priority.end
    return {
        **{key: longest[key] for key in ("cycles", "ns", "begin_cycle", "end_cycle", "asleep_cycles")},
        "begin": priority.begin.as_json(),
        "end": priority.end.as_json(),
        "parts": [
            {
                "kind": part.kind,
                "name": name_of(part.kind, part.level, places),
                "level": part.level,
                "cycles": part.cycles,
                "count": part.count,
            }
            for part in priority.parts
        ],
    }


def _explained(steps: list[Step]) -> dict[str, Any]:
    return {
        "instructions": sum(step.address != 0 for step in steps),
        "cycles": sum(step.cycles for step in steps),
        "functions": [total.model_dump() for total in execution.by_function(steps)],
        "dearest": [total.model_dump() for total in execution.by_instruction(steps)],
        "steps": [
            {
                "cycle": step.cycle,
                "cycles": step.cycles,
                "place": step.place,
                "instruction": step.text,
                "source": step.source or None,
            }
            for step in steps[:_MOST_STEPS]
        ],
        "steps_left_out": max(len(steps) - _MOST_STEPS, 0),
    }


def folded(report: MaskReport) -> str:
    """`kind;outermost;…;innermost cycles`, one line for each stack that began an interval.

    Cycles are those of all its intervals that ended. The format is that of Brendan Gregg's
    stackcollapse scripts.
    """
    table = report.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = report.intervals.filter(pl.col("cycles").is_not_null()).join(table, on="begin_row")
    totals: Counter[str] = Counter()
    for kind, level, pc, stack, cycles in (
        rows.group_by("kind", "level", "pc", "stack").agg(pl.col("cycles").sum()).iter_rows()
    ):
        frames = [frame.function for frame in reversed(report.places.stack(stack, pc))]
        entry = report.places.entry(level) if kind == "handler" else None
        own = [entry.function] if entry else []
        names = (name_of(kind, level, report.places), *frames, *own)
        totals[";".join(name.replace(";", ":") for name in names)] += cycles
    return "".join(f"{stack} {cycles}\n" for stack, cycles in sorted(totals.items()))
