"""How a point in a figure names what it came from, so that a click can show its waveform.

The key of an operation is its `seq` ("1874"), that of a stimulus outside any operation is its sample
("@402183"). A trace carries its run in `meta` and the key of each point in `customdata`.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from capture.run_folder.quantities import Quantity
from dashboards.loaded.quantities import samples
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series


def stimulus_key(sample: int) -> str:
    return f"@{sample}"


def operation_keys(seqs: Iterable[int]) -> list[str]:
    return [str(seq) for seq in seqs]


def interrupt_keys(samples: Iterable[int], seqs: Iterable[int | None]) -> list[str]:
    """The operation that each stimulus fell into or, outside of all, the stimulus itself."""
    return [
        stimulus_key(sample) if seq is None else str(seq) for sample, seq in zip(samples, seqs, strict=True)
    ]


def worst_key(run: LoadedRun, quantity: Quantity) -> str | None:
    """The selection key of the first sample with the greatest value; None without samples."""
    worst = samples(run, quantity).sort(quantity.column, descending=True, maintain_order=True).head(1)
    if worst.is_empty():
        return None
    if quantity.table == "operations":
        return operation_keys(worst["seq"])[0]
    return interrupt_keys(worst["sample"], worst["operation_seq"])[0]


def describe(key: str) -> str:
    """The key in few words."""
    return f"sample {key[1:]}" if key.startswith("@") else f"operation {key}"


def meta(series: Series) -> dict[str, str]:
    return {"run": series.run.id}


def fragment(run_id: str, key: str) -> str:
    """The address in the report that opens the waveform of `key`."""
    return f"#select={quote(run_id, safe='')}:{quote(key, safe='')}"
