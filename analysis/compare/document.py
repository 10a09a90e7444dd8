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


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "a": str(comparison.a.path),
        "b": str(comparison.b.path),
        "status": comparison.status,
        "headline": overall(comparison),
        "confidence": CONFIDENCE,
        "pairs": [_pair(comparison) for comparison in comparison.compared],
        "only_a": [_stored(comparison) for comparison in comparison.pairing.only_a],
        "only_b": [_stored(comparison) for comparison in comparison.pairing.only_b],
        "older_a": comparison.pairing.older["a"],
        "older_b": comparison.pairing.older["b"],
        "unreadable": list(comparison.unreadable),
        "left_out": list(comparison.left_out),
    }


def _pair(comparison: Compared) -> dict[str, Any]:
    return {
        "a": _run(comparison.a),
        "b": _run(comparison.b),
        "paired_by": comparison.pair.by,
        "way": comparison.way,
        "status": comparison.status,
        "headline": headline(comparison),
        "doubts": list(comparison.doubts),
        "notes": list(comparison.notes),
        "settings": [asdict(change) for change in comparison.settings],
        "worst": [_worst(worst) for worst in comparison.worst],
        "operations": None if comparison.operations is None else _operations(comparison.operations),
        "placements": [each.as_json() for each in comparison.placements],
        "distributions": [_distribution(each) for each in comparison.distributions],
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


def _operations(operations: Operations) -> dict[str, Any]:
    return {
        "joined": operations.joined,
        "only_a": operations.only_a,
        "only_b": operations.only_b,
        "changed": operations.changed,
        "first": operations.first,
        "other_outcome": list(operations.other_outcome),
        "met_otherwise": operations.met_otherwise,
        "columns": [_changed(change) for change in operations.columns],
        "kinds": [asdict(kind) for kind in operations.kinds],
    }


def _changed(change: Changed) -> dict[str, Any]:
    return {
        "column": change.column.name,
        "unit": change.column.unit,
        "changed": change.changed,
        "total": change.total,
        "first": _moved(change.first),
        "increase": _moved(change.increase),
        "decrease": _moved(change.decrease),
        "met_alike": {
            "changed": change.met_alike,
            "increase": _moved(change.increase_met_alike),
            "decrease": _moved(change.decrease_met_alike),
        },
    }


def _moved(move: Moved | None) -> dict[str, Any] | None:
    return None if move is None else {**asdict(move), "change": move.change}


def _distribution(distribution: Distribution) -> dict[str, Any]:
    effect = distribution.effect
    return {
        "quantity": distribution.quantity.key,
        "unit": distribution.quantity.unit,
        "a": distribution.a.model_dump(),
        "b": distribution.b.model_dump(),
        "budget": distribution.budget,
        "delta": effect.delta if effect else None,
        "shift": effect.shift if effect else None,
        "delta_interval": _interval(distribution, effect.delta_interval if effect else None),
        "shift_interval": _interval(distribution, effect.shift_interval if effect else None),
        "no_interval": distribution.no_interval or None,
        "undecided": distribution.undecided,
        "beyond": distribution.beyond,
    }


def _interval(distribution: Distribution, ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None or distribution.no_interval else list(ends)
