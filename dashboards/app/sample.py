"""One operation or interrupt of a run: what it was, its waveform, and why it took so long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from dash import dcc, html

from dashboards.app.address import run_address, sample_address
from dashboards.app.draw import CONFIG, pictures, terms
from dashboards.app.explained import explained, packed, sentences, strips
from dashboards.app.shown import AddressError, Entry
from dashboards.app.waveform import HEIGHT, figure, first_window
from dashboards.formatting import grouped, number
from dashboards.loaded.certainty import budgets_ns, by_both
from dashboards.loaded.quantities import ALL
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, by_scenario
from dashboards.waveforms import describe, worst_key

WAVE, WAVE_FIGURE, WIRE = "wave", "wave-figure", "wire"
_CONFIG: Any = CONFIG | {"scrollZoom": True}
_KINDS = {
    "A": "allocation of {size} bytes",
    "O": "allocation of {size} bytes, out of memory",
    "F": "free of {size} bytes",
    "N": "nothing to free: its {size} bytes had not been allocated",
    "E": "free of {size} bytes, refused by the allocator",
    "K": "a call of the kernel",
}


def series_of(run: LoadedRun) -> Series:
    """The run on its own."""
    return by_scenario([run])[run.manifest.scenario][0]


def entries(run: LoadedRun) -> tuple[Entry, ...]:
    """The run as the only entry of a picker: its colours come from there."""
    series = series_of(run)
    return (Entry(series.style.entry, series.name, None, ""),)


def sample_page(run: LoadedRun, identity: str, key: str) -> list[Any]:
    """The page. Raises AddressError where the run has no such sample."""
    series = series_of(run)
    operation, stimulus = _operation(run, key), _stimulus(run, key)
    if operation is None and stimulus is None:
        raise AddressError(
            f"Run {identity} has no {describe(key)}; it has operations 0 to {_last(run)}, and stimuli as "
            "@ and their sample."
        )
    link = html.A(series.name, href=run_address(identity))
    several = packed(run, key)
    return [
        html.P([link, f" · {run.manifest.scenario} · {identity}"], className="hint"),
        html.H1(describe(key).capitalize()),
        *_badge(run),
        _neighbours(run, identity, key),
        sentences(),
        _facts(run, operation, stimulus),
        *_wave(series, key, several),
        *explained(run, several),
        _maxima(run, identity, key),
    ]


def _operation(run: LoadedRun, key: str) -> dict[str, Any] | None:
    if not key.isascii() or not key.isdigit() or len(key) > 9:
        return None
    table = run.operations.filter(pl.col("seq") == int(key))
    return None if table.is_empty() else table.row(0, named=True)


def _stimulus(run: LoadedRun, key: str) -> dict[str, Any] | None:
    digits = key[1:]
    if not (key.startswith("@") and digits.isascii() and digits.isdigit() and len(digits) <= 18):
        return None
    table = run.interrupts.filter(pl.col("sample") == int(digits))
    return None if table.is_empty() else table.row(0, named=True)


def _last(run: LoadedRun) -> str:
    return grouped(len(run.operations) - 1)


def _badge(run: LoadedRun) -> list[Any]:
    if run.manifest.complete:
        return []
    reasons = " ".join(run.manifest.reasons) or "no reason was given."
    return [html.P(f"The run is {run.manifest.verdict}: {reasons}", className="badge", role="note")]


def _neighbours(run: LoadedRun, identity: str, key: str) -> Any:
    """The operations before and after, by seq or, of a stimulus, by its sample."""
    if key.startswith("@"):
        at, column = int(key[1:]), "start_sample"
    else:
        at, column = int(key), "seq"
    place = pl.col(column)
    before = run.operations.filter(place < at)["seq"].max()
    after = run.operations.filter(place > at)["seq"].min()
    links = [
        html.A(words, href=sample_address(identity, str(seq)), className="tool", rel=rel)
        for words, rel, seq in (("← previous operation", "prev", before), ("next operation →", "next", after))
        if seq is not None
    ]
    return html.Div(links, className="choices")


def _facts(run: LoadedRun, operation: dict[str, Any] | None, stimulus: dict[str, Any] | None) -> Any:
    rate = run.manifest.samplerate_hz
    facts: list[tuple[str, str]] = []
    if operation is not None:
        facts += _operation_facts(run, operation, rate)
        inside = pl.col("operation_seq") == operation["seq"]
        stimulus = _longest(run.answered.filter(inside))
    if stimulus is not None:
        facts += _stimulus_facts(run, stimulus, rate)
    told = html.Dl(
        [html.Div([html.Dt(terms(name)), html.Dd(words)]) for name, words in facts], className="facts"
    )
    clocks = "" if operation is None else by_both(operation, run.manifest)
    return html.Div([told, *([html.P(terms(f"{clocks}.", prose=True), className="hint")] if clocks else [])])


def _longest(stimuli: pl.DataFrame) -> dict[str, Any] | None:
    ordered = stimuli.sort("isr_latency_ns", descending=True)
    return None if ordered.is_empty() else ordered.row(0, named=True)


def _operation_facts(run: LoadedRun, row: dict[str, Any], rate: int) -> list[tuple[str, str]]:
    what = _KINDS.get(row["kind"], f"kind {row['kind']}").format(size=grouped(row["size"]))
    facts = [("operation", f"{grouped(row['seq'])}: {what}")]
    if row["start_sample"] is not None:
        facts.append(("begins at", _when(row["start_sample"], rate)))
    budget = run.certainty.budgets.get("free_critical_ns" if row["kind"] == "F" else "critical_ns")
    measurements = (
        ("critical section, on the wire", row["wire_critical_ns"], "ns", budget),
        ("probes", row["probes"], "", None),
        ("instructions", row["instructions"], "", None),
        ("blocks live after it", row["live"], "", None),
        ("bytes in use", row["bytes_in_use"], "", None),
        ("depth", row["depth"], "", None),
    )
    facts += [
        (name, _told(value, unit, sure)) for name, value, unit, sure in measurements if value is not None
    ]
    if row["label"]:
        facts.append(("label", row["label"]))
    return facts


def _stimulus_facts(run: LoadedRun, row: dict[str, Any], rate: int) -> list[tuple[str, str]]:
    name = "control interrupt" if row["control"] else "interrupt"
    latency, budgets = row["isr_latency_ns"], run.certainty.budgets
    key = "control_latency_ns" if row["control"] else "interrupt_latency_ns"
    facts = [(f"{name} pended at", _when(row["sample"], rate))]
    waited = "never answered" if latency is None else _told(latency, "ns", budgets.get(key))
    facts.append((f"{name} waited", f"{waited}{', behind a critical section' * (row['hit'] == 'critical')}"))
    if row["task_latency_ns"] is not None:
        facts.append(
            ("its task ran after", _told(row["task_latency_ns"], "ns", budgets.get("task_latency_ns")))
        )
    return facts


def _told(value: float, unit: str, budget: float | None) -> str:
    sure = "" if budget is None else f" ±{number(budget, unit)}"
    return f"{number(value, unit)}{sure} {unit}".rstrip()


def _when(sample: int, rate: int) -> str:
    return f"sample {grouped(sample)}, {sample * 1e3 / rate:,.6f} ms"


def _wave(series: Series, key: str, several: list[dict[str, Any]]) -> list[Any]:
    """The waveform with its cursors, and what the browser must know to place them."""
    window = first_window(series, key)
    edges = series.run.edges
    if window is None or edges is None:
        missing = html.P("The capture does not show it, so there is no waveform.", className="hint")
        return [missing, dcc.Store(id=WIRE)]
    rate = edges.samplerate_hz
    wire = {
        "zero": window.zero,
        "samplerate_hz": rate,
        "core_hz": series.run.manifest.firmware.core_hz,
        "budgets": budgets_ns(series.run.certainty),
    }
    ends = {
        "this one": (window.start, window.end),
        "± 10 samples": (window.zero - 10, window.zero + 10),
        "whole capture": (0, edges.total_samples),
    }
    spans = {words: [(end - window.zero) * 1e6 / rate for end in samples] for words, samples in ends.items()}
    hint = (
        f"Time from sample {grouped(window.zero)}; one sample is {1e9 / rate:.1f} ns. "
        "Drag to zoom, shift and drag to move. A click at an edge places cursor A, the next one B. "
        "Shaded: critical section."
    )
    graph = dcc.Graph(id=WAVE, config=_CONFIG, responsive=True, style={"height": f"{HEIGHT}px"})
    named: Any = {"aria-label": f"Waveform of all channels around {describe(key)}"}
    return [
        html.Figure(
            [
                html.Div([html.H2("Waveform, as captured"), _ways(series, key, spans)], className="head"),
                html.P(hint, className="hint"),
                dcc.Store(id=WIRE, data=wire),
                dcc.Store(id=WAVE_FIGURE, data=figure(series, window)),
                html.Div(graph, className="plot", role="group", **named),
                strips(),
                _cursors(edges.total_samples, *_ends(several)),
            ],
            id="waveform",
        )
    ]


def _ways(series: Series, key: str, spans: dict[str, list[float]]) -> Any:
    """Buttons: to each of `spans` of time in µs, and to a picture."""
    views = [
        html.Button(words, className="tool", **{"data-span": f"{low} {high}"})  # type: ignore[arg-type]
        for words, (low, high) in spans.items()
    ]
    title = f"{series.name}: {describe(key)}"
    return html.Span([*views, *pictures(title, series.run.id)], className="tools")


def _ends(several: list[dict[str, Any]]) -> tuple[int | None, int | None]:
    """Where the first explanation begins and ends: the cursors begin there."""
    first = several[0] if several else {}
    return first.get("start_sample"), first.get("end_sample")


def _cursors(total: int, start: int | None, end: int | None) -> Any:
    def cursor(name: str, value: int | None) -> Any:
        typed = dcc.Input(id=f"cursor-{name}", type="number", min=0, max=total, step=1, value=value)
        return html.Label([f"{name}: sample ", typed])

    return html.Div(
        [
            dcc.Store(id="placing", data="A"),
            cursor("A", start),
            cursor("B", end),
            html.Output(id="between", **{"aria-live": "polite"}),  # type: ignore[arg-type]
        ],
        className="cursors",
        role="group",
        **{"aria-label": "Two cursors"},  # type: ignore[arg-type]
    )


def _maxima(run: LoadedRun, identity: str, key: str) -> Any:
    """Links to each maximum of the run."""
    head = html.Thead(html.Tr([html.Th(words, scope="col") for words in ("quantity", "maximum", "at")]))
    table = html.Table([head, html.Tbody(list(_maximum_rows(run, identity, key)))], className="comparison")
    return html.Section([html.H2("The run's maxima"), html.Div(table, className="scroll")])


def _maximum_rows(run: LoadedRun, identity: str, key: str) -> Iterator[Any]:
    for quantity in ALL:
        worst, summary = worst_key(run, quantity), run.summary(quantity)
        if worst is None or summary.max is None or quantity.key.startswith(("served", "refused")):
            continue
        value = f"{summary.at_least}{number(summary.max, quantity.unit)} {quantity.unit}".strip()
        link: Any = html.A(describe(worst), href=sample_address(identity, worst))
        at = "this one" if worst == key else link
        yield html.Tr([html.Th(terms(quantity.words), scope="row"), html.Td(value), html.Td(at)])
