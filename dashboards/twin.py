"""The page of `./lab twin`: a board's run beside the same run on the virtual board."""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.twin.comparison import Comparison
from analysis.twin.residuals import WORDS
from base.run_folder.edges import NS_PER_S
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, bar, scatter
from dashboards.formatting import samplerate
from dashboards.loaded.series import MUTED, SHADES
from dashboards.page.templates import Sheet

_HEIGHT_PX = 380
_MOST_BINS = 80
_COLOURS = SHADES[:3]
_US_PER_S = 1e6


def charts(comparison: Comparison) -> list[Chart]:
    """All figures of which there are values."""
    of_cycles = _histogram(comparison, "dwt_cycles", "dwt_operation_cycles")
    of_latencies = _histogram(comparison, "interrupt_latency", "task_latency", "control_latency")
    us_per_cycle = _US_PER_S / comparison.board.core_hz
    drawn = (
        (
            "cycles",
            "How far the cycles of operations are apart",
            "Board minus virtual board, by the cycle counter. To the right the board took longer.",
            of_cycles,
        ),
        (
            "operations",
            "Cycles over the operations",
            "Each whole operation, by the cycle counter. A trend tells of searches that grow; single points "
            "of interrupts within.",
            _over_operations(comparison, "dwt_operation_cycles", "cycles", 1.0),
        ),
        (
            "latencies",
            "How far latencies are apart",
            "Board minus virtual board, on the wire, of stimuli that both had.",
            of_latencies,
        ),
        (
            "begins",
            "When operations began",
            "Board minus virtual board, since the first operation. A straight line is an error of a clock.",
            _over_operations(comparison, "begin", "µs", us_per_cycle),
        ),
    )
    manifest = comparison.board.manifest
    provenance = (
        f"{manifest.board} at {samplerate(manifest.samplerate_hz)} (±{NS_PER_S / manifest.samplerate_hz:.1f} "
        f"ns), virtual board at {samplerate(comparison.trials.given.twin.samplerate_hz)} · run "
        f"{comparison.folder.resolve().name}"
    )
    reasons = " ".join(manifest.reasons) or "no reason was given."
    badges = () if manifest.complete else (f"The run is {manifest.verdict}: {reasons}",)
    return [
        Chart(key, title, f"n = {figure[0]} · {provenance}", explanation, badges, figure[1])
        for key, title, explanation, figure in drawn
        if figure is not None
    ]


def _histogram(comparison: Comparison, *quantities: str) -> tuple[str, Figure] | None:
    """How many of what, and the figure."""
    first = comparison.trials.first
    every = {name: _of_quantity(first, name)["residual"].to_numpy() for name in quantities}
    of = {name: values for name, values in every.items() if len(values)}
    if not of:
        return None
    values = np.concatenate(list(of.values()))
    width = max(1.0, float(np.ceil(np.ptp(values) / _MOST_BINS)))
    edges = np.arange(np.floor(values.min()) - width / 2, values.max() + width, width)
    figure = Figure()
    for (name, values), colour in zip(of.items(), _COLOURS, strict=False):
        counts, _ = np.histogram(values, edges)
        figure.add(
            bar(
                x=(edges[:-1] + width / 2).tolist(),
                y=counts.tolist(),
                width=width * 0.9,
                name=WORDS[name],
                marker={"color": colour, "opacity": 0.6},
                hovertemplate="%{x:,} cycles: %{y:,}<extra>" + WORDS[name] + "</extra>",
            )
        )
    figure.update_layout(barmode="overlay")
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 40})
    figure.update_xaxes(title_text=f"board minus virtual board (cycles, {width:g} a bar)")
    figure.update_yaxes(title_text="how many", type="log", dtick=1)
    return ", ".join(f"{len(values):,} {WORDS[name]}" for name, values in of.items()), figure


def _over_operations(
    comparison: Comparison, quantity: str, unit: str, factor: float
) -> tuple[str, Figure] | None:
    first = _of_quantity(comparison.trials.first, quantity)
    if first.is_empty():
        return None
    figure = Figure()
    layers = [("nothing taken out", first, MUTED, "circle-open")]
    if comparison.trials.holds:
        last = _of_quantity(comparison.trials.last, quantity)
        layers.append(("with what holds taken out", last, _COLOURS[0], "circle"))
    for name, values, colour, symbol in layers:
        figure.add(
            scatter(
                x=values["seq"].to_list(),
                y=(values["residual"] * factor).to_list(),
                name=name,
                mode="markers",
                marker={"color": colour, "size": 5, "symbol": symbol},
                hovertemplate=f"operation %{{x:,}}: %{{y:,}} {unit}<extra>{name}</extra>",
            )
        )
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 40}, showlegend=True)
    figure.update_xaxes(title_text="operation")
    figure.update_yaxes(title_text=f"board minus virtual board ({unit})")
    return f"{first.height:,} operations", figure


def _of_quantity(table: pl.DataFrame, quantity: str) -> pl.DataFrame:
    return table.filter(pl.col("quantity") == quantity)


def sheet(comparison: Comparison) -> Sheet:
    """The page. Equal comparisons give equal text."""
    return Sheet("twin.html", comparison.verdict, comparison.notes, charts(comparison), comparison.tables())
