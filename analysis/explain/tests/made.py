"""Explanations written by hand: of an allocation of 100 bytes, 420 samples at 84 MS/s long."""

from __future__ import annotations

from typing import Any

from base.run_folder.explanation import HeapMap, Moment, Replayed, Unreplayed, Window
from base.run_folder.manifest import Maximum


def maximum(value: float = 5000.0, **fields: Any) -> Maximum:
    """What run.json has of the greatest value, with nothing beside it but `fields`."""
    return Maximum(**{**dict.fromkeys(Maximum.model_fields), "value": value, "times": 1, **fields})


TOLD: dict[str, Any] = {
    "schema": 2,
    "quantity": "allocate",
    "key": "0",
    "value_ns": 5000.0,
    "maximum": maximum(),
    "allocator": "tlsf",
    "scenario": "made",
    "verdict": "complete",
    "samplerate_hz": 84_000_000,
    "start_sample": 10_080,
    "end_sample": 10_500,
    "window": Window(first_sample=0, end_sample=1, edges=[[0, 0]]),
    "start_ns": 120_000.0,
    "begins": "",
    "ends": "",
    "place": "",
    "operation": None,
    "previous": None,
    "next": None,
}


def unreplayed(**fields: Any) -> Unreplayed:
    """Of a board on the desk."""
    return Unreplayed(**{**TOLD, "replayed": False, "unknown": ["It was on a desk."], **fields})


def replayed(**fields: Any) -> Replayed:
    """Of a run that was repeated, with nothing of it but `fields`."""
    document: dict[str, Any] = {
        "cycles": 420,
        "instructions": 200,
        "moment": Moment(sample=10_200, cycle=1_234),
        "stack": [],
        "functions": [],
        "dearest": [],
        "heap": HeapMap(region_bytes=0, pieces=[], note=""),
    }
    return Replayed(**{**TOLD, "replayed": True, "unknown": [], **document, **fields})
