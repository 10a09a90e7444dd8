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
from dashboards.waveforms import Window, chosen, interrupt_keys, operation_keys, windows_of, worst_key
from scenarios.operations import call_name, in_words

Json = dict[str, Any]
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


def embed(series: Series, runs: int) -> Json:
    """A run and its most telling samples by key, as many as a report of so many `runs` has room
    for.
    """
    windows: dict[str, Window] = {}
    edges_left = EDGES_IN_REPORT // max(runs, 1)
    for key, window in windows_of(series.run, keys_by_interest(series)[:WINDOWS_PER_RUN]).items():
        edges_left -= len(window.sample)
        if edges_left < 0:
            break
        windows[key] = window
    return _instants(series, windows)


def sample_of(series: Series, key: str) -> Json | None:
    """A run and its one sample of this key, with the keys before and after it; None without one."""
    run, mark = series.run, "@" * key.startswith("@")
    number = key.removeprefix(mark)
    numbers = (run.interrupts["sample"] if mark else run.operations["seq"]).unique().sort()
    keys = operation_keys(numbers).to_list()
    if number not in keys:
        return None
    at = keys.index(number)
    around = {"previous": keys[max(at - 1, 0) : at], "next": keys[at + 1 : at + 2]}
    return {
        **_instants(series, windows_of(run, [key])),
        "around": {step: f"{mark}{other}" for step, others in around.items() for other in others},
    }


def _instants(series: Series, windows: dict[str, Window]) -> Json:
    """What instant.js needs to draw these samples of a run. `budget_ns` is the widest of its times:
    of the time between any two edges. Without any it is a sample at each end.

    The `samples` by key: `facts` as HTML, the sample of the `stimulus`, None where there is none,
    the `window` as [start, end, zero, distances from row to row, word of each row], times in
    samples, and the places of what explains it among those `explained`.
    """
    run = series.run
    facts, explained = _facts(run, list(windows)), explanations(run)
    instants: dict[str, Json] = {}
    rows: list[Json] = []
    for key, window in windows.items():
        distances = np.diff(window.sample, prepend=window.start).tolist()
        stimulus, words = facts[key]
        own = explained.get(key, [])
        instants[key] = {
            "window": [window.start, window.end, window.zero, distances, window.word.tolist()],
            "stimulus": stimulus,
            "facts": terms(words),
            "explained": [*range(len(rows), len(rows) + len(own))],
        }
        rows += own
    budgets = [run.budget(quantity) for quantity in ALL if quantity.unit == "ns"]
    return {
        "name": series.name,
        "colour": series.style.colour,
        "samplerate_hz": run.manifest.samplerate_hz,
        "budget_ns": max(filter(None, budgets), default=2 * run.manifest.resolution_ns),
        "folder": f"runs/{run.id}",
        "channels": list(run.edges.channels) if run.edges else [],
        "samples": instants,
        "explained": rows,
    }


_OF_OPERATION = {
    "depth": "depth {}",
    "trial": "trial {}",
    "wire_critical_ns": "critical section {} ns{} on the wire",
    "dwt_cycles": "{} cycles by DWT, within the marks",
    "disagreement_cycles": "{} cycles apart beside the marks",
    "probes": "{} probes",
    "isr_latency_ns": "worst interrupt in it {} ns{}",
    "live": "{} blocks live after it",
    "bytes_in_use": "{} bytes in use",
}
_OF_STIMULUS = {"isr_latency_ns": "latency {} ns{}", "task_latency_ns": "task latency {} ns{}"}
"""Facts by the column that tells them: its value, and behind it the error budget."""


def _facts(run: LoadedRun, keys: list[str]) -> dict[str, tuple[int | None, str]]:
    """Of each operation its worst stimulus, what it was, and how long things took; of a stimulus
    outside of operations how long it waited.
    """

    def listed(row: Json, what: str, words: dict[str, str], *quantities: Quantity) -> tuple[int | None, str]:
        """The budgets are those of `quantities`."""
        parts, budgets = [what], {quantity.column: run.budget(quantity) for quantity in quantities}
        for column in words:
            if row[column] is not None:
                budget = budgets.get(column)
                sure = "" if budget is None else f" ±{grouped(round(budget, 1))} ns"
                parts.append(words[column].format(grouped(round(row[column], 1)), sure))
        if row["sample"] is not None:
            ms = row["sample"] * 1e3 / run.manifest.samplerate_hz
            parts += [f"sample {row['sample']:,}", f"{ms:,.3f} ms into the capture"]
        return row["stimulus"], " · ".join(parts)

    latency = run.answered.group_by(seq="operation_seq").agg(
        pl.col("isr_latency_ns").max(), stimulus=pl.col("sample").sort_by("isr_latency_ns").last()
    )
    operations, stimuli = chosen(run, keys)
    facts: dict[str, tuple[int | None, str]] = {}
    for row in operations.join(latency, on="seq", how="left").with_columns(sample="start_sample").to_dicts():
        name, what = "", in_words(row["kind"], row["size"])
        if row["kind"] == "K":
            name = call_name(row["size"])
            what = "empty critical section" if name == "empty" else f"{name}, a call of the kernel"
        if row["label"] and row["label"] != name:
            what, row["depth"] = f"{what} · {row['label']}", None
        section = FREE_CRITICAL if row["kind"] == "F" else CRITICAL
        facts[str(row["seq"])] = listed(row, what, _OF_OPERATION, section, LATENCY)
    for row in stimuli.with_columns(stimulus="sample").to_dicts():
        of, quantity = (
            ("of the control interrupt", CONTROL) if row["control"] else ("outside any operation", LATENCY)
        )
        facts[f"@{row['sample']}"] = listed(row, f"stimulus {of}", _OF_STIMULUS, quantity, TASK)
    return facts


# A forged file must not fill the page.
_MOST = {"pieces": 4_000, "stretches": 500, "calls": MOST_CALLS, "visited": MOST_VISITED}
_MOST_OF_OTHERS, _MOST_CHARACTERS = 100, 300
_SHOWN = ("stack", "functions", "lines", "sources", "unknown")
"""By the HTML, and by nothing that is drawn."""


def explanations(run: LoadedRun) -> dict[str, list[Json]]:
    """The explanations of each selection key, as in their files, and `html` to show beside what is
    drawn. A damaged file is left out.
    """
    of_each: dict[str, list[Json]] = {}
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
        more: Json = {}
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


def _tables(packed: Json) -> list[Grid]:
    """What took the time of a replay, part by part, and the calls that led there."""

    def by(key: str, words: Callable[[Json], str]) -> list[list[str]]:
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
