"""What a click shows of a run: embedded in the report, which has no server to ask, maxima first;
and what `./lab explain` left in its folder (docs/reference/explain.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from base import anatomy
from base.anatomy import MOST_CALLS, MOST_VISITED
from base.run_folder.explanation import Replayed, read_all
from base.run_folder.named_quantities import NAMED
from dashboards.figures.interrupts import worst_by_call
from dashboards.figures.waveform import empty_panel
from dashboards.loaded.quantities import ALL
from dashboards.loaded.runs import LoadedRun, by_both
from dashboards.loaded.series import Series
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
    allocations = run.measured_allocations.sort(
        "wire_critical_samples", descending=True, nulls_last=True, maintain_order=True
    )
    per_depth = allocations.drop_nulls("depth").unique("depth", keep="first", maintain_order=True)
    answered, control = (
        table.select("sample", "operation_seq", "isr_latency_ns").sort(
            "isr_latency_ns", descending=True, maintain_order=True
        )
        for table in (run.answered, run.answered_control)
    )
    ranked = [
        *(key for key in maxima if key is not None),
        *interrupt_keys(answered[:WORST_INTERRUPTS]),
        *interrupt_keys(control[:WORST_CONTROLS]),
        *operation_keys(worst_by_call(series)["seq"]),
        *operation_keys(per_depth["seq"]),
        *operation_keys(allocations["seq"]),
        *interrupt_keys(answered.unique("isr_latency_ns", keep="first", maintain_order=True)),
        *interrupt_keys(control.unique("isr_latency_ns", keep="first", maintain_order=True)),
    ]
    return list(dict.fromkeys(ranked))


# About ten bytes of the page an edge, with what is told of its sample: 2 MB, shared by the runs.
EDGES_IN_REPORT = 200_000
WINDOWS_PER_RUN = 1_500

_FACTS = (
    "kind", "size", "label", "depth", "trial", "probes", "wire_critical_ns", "live", "bytes_in_use",
)  # fmt: skip
_OF_CLOCKS = ("dwt_cycles", "disagreement_cycles", "wire_critical_samples")


def embed(series: Series, runs: int) -> dict[str, Any]:
    """A run and its most telling samples by key, as many as a report of so many `runs` has room
    for.
    """
    chosen: dict[str, Window] = {}
    edges_left = EDGES_IN_REPORT // max(runs, 1)
    for key, window in windows_of(series.run, keys_by_interest(series)[:WINDOWS_PER_RUN]).items():
        edges_left -= len(window.sample)
        if edges_left < 0:
            break
        chosen[key] = window
    return {**run_of(series), "samples": _instants(series.run, chosen)}


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
    run, edges = series.run, series.run.edges
    budgets = {quantity.key: run.budget(quantity) for quantity in ALL if quantity.key.endswith("_ns")}
    return {
        "id": run.id,
        "name": series.name,
        "entry": series.style.entry,
        "samplerate_hz": run.manifest.samplerate_hz,
        "budgets": {key: budget for key, budget in budgets.items() if budget is not None},
        "verdict": run.manifest.verdict,
        "folder": f"runs/{run.id}",
        "channels": list(edges.channels) if edges else [],
        "panel": empty_panel(series).to_dict(),
    }


def _instants(run: LoadedRun, windows: dict[str, Window]) -> dict[str, dict[str, Any]]:
    """The instants by key: `facts`, what `explained` it, and the `window` as [start, end, zero,
    distances from row to row, word of each row], times in samples.
    """
    facts, explained = _facts(run, list(windows)), explanations(run)
    instants: dict[str, dict[str, Any]] = {}
    for key, window in windows.items():
        distances = np.diff(window.sample, prepend=window.start).tolist()
        packed = [window.start, window.end, window.zero, distances, window.word.tolist()]
        instants[key] = {"window": packed, "facts": facts.get(key, {})}
        if key in explained:
            instants[key]["explained"] = explained[key]
    return instants


def _facts(run: LoadedRun, keys: list[str]) -> dict[str, dict[str, Any]]:
    """Of each operation what it was, and the worst interrupt that fell into it; of a stimulus
    outside of operations what it met. Nothing of what is missing; times to a tenth of a nanosecond.
    """
    latency = run.answered.group_by(seq="operation_seq").agg(
        pl.col("isr_latency_ns").max(), stimulus=pl.col("sample").sort_by("isr_latency_ns").last()
    )
    seqs = [int(key) for key in keys if not key.startswith("@")]
    operations = run.operations.filter(pl.col("seq").is_in(seqs)).join(
        latency, on="seq", how="left", maintain_order="left"
    )
    table = operations.select(
        "seq", *_FACTS, *_OF_CLOCKS, "isr_latency_ns", "stimulus", sample="start_sample"
    )
    facts: dict[str, dict[str, Any]] = {}
    for row in table.to_dicts():
        clocks = by_both(row, run.manifest)
        facts[str(row["seq"])] = {name: value for name, value in row.items() if name not in _OF_CLOCKS}
        facts[str(row["seq"])] |= {"clocks": clocks} if clocks else {}
        if row["kind"] == "K":  # a call has a name; its size is only the number of that
            facts[str(row["seq"])] |= {"call": call_name(row["size"]), "size": None}
    samples = [int(key[1:]) for key in keys if key.startswith("@")]
    stimuli = run.interrupts.filter(pl.col("sample").is_in(samples))
    for row in stimuli.select("sample", "control", "isr_latency_ns", "task_latency_ns").to_dicts():
        facts[f"@{row['sample']}"] = row
    return {
        key: {
            name: round(value, 1) if isinstance(value, float) and name.endswith("_ns") else value
            for name, value in row.items()
            if value is not None
        }
        for key, row in facts.items()
    }


# A forged file must not fill the page.
_MOST = {
    "pieces": 4_000,
    "bands": 500,
    "parts": 100,
    "stack": 64,
    **dict.fromkeys(("unmade_of", "functions", "dearest", "lines"), 8),
    "calls": MOST_CALLS,
    "visited": MOST_VISITED,
}
_MOST_CHARACTERS = 300
_DEEPEST = 64
_OWN = ("quantity", "words")


def explanations(run: LoadedRun) -> dict[str, list[dict[str, Any]]]:
    """The explanations of each selection key, as in their files. A damaged file is left out."""
    of_each: dict[str, list[dict[str, Any]]] = {}
    anatomies = anatomy.read_all(run.folder)
    for explanation in read_all(run.folder).values():
        packed = _limited(explanation.model_dump(exclude={"maximum", "window", "moment"}))
        packed["words"] = NAMED[explanation.quantity].longest
        if isinstance(explanation, Replayed):
            rows = [
                row for name in ("stack", "parts", "functions", "dearest", "lines") for row in packed[name]
            ]
            packed["sources"] = _sources(packed, rows)
            made_of = anatomies.get(explanation.quantity)
            # Another file than the explanation's own: it may be that of an older one.
            if made_of is not None and made_of.cycles == explanation.cycles:
                packed["anatomy"] = made = _limited(made_of.model_dump(exclude={"quantity"}))
                made["calls"] = [call for call in made["calls"] if call["depth"] < _DEEPEST]
                made["sources"] = _sources(made, made["calls"])
        of_key = of_each.setdefault(explanation.key, [])
        # Of the same stretch of time: the longest section may be an allocation's.
        for other in of_key:
            if {**other, **dict.fromkeys(_OWN)} == {**packed, **dict.fromkeys(_OWN)}:
                other["words"] += f", and {packed['words']}"
                break
        else:
            of_key.append(packed)
    return of_each


def _sources(packed: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, str]:
    """Of the source lines those that `rows` name."""
    named = {row["source"] for row in rows}
    return {line: text for line, text in packed["sources"].items() if line in named}


def _limited(value: Any, most: int | None = None) -> Any:
    if isinstance(value, dict):
        return {_limited(name): _limited(part, _MOST.get(name)) for name, part in value.items()}
    if isinstance(value, list):
        return [_limited(part) for part in value[:most]]
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value
