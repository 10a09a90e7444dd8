"""Selection keys: how a point in a figure names its waveform, so that a click can show it.

The key of an operation is its `seq` ("1874"). That of a stimulus outside any operation is its
sample ("@402183"). A trace has its run in `meta`, and the key of each point in `customdata`.
"""

from __future__ import annotations

from collections.abc import Iterable

from base.run_folder.quantities import Quantity
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series


def operation_keys(seqs: Iterable[int]) -> list[str]:
    """The key of each operation."""
    return [str(seq) for seq in seqs]


def interrupt_keys(stimuli: Iterable[int], seqs: Iterable[int | None]) -> list[str]:
    """The key of the operation that each stimulus fell into, else of the stimulus itself."""
    return [f"@{sample}" if seq is None else str(seq) for sample, seq in zip(stimuli, seqs, strict=True)]


def worst_key(run: LoadedRun, quantity: Quantity) -> str | None:
    """The key of the first sample with the greatest value; None without samples.

    As run.json tells it, unless the tables are no longer those of the run.
    """
    maximum = None if run.replaced else run.manifest.maxima.get(quantity.key)
    if run.tells(quantity) and run.summary(quantity).max is None:
        return None
    if maximum is not None and maximum.selection_key is not None:
        return maximum.selection_key
    operations = quantity.table == "operations"
    named = ("seq",) if operations else ("sample", "operation_seq")
    table = run.operations if operations else run.interrupts
    # Lazily: of a million rows with all their columns a copy would take long.
    told = table.lazy().filter(quantity.rows).drop_nulls(quantity.column).select(*named, quantity.column)
    found = told.collect()
    at = found[quantity.column].arg_max()
    if at is None:
        return None
    worst = found[at]
    return operation_keys(worst["seq"])[0] if operations else interrupt_keys(*map(worst.get_column, named))[0]


def describe(key: str) -> str:
    """The key in words: `operation 1874`, `sample 402183`."""
    return f"sample {key[1:]}" if key.startswith("@") else f"operation {key}"


def meta(series: Series) -> dict[str, str | int]:
    """What a trace says of the run that its points are of: a click opens them."""
    return {"run": series.run.id, "entry": series.style.entry}


def entry(series: Series) -> dict[str, int]:
    """What a trace says that is of a run, and has no points to click."""
    return {"entry": series.style.entry}


def entry_name(series: Series) -> str:
    """What an annotation or a shape of a run is called, for the picker hides it with the run."""
    return f"entry-{series.style.entry}"


def shared_switch(series: Series) -> dict[str, str | int | bool]:
    """What a trace says whose entry in the legend stands for all runs: the first shown has it."""
    return {**meta(series), "shared": True}
