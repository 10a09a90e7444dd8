"""The page of `./lab twin`: a board's run beside the same run on the virtual board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from analysis.twin.comparison import Comparison
from analysis.twin.residuals import QUANTITIES
from analysis.twin.text import (
    HYPOTHESES,
    RESIDUALS,
    WORST,
    hypothesis_lines,
    in_proportion,
    residual_lines,
    worst_lines,
)
from base.files.whole import write_bytes
from base.run_folder.edges import NS_PER_S
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, bar, scatter
from dashboards.formatting import samplerate
from dashboards.loaded.series import MUTED, SHADES
from dashboards.page.templates import TextGrid, sheet

_HEIGHT_PX = 380
_MOST_BINS = 80
_COLOURS = SHADES[:3]
_WORDS = {quantity.key: quantity.words for quantity in QUANTITIES}
_US_PER_S = 1e6


def charts(comparison: Comparison) -> list[Chart]:
    """All figures of which there are values."""
    return list(_charts(comparison))


def _charts(comparison: Comparison) -> Iterator[Chart]:
    yield from _histogram(
        comparison,
        "cycles",
        "How far the cycles of operations are apart",
        ("dwt_cycles", "dwt_operation_cycles"),
        "Board minus virtual board, by the cycle counter. To the right the board took longer.",
    )
    yield from _over_operations(
        comparison,
        "operations",
        "Cycles over the operations",
        "dwt_operation_cycles",
        "cycles",
        1.0,
        "Each whole operation, by the cycle counter. A trend tells of searches that grow; single points "
        "of interrupts within.",
    )
    yield from _histogram(
        comparison,
        "latencies",
        "How far latencies are apart",
        ("interrupt_latency", "task_latency", "control_latency"),
        "Board minus virtual board, on the wire, of stimuli that both had.",
    )
    yield from _over_operations(
        comparison,
        "begins",
        "When operations began",
        "begin",
        "µs",
        _US_PER_S / comparison.units.core_hz,
        "Board minus virtual board, since the first operation. A straight line is an error of a clock.",
    )


def _histogram(
    comparison: Comparison, key: str, title: str, quantities: Sequence[str], explanation: str
) -> Iterator[Chart]:
    first = comparison.trials.first
    of = {name: _of_quantity(first, name)["residual"].to_numpy() for name in quantities}
    of = {name: values for name, values in of.items() if len(values)}
    if not of:
        return
    every = np.concatenate(list(of.values()))
    width = max(1.0, float(np.ceil(np.ptp(every) / _MOST_BINS)))
    edges = np.arange(np.floor(every.min()) - width / 2, every.max() + width, width)
    figure = Figure()
    for (name, values), colour in zip(of.items(), _COLOURS, strict=False):
        counts, _ = np.histogram(values, edges)
        figure.add(
            bar(
                x=(edges[:-1] + width / 2).tolist(),
                y=counts.tolist(),
                width=width * 0.9,
                name=_WORDS[name],
                marker={"color": colour, "opacity": 0.6},
                hovertemplate="%{x:,} cycles: %{y:,}<extra>" + _WORDS[name] + "</extra>",
            )
        )
    figure.update_layout(barmode="overlay")
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 40})
    figure.update_xaxes(title_text=f"board minus virtual board (cycles, {width:g} a bar)")
    figure.update_yaxes(title_text="how many", type="log", dtick=1)
    counted = ", ".join(f"{len(values):,} {_WORDS[name]}" for name, values in of.items())
    yield Chart(
        key, title, f"n = {counted} · {_provenance(comparison)}", explanation, _badges(comparison), figure
    )


def _over_operations(
    comparison: Comparison, key: str, title: str, quantity: str, unit: str, factor: float, explanation: str
) -> Iterator[Chart]:
    first = _of_quantity(comparison.trials.first, quantity)
    if first.is_empty():
        return
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
    counted = f"n = {first.height:,} operations"
    yield Chart(
        key, title, f"{counted} · {_provenance(comparison)}", explanation, _badges(comparison), figure
    )


def _of_quantity(table: pl.DataFrame, quantity: str) -> pl.DataFrame:
    return table.filter(pl.col("quantity") == quantity)


def _provenance(comparison: Comparison) -> str:
    manifest = comparison.board.manifest
    sample_ns = NS_PER_S / manifest.samplerate_hz
    return (
        f"{manifest.board} at {samplerate(manifest.samplerate_hz)} (±{sample_ns:.1f} ns), virtual board at "
        f"{samplerate(comparison.trials.given.twin.samplerate_hz)} · run {comparison.folder.resolve().name}"
    )


def _badges(comparison: Comparison) -> tuple[str, ...]:
    manifest = comparison.board.manifest
    if manifest.complete:
        return ()
    return (f"The run is {manifest.verdict}: {' '.join(manifest.reasons) or 'no reason was given.'}",)


def grids(comparison: Comparison) -> list[TextGrid]:
    """All tables; those of which there is nothing to say are left out."""
    parts = {"Residuals": comparison.rows}
    if comparison.trials.holds:
        parts["Left with what holds taken out"] = [row for row in comparison.rows_left if row.kind is None]
    made = [TextGrid(title, RESIDUALS, tuple(residual_lines(rows))) for title, rows in parts.items()]
    worst = tuple(worst_lines(comparison.rows, comparison.units))
    made.append(TextGrid(WORST, ("quantity", "operation: cycles"), worst, told=True))
    hypotheses = tuple(hypothesis_lines(comparison.trials))
    made.append(TextGrid("What may explain it", HYPOTHESES, hypotheses, told=True))
    if comparison.causes:
        title = f"The difference of {comparison.causes.undisturbed:,} operations that no interrupt met"
        lines = ((in_proportion(comparison.causes),),)
        made.append(TextGrid(title, ("what it goes with",), lines, told=True))
    return [grid for grid in made if grid.lines]


def write(comparison: Comparison, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(comparison).encode())


def html(comparison: Comparison) -> str:
    """The whole page. Equal comparisons give equal text."""
    return sheet("twin.html", comparison.verdict, comparison.notes, charts(comparison), grids(comparison))
