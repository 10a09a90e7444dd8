"""The greatest sample of a quantity, as run.json says it."""

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
    "measured",
    "interrupted",
    "start_sample",
)
STIMULUS_COLUMNS = ("sample", "hit", "tick", "task_tick", "tick_phase_cycles")


def maximum(quantity: Quantity, samples: pl.DataFrame, operations: pl.DataFrame) -> dict[str, Any] | None:
    """The first of the greatest samples, and how many are as great; None without samples.

    Of an interrupt it also says where in its operation the stimulus fell, in samples after the rise
    of OP; None where its window shows no such rise. The operation's fields are None where the
    stimulus fell outside all operations. Where a wait is `open`, the value is a least one.
    """
    if samples.is_empty():
        return None
    greatest = samples[quantity.column].max()
    first = samples.row(samples[quantity.column].arg_max() or 0, named=True)
    fields = {"value": greatest, "times": int((samples[quantity.column] == greatest).sum())}
    if quantity.table == "operations":
        return {**fields, **{name: first[name] for name in OPERATION_COLUMNS}}
    stimulus = {name: first[name] for name in STIMULUS_COLUMNS}
    stimulus["open"] = quantity.still_open(samples) > 0
    return {**fields, **stimulus, **_operation_of(first, operations)}


def _operation_of(stimulus: dict[str, Any], operations: pl.DataFrame) -> dict[str, Any]:
    table = operations.filter(pl.col("seq").eq_missing(stimulus["operation_seq"]))
    if table.is_empty():
        return {**dict.fromkeys(OPERATION_COLUMNS), "into_operation_samples": None}
    row = table.row(0, named=True)
    start = row["start_sample"]
    into = None if start is None else stimulus["sample"] - start
    return {**{name: row[name] for name in OPERATION_COLUMNS}, "into_operation_samples": into}
