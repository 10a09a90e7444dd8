"""What a click shows of a run: embedded in the report, which has no server to ask, maxima first;
and what `./lab explain` left in its folder (docs/reference/explain.md).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from base.run_folder.explanation import MOST_CALLS, MOST_VISITED, Replayed, read_all, read_anatomy
from base.run_folder.named_quantities import NAMED
from base.run_folder.quantities import CONTROL, CRITICAL, FREE_CRITICAL, LATENCY, TASK, Quantity
from base.text_table import TextTable
from dashboards.blocks import Grid
from dashboards.figures.interrupts import worst_by_call
from dashboards.formatting import grouped
from dashboards.loaded.runs import ALL, LoadedRun
from dashboards.loaded.series import Series
from dashboards.page.templates import fragment, grid_of, terms
from dashboards.waveforms import Window, interrupt_keys, operation_keys, windows_of, worst_key
from scenarios.operations import call_name, in_words

WORST_WAITS = 500
"""So many of the longest waits come before the shorter ones of the allocations."""


def keys_by_interest(series: Series) -> list[str]:
    """The keys that figures and tables name, the most telling first: the maximum of each quantity,
    the worst of each call and of each depth, then waits of each length and allocations, from the
    longest down.
    """
    run = series.run
    allocations = run.measured_allocations.sort(
        "wire_critical_samples", descending=True, nulls_last=True, maintain_order=True
    )
    per_depth = allocations.drop_nulls("depth").unique("depth", keep="first", maintain_order=True)
    waits = interrupt_keys(run.waits.sort("isr_latency_ns", descending=True, maintain_order=True))
    ranked = [
        *(key for quantity in ALL if (key := worst_key(run, quantity)) is not None),
        *operation_keys(worst_by_call(series)["seq"]),
        *operation_keys(per_depth["seq"]),
        *waits[:WORST_WAITS],
        *operation_keys(allocations["seq"]),
        *waits,
    ]
    return list(dict.fromkeys(ranked))


# About ten bytes of the page an edge, with what is said of its sample: 2 MB, shared by the runs.
EDGES_IN_REPORT = 200_000
WINDOWS_PER_RUN = 1_500


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
    return {**run_of(series), **_instants(series.run, chosen)}


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
        **_instants(run, windows_of(run, [key])),
        "around": {step: f"{mark}{other}" for step, others in around.items() for other in others},
    }


def run_of(series: Series) -> dict[str, Any]:
    """The data of a run that instant.js needs to draw its samples. `budget_ns` is the widest of its
    times: of the time between any two edges. Without any it is a sample at each end.
    """
    run = series.run
    budgets = [run.budget(quantity) for quantity in ALL if quantity.unit == "ns"]
    return {
        "name": series.name,
        "entry": series.style.entry,
        "colour": series.style.colour,
        "samplerate_hz": run.manifest.samplerate_hz,
        "budget_ns": max(filter(None, budgets), default=2 * run.manifest.resolution_ns),
        "folder": f"runs/{run.id}",
        "channels": list(run.edges.channels) if run.edges else [],
    }


def _instants(run: LoadedRun, windows: dict[str, Window]) -> dict[str, Any]:
    """The `samples` by key: `facts` as HTML, the sample of the `stimulus`, None where there is
    none, the `window` as [start, end, zero, distances from row to row, word of each row], times in
    samples, and the places of what explains it among those `explained`.
    """
    facts, explained = _facts(run, list(windows)), explanations(run)
    instants: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    for key, window in windows.items():
        distances = np.diff(window.sample, prepend=window.start).tolist()
        packed = [window.start, window.end, window.zero, distances, window.word.tolist()]
        stimulus, words = facts[key]
        own = explained.get(key, [])
        instants[key] = {
            "window": packed,
            "stimulus": stimulus,
            "facts": terms(" · ".join(words)),
            "explained": [*range(len(rows), len(rows) + len(own))],
        }
        rows += own
    return {"samples": instants, "explained": rows}


def _facts(run: LoadedRun, keys: list[str]) -> dict[str, tuple[int | None, list[str]]]:
    """Of each operation its worst stimulus, what it was, and how long things took; of a stimulus
    outside of operations how long it waited.
    """

    def measured(row: dict[str, Any], words: str, column: str, quantity: Quantity | None = None) -> list[str]:
        if row.get(column) is None:
            return []
        budget = run.budget(quantity) if quantity else None
        sure = "" if budget is None else f" ±{grouped(round(budget, 1))} ns"
        return [words.format(grouped(round(row[column], 1)), sure)]

    def placed(row: dict[str, Any], column: str) -> list[str]:
        if row[column] is None:
            return []
        ms = row[column] * 1e3 / run.manifest.samplerate_hz
        return [f"sample {row[column]:,}", f"{ms:,.3f} ms into the capture"]

    latency = run.answered.group_by(seq="operation_seq").agg(
        pl.col("isr_latency_ns").max(), stimulus=pl.col("sample").sort_by("isr_latency_ns").last()
    )
    seqs = [int(key) for key in keys if not key.startswith("@")]
    operations = run.operations.filter(pl.col("seq").is_in(seqs)).join(latency, on="seq", how="left")
    facts: dict[str, tuple[int | None, list[str]]] = {}
    for row in operations.to_dicts():
        name, what = "", in_words(row["kind"], row["size"])
        if row["kind"] == "K":
            name = call_name(row["size"])
            what = "empty critical section" if name == "empty" else f"{name}, a call of the kernel"
        labelled = row["label"] and row["label"] != name
        of = FREE_CRITICAL if row["kind"] == "F" else CRITICAL
        facts[str(row["seq"])] = (
            row["stimulus"],
            [
                what,
                *([row["label"]] if labelled else measured(row, "depth {}", "depth")),
                *measured(row, "trial {}", "trial"),
                *measured(row, "critical section {} ns{} on the wire", "wire_critical_ns", of),
                *measured(row, "{} cycles by DWT, within the marks", "dwt_cycles"),
                *measured(row, "{} cycles apart beside the marks", "disagreement_cycles"),
                *measured(row, "{} probes", "probes"),
                *measured(row, "worst interrupt in it {} ns{}", "isr_latency_ns", LATENCY),
                *measured(row, "{} blocks live after it", "live"),
                *measured(row, "{} bytes in use", "bytes_in_use"),
                *placed(row, "start_sample"),
            ],
        )
    samples = [int(key[1:]) for key in keys if key.startswith("@")]
    for row in run.interrupts.filter(pl.col("sample").is_in(samples)).to_dicts():
        facts[f"@{row['sample']}"] = (
            row["sample"],
            [
                f"stimulus {'of the control interrupt' if row['control'] else 'outside any operation'}",
                *measured(row, "latency {} ns{}", "isr_latency_ns", CONTROL if row["control"] else LATENCY),
                *measured(row, "task latency {} ns{}", "task_latency_ns", TASK),
                *placed(row, "sample"),
            ],
        )
    return facts


# A forged file must not fill the page.
_MOST = {"pieces": 4_000, "stretches": 500, "calls": MOST_CALLS, "visited": MOST_VISITED}
_MOST_OF_OTHERS, _MOST_CHARACTERS = 100, 300
_SHOWN = ("stack", "functions", "lines", "sources", "unknown")
"""By the HTML, and by nothing that is drawn."""


def explanations(run: LoadedRun) -> dict[str, list[dict[str, Any]]]:
    """The explanations of each selection key, as in their files, and `html` to show beside what is
    drawn. A damaged file is left out.
    """
    of_each: dict[str, list[dict[str, Any]]] = {}
    for explanation in read_all(run.folder).values():
        packed = _limited(explanation.model_dump(exclude={"quantity", "maximum", "window", "moment"}))
        made_of = read_anatomy(run.folder, explanation.quantity)
        # Another file than the explanation's own: it may be that of an older one.
        if isinstance(explanation, Replayed) and made_of and made_of.cycles == explanation.cycles:
            packed["anatomy"] = made = _limited(made_of.model_dump(exclude={"quantity"}))
            named = {call["source"] for call in made["calls"]}
            made["sources"] = {line: text for line, text in made["sources"].items() if line in named}
        words, of_key = NAMED[explanation.quantity].longest, of_each.setdefault(explanation.key, [])
        # Of the same stretch of time: the longest section may be an allocation's.
        for other in of_key:
            if other == packed | {"words": other["words"]}:
                other["words"] += f", and {words}"
                break
        else:
            of_key.append(packed | {"words": words})
    for packed in chain.from_iterable(of_each.values()):
        more: dict[str, Any] = {}
        if "heap" in packed:
            sizes: dict[str, list[int]] = {"live": [], "free": [], "unknown": []}
            for piece in packed["heap"]["pieces"]:
                sizes[piece["what"]].append(piece["bytes"])
            more = {"tables": _tables(packed), "sizes": sizes}
        packed["html"] = fragment("explained.html", {**packed, **more})
        for name in _SHOWN if "anatomy" in packed else (*_SHOWN, "parts"):
            packed.pop(name, None)
        for part in packed.get("parts", ()):
            del part["place"], part["source"]
    return of_each


def _tables(packed: dict[str, Any]) -> list[Grid]:
    """What took the time of a replay, part by part, and the calls that led there."""

    def by(key: str, words: Callable[[dict[str, Any]], str]) -> list[list[str]]:
        return [[words(row), grouped(row["cycles"]), grouped(row["executions"])] for row in packed[key]]

    per_cent = 100 / max(packed["cycles"], 1)
    parts = [
        [
            part["words"]
            + (f", by {part['place']}" if part["place"] and part["what"] != "exception" else ""),
            grouped(part["cycles"]),
            grouped(round(per_cent * part["cycles"], 1)),
        ]
        for part in packed["parts"]
    ]
    frames = [["likely " * frame["likely"] + frame["place"], frame["source"]] for frame in packed["stack"]]
    lines = by("lines", lambda row: f"{row['source']}  {packed['sources'].get(row['source'], '')}")
    counts = ("cycles", "times")
    tables = (
        TextTable("What held interrupts off", ("by", "cycles", "%"), parts, (1, 2)),
        TextTable(
            "Cycles by function", ("function", *counts), by("functions", lambda row: row["name"]), (1, 2)
        ),
        TextTable("Call stack", ("place", "source"), frames),
        TextTable("Most expensive source lines", ("line", *counts), lines, (1, 2)),
    )
    return [grid_of(table.title.lower().replace(" ", "-"), table) for table in tables]


def _limited(value: Any, most: int = _MOST_OF_OTHERS) -> Any:
    if isinstance(value, int | float):
        return value
    if isinstance(value, dict):
        return {
            name[:_MOST_CHARACTERS]: _limited(part, _MOST.get(name, most)) for name, part in value.items()
        }
    if isinstance(value, list):
        return [_limited(part) for part in value[:most]]
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value
