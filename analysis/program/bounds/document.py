"""The bounds of a program as a document (docs/reference/bounds.md)."""

from __future__ import annotations

from typing import Any

from analysis.program.bounds import explained
from analysis.program.bounds.explained import Explained
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport

_NS_PER_S = 1e9


def as_json(report: BoundsReport, explanation: Explained | None = None) -> dict[str, Any]:
    """The whole document, with the path of one section if it was asked for."""
    return {
        "elf": str(report.program.elf),
        "options": list(report.program.options),
        "until": report.masks.until,
        "cycles": report.masks.cycles,
        "clock_hz": report.hz,
        "wait_states": report.costs.wait_states,
        "prefetch": report.costs.prefetch,
        "code_cache": report.costs.code_cache,
        "data_cache": report.costs.data_cache,
        "apb_divider": report.costs.apb_divider,
        "pointers": report.costs.unknown.value,
        "kernel": report.masks.kernel.name if report.masks.kernel else None,
        "sections": [_row(report, section) for section in report.sections],
        "handlers": [_row(report, section) for section in report.handlers],
        "priorities": [_priority(report, priority) for priority in report.priorities],
        "missing": [{"why": word, "stops": count} for word, count in report.missing.items()],
        "violations": len(report.violations),
        "estimates": len(report.estimates),
        "observed": None if report.margin is None else _observed(report, report.margin),
        "explained": None if explanation is None else explained.as_json(explanation),
    }


def _ns(report: BoundsReport, cycles: int | None) -> float | None:
    return None if cycles is None else cycles / report.hz * _NS_PER_S


def _observed(report: BoundsReport, margin: float) -> dict[str, Any]:
    loops = [
        {
            "function": count.loop.body.name,
            "place": count.loop.place,
            "address": f"{count.loop.head:#010x}",
            "seen_passes": count.passes,
            "taken_passes": count.taken,
            "entries": count.entries,
            "until_cycle": count.cycles,
        }
        for count in report.counted
    ]
    return {"margin": margin, "loops": loops}


def _row(report: BoundsReport, section: Bounded) -> dict[str, Any]:
    return {
        "kind": section.kind,
        "level": section.level,
        "function": section.function,
        "begin": section.begin.as_json(),
        "caller": section.caller.as_json() if section.caller else None,
        "ends": [end.as_json() for end in section.ends],
        "bound_cycles": section.cycles,
        "bound_ns": _ns(report, section.cycles),
        "estimate": bool(section.presumed),
        "presumed": list(section.presumed),
        "why_not": list(section.why_not),
        "seen_cycles": section.seen,
        "loose": report.loose(section) or None,
        "count": section.count,
    }


def _priority(report: BoundsReport, priority: AtPriority) -> dict[str, Any]:
    return {
        "priority": priority.priority,
        "number": priority.number,
        "exceptions": list(priority.exceptions),
        "bound_cycles": priority.cycles,
        "bound_ns": _ns(report, priority.cycles),
        "entry_cycles": priority.entry,
        "refill_cycles": priority.refill,
        "estimate": priority.is_estimate,
        "section_cycles": priority.section.cycles if priority.section else None,
        "handlers": {other.function: other.cycles for other in priority.handlers},
        "missing": [f"{other.kind} of {other.function}" for other in priority.missing],
        "seen_cycles": priority.seen,
    }
