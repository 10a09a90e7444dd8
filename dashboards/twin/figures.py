"""The page's figures: residuals as histograms, and over the operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
import polars as pl

from analysis.twin.comparison import Comparison
from analysis.twin.residuals import QUANTITIES
from base.run_folder.edges import NS_PER_S
from dashboards.figures.chart import Chart, style
from dashboards.formatting import samplerate
from dashboards.loaded.series import MUTED, SHADES

_HEIGHT_PX = 380
_MOST_BINS = 80
_COLOURS = SHADES[:3]
_WORDS = {quantity.key: quantity.words for quantity in QUANTITIES}
_US_PER_S = 1e6


def charts(found: Comparison) -> list[Chart]:
    """All figures of which there are values."""
    return list(_charts(found))


def _charts(found: Comparison) -> Iterator[Chart]:
    yield from _histogram(
        found,
        "cycles",
        "How far the cycles of operations are apart",
        ("dwt_cycles", "dwt_operation_cycles"),
        "Board minus virtual board, by the cycle counter. To the right the board took longer.",
    )
    yield from _over_operations(
        found,
        "operations",
        "Cycles over the operations",
        "dwt_operation_cycles",
        "cycles",
        1.0,
        "Each whole operation, by the cycle counter. A trend tells of searches that grow; single points "
        "of interrupts within.",
    )
    yield from _histogram(
        found,
        "latencies",
        "How far latencies are apart",
        ("interrupt_latency", "task_latency", "control_latency"),
        "Board minus virtual board, on the wire, of stimuli that both had.",
    )
    yield from _over_operations(
        found,
        "begins",
        "When operations began",
        "begin",
        "µs",
        _US_PER_S / found.units.core_hz,
        "Board minus virtual board, since the first operation. A straight line is an error of a clock.",
    )


def _histogram(
    found: Comparison, key: str, title: str, quantities: Sequence[str], explanation: str
) -> Iterator[Chart]:
    first = found.trials.first
    of = {name: _residuals(first, name)["residual"].to_numpy() for name in quantities}
    of = {name: values for name, values in of.items() if len(values)}
    if not of:
        return
    every = np.concatenate(list(of.values()))
    width = max(1.0, float(np.ceil(np.ptp(every) / _MOST_BINS)))
    edges = np.arange(np.floor(every.min()) - width / 2, every.max() + width, width)
    figure = go.Figure()
    for (name, values), colour in zip(of.items(), _COLOURS, strict=False):
        counts, _ = np.histogram(values, edges)
        figure.add_bar(
            x=(edges[:-1] + width / 2).tolist(),
            y=counts.tolist(),
            width=width * 0.9,
            name=_WORDS[name],
            marker={"color": colour, "opacity": 0.6},
            hovertemplate="%{x:,} cycles: %{y:,}<extra>" + _WORDS[name] + "</extra>",
        )
    figure.update_layout(barmode="overlay")
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 40})
    figure.update_xaxes(title_text=f"board minus virtual board (cycles, {width:g} a bar)")
    figure.update_yaxes(title_text="how many", type="log", dtick=1)
    counted = ", ".join(f"{len(values):,} {_WORDS[name]}" for name, values in of.items())
    yield Chart(key, title, f"n = {counted} · {_provenance(found)}", explanation, _badges(found), figure)


def _over_operations(
    found: Comparison, key: str, title: str, quantity: str, unit: str, factor: float, explanation: str
) -> Iterator[Chart]:
    first = _residuals(found.trials.first, quantity)
    if first.is_empty():
        return
    figure = go.Figure()
    layers = [("nothing taken out", first, MUTED, "circle-open")]
    if found.trials.holds:
        last = _residuals(found.trials.last, quantity)
        layers.append(("with what holds taken out", last, _COLOURS[0], "circle"))
    for name, values, colour, symbol in layers:
        figure.add_scatter(
            x=values["seq"].to_list(),
            y=(values["residual"] * factor).to_list(),
            name=name,
            mode="markers",
            marker={"color": colour, "size": 5, "symbol": symbol},
            hovertemplate=f"operation %{{x:,}}: %{{y:,}} {unit}<extra>{name}</extra>",
        )
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 40}, showlegend=True)
    figure.update_xaxes(title_text="operation")
    figure.update_yaxes(title_text=f"board minus virtual board ({unit})")
    counted = f"n = {first.height:,} operations"
    yield Chart(key, title, f"{counted} · {_provenance(found)}", explanation, _badges(found), figure)


def _residuals(found: pl.DataFrame, quantity: str) -> pl.DataFrame:
    return found.filter(pl.col("quantity") == quantity)


def _provenance(found: Comparison) -> str:
    manifest = found.board.manifest
    sample_ns = NS_PER_S / manifest.samplerate_hz
    return (
        f"{manifest.board} at {samplerate(manifest.samplerate_hz)} (±{sample_ns:.1f} ns), virtual board at "
        f"{samplerate(found.trials.given.twin.samplerate_hz)} · run {found.folder.resolve().name}"
    )


def _badges(found: Comparison) -> tuple[str, ...]:
    manifest = found.board.manifest
    if manifest.complete:
        return ()
    return (f"The run is {manifest.verdict}: {' '.join(manifest.reasons) or 'no reason was given.'}",)
