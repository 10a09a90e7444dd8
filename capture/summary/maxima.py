"""The greatest sample of each quantity with all that is known of it: the headline is never a bare number."""

from __future__ import annotations

from typing import Any

import polars as pl

from capture.run_folder.quantities import Quantity

# What the operation was, and the heap after it.
OPERATION = (
    "seq",
    "kind",
    "size",
    "label",
    "depth",
    "trial",
    "probes",
    "live",
    "bytes_in_use",
    "start_sample",
)
STIMULUS = ("sample", "hit", "tick", "task_tick", "tick_phase_cycles")


def maximum(quantity: Quantity, samples: pl.DataFrame, operations: pl.DataFrame) -> dict[str, Any] | None:
    """The first of the greatest samples, and how many are as great; None without samples.

    For an interrupt also where in its operation the stimulus fell, in samples after the rising edge of OP;
    the operation's fields are null where it fell outside of all.
    """
    if samples.is_empty():
        return None
    greatest = samples[quantity.column].max()
    first = samples.row(samples[quantity.column].arg_max() or 0, named=True)
    found = {"value": greatest, "times": int((samples[quantity.column] == greatest).sum())}
    if quantity.table == "operations":
        return {**found, **{name: first[name] for name in OPERATION}}
    stimulus = {name: first[name] for name in STIMULUS}
    return {**found, **stimulus, **_operation_of(first, operations)}


def _operation_of(stimulus: dict[str, Any], operations: pl.DataFrame) -> dict[str, Any]:
    met = operations.filter(pl.col("seq").eq_missing(stimulus["operation_seq"]))
    if met.is_empty():
        return {**dict.fromkeys(OPERATION), "into_operation_samples": None}
    row = met.row(0, named=True)
    into = stimulus["sample"] - row["start_sample"]
    return {**{name: row[name] for name in OPERATION}, "into_operation_samples": into}
