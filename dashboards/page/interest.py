"""Which waveforms a report keeps: first those of its maxima, then the others."""

from __future__ import annotations

import polars as pl

from dashboards.figures.phase import worst_by_call
from dashboards.loaded.quantities import ALL
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import interrupt_keys, operation_keys, worst_key

# So many of the longest latencies come before the worst of each depth.
WORST_INTERRUPTS = 50
WORST_CONTROLS = 10


def keys_by_interest(one: Series) -> list[str]:
    """The keys that figures and tables name, the most telling first.

    First come the maximum of each quantity, the worst interrupts of either kind, and the worst of
    each call. Then the worst of each depth. Last all measured allocations, and an interrupt of each
    latency that occurred, from the longest down.
    """
    run = one.run
    maxima = (worst_key(run, quantity) for quantity in ALL)
    allocations = _longest_allocations(run)
    per_depth = allocations.drop_nulls("depth").unique("depth", keep="first", maintain_order=True)
    answered, control = _longest_first(run.answered), _longest_first(run.answered_control)
    ranked = [
        *(key for key in maxima if key is not None),
        *_keys(answered[:WORST_INTERRUPTS]),
        *_keys(control[:WORST_CONTROLS]),
        *operation_keys(worst_by_call(one)["seq"]),
        *operation_keys(per_depth["seq"]),
        *operation_keys(allocations["seq"]),
        *_keys(answered.unique("isr_latency_ns", keep="first", maintain_order=True)),
        *_keys(control.unique("isr_latency_ns", keep="first", maintain_order=True)),
    ]
    return list(dict.fromkeys(ranked))


def _longest_allocations(run: LoadedRun) -> pl.DataFrame:
    return run.measured_allocations.sort(
        "wire_critical_samples", descending=True, nulls_last=True, maintain_order=True
    )


def _longest_first(interrupts: pl.DataFrame) -> pl.DataFrame:
    return interrupts.sort("isr_latency_ns", descending=True, maintain_order=True)


def _keys(interrupts: pl.DataFrame) -> list[str]:
    return interrupt_keys(interrupts["sample"], interrupts["operation_seq"])
