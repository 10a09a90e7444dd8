"""What a click shows, embedded in the report, which has no server to ask: maxima come first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dashboards.figures.phase import worst_by_call
from dashboards.figures.waveform import empty_panel
from dashboards.loaded.certainty import budgets_ns, by_both
from dashboards.loaded.quantities import ALL
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series
from dashboards.page.explanations import explanations
from dashboards.waveforms import Window, interrupt_keys, operation_keys, windows_of, worst_key
from scenarios.operations import call_name

# So many of the longest latencies come before the worst of each depth.
WORST_INTERRUPTS = 50
WORST_CONTROLS = 10


def keys_by_interest(series: Series) -> list[str]:
    """The keys that figures and tables name, the most telling first.

    First come the maximum of each quantity, the worst interrupts of either kind, and the worst of
    each call. Then the worst of each depth. Last all measured allocations, and an interrupt of each
    latency that occurred, from the longest down.
    """
    run = series.run
    maxima = (worst_key(run, quantity) for quantity in ALL)
    allocations = _longest_allocations(run)
    per_depth = allocations.drop_nulls("depth").unique("depth", keep="first", maintain_order=True)
    answered, control = _longest_first(run.answered), _longest_first(run.answered_control)
    ranked = [
        *(key for key in maxima if key is not None),
        *_keys(answered[:WORST_INTERRUPTS]),
        *_keys(control[:WORST_CONTROLS]),
        *operation_keys(worst_by_call(series)["seq"]),
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
    table = interrupts.select("sample", "operation_seq", "isr_latency_ns")
    return table.sort("isr_latency_ns", descending=True, maintain_order=True)


def _keys(interrupts: pl.DataFrame) -> pl.Series:
    return interrupt_keys(interrupts["sample"], interrupts["operation_seq"])


# About ten bytes of the page an edge, with what is told of its sample: 2 MB, shared by the runs.
EDGES_IN_REPORT = 200_000
WINDOWS_PER_RUN = 1_500

_FACTS = (
    "kind", "size", "label", "depth", "trial", "probes", "wire_critical_ns", "live", "bytes_in_use",
)  # fmt: skip
_OF_CLOCKS = ("dwt_cycles", "disagreement_cycles", "wire_critical_samples")


def embed(series: Series, runs: int) -> dict[str, Any]:
    """A run and its most telling samples by key, of a report of so many `runs`."""
    windows = _windows(series, EDGES_IN_REPORT // max(runs, 1))
    return {**run_of(series), "samples": _instants(series.run, windows)}


def sample_of(series: Series, key: str) -> dict[str, Any] | None:
    """A run and its one sample of this key, with the keys before and after it; None without one."""
    run, mark = series.run, "@" * key.startswith("@")
    digits = key.removeprefix("@")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        return None
    keys = (run.interrupts["sample"] if mark else run.operations["seq"]).unique().sort().to_list()
    place = int(digits)
    if place not in keys:
        return None
    at = keys.index(place)
    around = {"previous": keys[max(at - 1, 0) : at], "next": keys[at + 1 : at + 2]}
    return {
        **run_of(series),
        "samples": _instants(run, windows_of(run, [key])),
        "around": {step: f"{mark}{other}" for step, others in around.items() for other in others},
    }


def run_of(series: Series) -> dict[str, Any]:
    """The data of a run that sample.js needs to draw its samples."""
    edges = series.run.edges
    return {
        "id": series.run.id,
        "name": series.name,
        "entry": series.style.entry,
        "samplerate_hz": series.run.manifest.samplerate_hz,
        "budgets": budgets_ns(series.run.certainty),
        "verdict": series.run.manifest.verdict,
        "folder": f"runs/{series.run.id}",
        "channels": list(edges.channels) if edges else [],
        "panel": empty_panel([series]).to_dict(),
    }


def _instants(run: LoadedRun, windows: dict[str, Window]) -> dict[str, dict[str, Any]]:
    """The instants by key: packed `window`, `facts`, and what `explained` it."""
    facts = _operations(run, [int(key) for key in windows if not key.startswith("@")])
    facts |= _stimuli(run, [int(key[1:]) for key in windows if key.startswith("@")])
    explained = explanations(run)
    return {
        key: {"window": _packed(window), "facts": facts.get(key, {})}
        | ({"explained": explained[key]} if key in explained else {})
        for key, window in windows.items()
    }


def _windows(series: Series, edges_budget: int) -> dict[str, Window]:
    """The windows by key, the most telling first, as many as the budget has room for."""
    chosen: dict[str, Window] = {}
    for key, window in windows_of(series.run, keys_by_interest(series)[:WINDOWS_PER_RUN]).items():
        edges_budget -= len(window.sample)
        if edges_budget < 0:
            break
        chosen[key] = window
    return chosen


def _packed(window: Window) -> list[Any]:
    """[start, end, zero, distances from row to row, word of each row]; times in samples."""
    distance = np.diff(window.sample, prepend=window.start)
    return [window.start, window.end, window.zero, distance.tolist(), window.word.tolist()]


def _operations(run: LoadedRun, seqs: Sequence[int]) -> dict[str, dict[str, Any]]:
    """The facts of each chosen operation, and the worst interrupt that fell into it."""
    latency = run.answered.group_by("operation_seq").agg(
        pl.col("isr_latency_ns").max(), stimulus=pl.col("sample").sort_by("isr_latency_ns").last()
    )
    chosen = run.operations.filter(pl.col("seq").is_in(list(seqs))).join(
        latency.rename({"operation_seq": "seq"}), on="seq", how="left", maintain_order="left"
    )
    table = chosen.select("seq", *_FACTS, *_OF_CLOCKS, "isr_latency_ns", "stimulus", sample="start_sample")
    return {str(row["seq"]): _told(run, row) for row in table.to_dicts()}


def _stimuli(run: LoadedRun, samples: Sequence[int]) -> dict[str, dict[str, Any]]:
    """The facts of each chosen stimulus outside of operations."""
    columns = ("sample", "control", "isr_latency_ns", "task_latency_ns")
    chosen = run.interrupts.filter(pl.col("sample").is_in(list(samples))).select(columns)
    return {f"@{row['sample']}": _known(row) for row in chosen.to_dicts()}


def _told(run: LoadedRun, row: dict[str, Any]) -> dict[str, Any]:
    """The facts of an operation. A call has a name; its size is only the number of that."""
    clocks = by_both(row, run.manifest)
    row_facts = _known({name: value for name, value in row.items() if name not in _OF_CLOCKS})
    row_facts |= {"clocks": clocks} if clocks else {}
    if row_facts["kind"] == "K":
        row_facts["call"] = call_name(row_facts.pop("size"))
    return row_facts


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """The row without missing values; times to a tenth of a nanosecond."""
    return {
        key: round(value, 1) if isinstance(value, float) and key.endswith("_ns") else value
        for key, value in row.items()
        if value is not None
    }
