"""The greatest sample of each quantity, with all that is known of it: no number stands alone."""

from __future__ import annotations

from typing import Any

import polars as pl

from base.run_folder.quantities import Quantity

# What the operation was, and the heap after it.
OPERATION_COLUMNS = (
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
STIMULUS_COLUMNS = ("sample", "hit", "tick", "task_tick", "tick_phase_cycles")


def maximum(quantity: Quantity, samples: pl.DataFrame, operations: pl.DataFrame) -> dict[str, Any] | None:
    """The first of the greatest samples, and how many are as great; None without samples.

    Of an interrupt it also says where in its operation the stimulus fell, in samples after the rise
    of OP; None where its window shows no such rise. The operation's fields are None where the
    stimulus fell outside all operations.
    """
    if samples.is_empty():
        return None
    greatest = samples[quantity.column].max()
    first = samples.row(samples[quantity.column].arg_max() or 0, named=True)
    found = {"value": greatest, "times": int((samples[quantity.column] == greatest).sum())}
    if quantity.table == "operations":
        return {**found, **{name: first[name] for name in OPERATION_COLUMNS}}
    stimulus = {name: first[name] for name in STIMULUS_COLUMNS}
    return {**found, **stimulus, **_operation_of(first, operations)}


def _operation_of(stimulus: dict[str, Any], operations: pl.DataFrame) -> dict[str, Any]:
    found = operations.filter(pl.col("seq").eq_missing(stimulus["operation_seq"]))
    if found.is_empty():
        return {**dict.fromkeys(OPERATION_COLUMNS), "into_operation_samples": None}
    row = found.row(0, named=True)
    start = row["start_sample"]
    into = None if start is None else stimulus["sample"] - start
    return {**{name: row[name] for name in OPERATION_COLUMNS}, "into_operation_samples": into}
