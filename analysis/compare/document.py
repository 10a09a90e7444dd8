"""A comparison as JSON (docs/reference/compare.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from analysis.compare.compared import Compared, Comparison
from analysis.compare.operations import Changed, Moved, Operations
from analysis.compare.pairing import Stored
from analysis.compare.run import Run
from analysis.compare.sentences import headline, overall, worst_sentence
from analysis.compare.worst import Distribution, Worst
from base.metrology.intervals import CONFIDENCE

SCHEMA = 1


def as_json(found: Comparison) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "a": str(found.a.path),
        "b": str(found.b.path),
        "status": found.status,
        "headline": overall(found),
        "confidence": CONFIDENCE,
        "pairs": [_pair(one) for one in found.compared],
        "only_a": [_stored(one) for one in found.pairing.only_a],
        "only_b": [_stored(one) for one in found.pairing.only_b],
        "older_a": found.pairing.older["a"],
        "older_b": found.pairing.older["b"],
        "unreadable": list(found.unreadable),
        "left_out": list(found.left_out),
    }


def _pair(one: Compared) -> dict[str, Any]:
    return {
        "a": _run(one.a),
        "b": _run(one.b),
        "paired_by": one.pair.by,
        "way": one.way,
        "status": one.status,
        "headline": headline(one),
        "doubts": list(one.doubts),
        "notes": list(one.notes),
        "settings": [asdict(change) for change in one.settings],
        "worst": [_worst(worst) for worst in one.worst],
        "operations": None if one.operations is None else _operations(one.operations),
        "placements": [each.as_json() for each in one.placements],
        "distributions": [_distribution(each) for each in one.distributions],
    }


def _run(run: Run) -> dict[str, Any]:
    return {**_stored(run.stored), "verdict": run.manifest.verdict, "operations": run.operations.height}


def _stored(stored: Stored) -> dict[str, Any]:
    manifest = stored.manifest
    return {
        "folder": str(stored.folder),
        "scenario": manifest.scenario,
        "allocator": manifest.allocator,
        "configuration": manifest.configuration,
        "board": manifest.board,
    }


def _worst(worst: Worst) -> dict[str, Any]:
    return {
        "quantity": worst.quantity.key,
        "unit": worst.quantity.unit,
        "a": asdict(worst.a) if worst.a else None,
        "b": asdict(worst.b) if worst.b else None,
        "change": worst.change,
        "percent": worst.percent,
        "budget": worst.budget,
        "chance_p": worst.chance_p,
        "moved": worst.moved,
        "finding": worst.finding,
        "sentence": worst_sentence(worst),
    }


def _operations(found: Operations) -> dict[str, Any]:
    return {
        "joined": found.joined,
        "only_a": found.only_a,
        "only_b": found.only_b,
        "changed": found.changed,
        "first": found.first,
        "other_outcome": list(found.other_outcome),
        "met_otherwise": found.met_otherwise,
        "columns": [_changed(one) for one in found.columns],
        "kinds": [asdict(one) for one in found.kinds],
    }


def _changed(one: Changed) -> dict[str, Any]:
    return {
        "column": one.column.name,
        "unit": one.column.unit,
        "changed": one.changed,
        "total": one.total,
        "first": _moved(one.first),
        "increase": _moved(one.increase),
        "decrease": _moved(one.decrease),
        "met_alike": {
            "changed": one.met_alike,
            "increase": _moved(one.increase_met_alike),
            "decrease": _moved(one.decrease_met_alike),
        },
    }


def _moved(one: Moved | None) -> dict[str, Any] | None:
    return None if one is None else {**asdict(one), "change": one.change}


def _distribution(one: Distribution) -> dict[str, Any]:
    effect = one.effect
    return {
        "quantity": one.quantity.key,
        "unit": one.quantity.unit,
        "a": one.a.model_dump(),
        "b": one.b.model_dump(),
        "budget": one.budget,
        "delta": effect.delta if effect else None,
        "shift": effect.shift if effect else None,
        "delta_interval": _interval(one, effect.delta_interval if effect else None),
        "shift_interval": _interval(one, effect.shift_interval if effect else None),
        "no_interval": one.no_interval or None,
        "undecided": one.undecided,
        "beyond": one.beyond,
    }


def _interval(one: Distribution, ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None or one.no_interval else list(ends)
