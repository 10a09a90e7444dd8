"""The bounds of a program as a document (docs/reference/bounds.md)."""

from __future__ import annotations

from typing import Any

from analysis.program.bounds import explained
from analysis.program.bounds.explained import Explained
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport

_NS_PER_S = 1e9


def as_json(found: BoundsReport, told: Explained | None = None) -> dict[str, Any]:
    """The whole document, with the path of one section if it was asked for."""
    return {
        "elf": str(found.program.elf),
        "options": list(found.program.options),
        "until": found.masks.until,
        "cycles": found.masks.cycles,
        "clock_hz": found.hz,
        "wait_states": found.costs.wait_states,
        "prefetch": found.costs.prefetch,
        "code_cache": found.costs.code_cache,
        "data_cache": found.costs.data_cache,
        "apb_divider": found.costs.apb_divider,
        "pointers": found.costs.unknown.value,
        "kernel": found.masks.kernel.name if found.masks.kernel else None,
        "sections": [_row(found, one) for one in found.sections],
        "handlers": [_row(found, one) for one in found.handlers],
        "priorities": [_priority(found, one) for one in found.priorities],
        "missing": [{"why": word, "stops": count} for word, count in found.missing.items()],
        "violations": len(found.violations),
        "estimates": len(found.estimates),
        "observed": None if found.margin is None else _observed(found, found.margin),
        "explained": None if told is None else explained.as_json(told),
    }


def _ns(found: BoundsReport, cycles: int | None) -> float | None:
    return None if cycles is None else cycles / found.hz * _NS_PER_S


def _observed(found: BoundsReport, margin: float) -> dict[str, Any]:
    loops = [
        {
            "function": one.loop.body.name,
            "place": one.loop.place,
            "address": f"{one.loop.head:#010x}",
            "seen_passes": one.passes,
            "taken_passes": one.taken,
            "entries": one.entries,
            "until_cycle": one.cycles,
        }
        for one in found.counted
    ]
    return {"margin": margin, "loops": loops}


def _row(found: BoundsReport, one: Bounded) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "level": one.level,
        "function": one.function,
        "begin": one.begin.as_json(),
        "caller": one.caller.as_json() if one.caller else None,
        "ends": [end.as_json() for end in one.ends],
        "bound_cycles": one.cycles,
        "bound_ns": _ns(found, one.cycles),
        "estimate": bool(one.presumed),
        "presumed": list(one.presumed),
        "why_not": list(one.why_not),
        "seen_cycles": one.seen,
        "loose": found.loose(one) or None,
        "count": one.count,
    }


def _priority(found: BoundsReport, one: AtPriority) -> dict[str, Any]:
    return {
        "priority": one.priority,
        "number": one.number,
        "exceptions": list(one.exceptions),
        "bound_cycles": one.cycles,
        "bound_ns": _ns(found, one.cycles),
        "entry_cycles": one.entry,
        "refill_cycles": one.refill,
        "estimate": one.is_estimate,
        "section_cycles": one.section.cycles if one.section else None,
        "handlers": {other.function: other.cycles for other in one.handlers},
        "missing": [f"{other.kind} of {other.function}" for other in one.missing],
        "seen_cycles": one.seen,
    }
