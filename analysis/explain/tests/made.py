"""Explanations written by hand: of an allocation of 100 bytes, 420 samples at 84 MS/s long."""

from __future__ import annotations

from base.run_folder.manifest import Maximum


def maximum(value: float = 5000.0, **fields: object) -> Maximum:
    """What run.json has of the greatest value, with nothing beside it but `fields`."""
    given = {"value": value, "times": 1, **fields}
    return Maximum.model_validate(dict.fromkeys(Maximum.model_fields) | given)
