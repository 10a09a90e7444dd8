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


def as_json(found: MaskReport) -> dict[str, Any]:
    """The whole document."""
    return {
        "elf": str(found.program.elf),
        "options": list(found.program.options),
        "until": found.until,
        "cycles": found.cycles,
        "instructions": found.run.stats.instructions,
        "ended": found.run.ended or None,
        "reasons": list(found.reasons),
        "polls": found.polls or None,
        "clock_hz": found.clock.last_hz,
        "clocks": [
            {"cycle": span.cycle, "ns": float(span.seconds * 10**9), "core_hz": float(span.core_hz)}
            for span in found.run.stats.clocks
        ],
        "notes": list(found.notes),
        "noted": [one.as_json() for one in found.run.stats.notes],
        "kernel": found.kernel.name if found.kernel else None,
        "start": _start(found),
        "start_up": _start_up(found),
        "intervals": {kind: _kind(found, kind) for kind in KINDS},
        "worst": [one.as_json() for one in found.worst],
        "open": [one.as_json() for one in found.still_open],
        "priorities": [_priority(one, found) for one in found.priorities],
        "idle_cycles": found.idle_cycles,
        "tasks": {f"{block:#010x}": name for block, name in found.tasks.items()},
        "explained": {kind: _explained(steps) for kind, steps in found.steps.items()},
    }


def _start(found: MaskReport) -> dict[str, Any]:
    """From when on the figures count; the cycle is null where the run did not come there."""
    begun = found.beginning
    ns = None if begun.cycle is None else float(found.clock.ns([begun.cycle])[0])
    asked = begun.asked
    return {"from": asked.settings, "until": asked.where, "why": asked.why, "cycle": begun.cycle, "ns": ns}


def _start_up(found: MaskReport) -> dict[str, Any] | None:
    if found.start_up is None:
        return None
    rows = found.start_up.intervals
    return {
        "intervals": {kind: _counted(rows.filter(kind=kind)) for kind in KINDS},
        "worst": [one.as_json() for one in found.start_up.worst],
    }


def _kind(found: MaskReport, kind: str) -> dict[str, Any]:
    rows = found.intervals.filter(kind=kind)
    levels = rows["level"].drop_nulls().unique().sort().to_list()
    by = [(level, rows.filter(level=level)) for level in levels]
    return {
        **_counted(rows),
        "by_level": [
            {"level": level, "name": name_of(kind, level, found.places), **_counted(part)}
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


def _priority(one: AtPriority, found: MaskReport) -> dict[str, Any]:
    return {
        "priority": one.priority,
        "number": one.number,
        "exceptions": list(one.exceptions),
        **_counted(one.intervals),
        "share": found.share(one.ended),
        "worst": None if one.begin is None else _worst_at(one, found.places),
    }


def _worst_at(one: AtPriority, places: Places) -> dict[str, Any]:
    longest = one.longest
    assert longest and one.begin and one.end
    return {
        **{key: longest[key] for key in ("cycles", "ns", "begin_cycle", "end_cycle", "asleep_cycles")},
        "begin": one.begin.as_json(),
        "end": one.end.as_json(),
        "parts": [
            {
                "kind": part.kind,
                "name": name_of(part.kind, part.level, places),
                "level": part.level,
                "cycles": part.cycles,
                "count": part.count,
            }
            for part in one.parts
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


def folded(found: MaskReport) -> str:
    """`kind;outermost;…;innermost cycles`, one line for each stack that began an interval.

    Cycles are those of all its intervals that ended. The format is that of Brendan Gregg's
    stackcollapse scripts.
    """
    begun = found.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = found.intervals.filter(pl.col("cycles").is_not_null()).join(begun, on="begin_row")
    totals: Counter[str] = Counter()
    for kind, level, pc, stack, cycles in (
        rows.group_by("kind", "level", "pc", "stack").agg(pl.col("cycles").sum()).iter_rows()
    ):
        frames = [frame.function for frame in reversed(found.places.stack(stack, pc))]
        entry = found.places.entry(level) if kind == "handler" else None
        own = [entry.function] if entry else []
        names = (name_of(kind, level, found.places), *frames, *own)
        totals[";".join(name.replace(";", ":") for name in names)] += cycles
    return "".join(f"{stack} {cycles}\n" for stack, cycles in sorted(totals.items()))
