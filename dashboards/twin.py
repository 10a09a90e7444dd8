"""The page of `./lab twin`: a board's run beside the same run on the virtual board."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from analysis.twin.comparison import Comparison
from analysis.twin.residuals import WORDS
from base.run_folder.edges import NS_PER_S
from dashboards.blocks import Chart
from dashboards.figures.chart import DIFFERENCES_PX, differences, legended
from dashboards.formatting import samplerate
from dashboards.loaded.series import SHADES
from dashboards.page.templates import Sheet

_MOST_BINS = 80


def charts(comparison: Comparison) -> list[Chart]:
    """All figures of which there are values."""
    drawn = (
        (
            "cycles",
            "How far the cycles of operations are apart",
            "Board minus virtual board, by the cycle counter. To the right the board took longer.",
            _histogram(comparison, "dwt_cycles", "dwt_operation_cycles"),
        ),
        (
            "operations",
            "Cycles over the operations",
            "Each whole operation, by the cycle counter. A trend tells of searches that grow; single points "
            "of interrupts within.",
            _over_operations(comparison),
        ),
        (
            "latencies",
            "How far latencies are apart",
            "Board minus virtual board, on the wire, of stimuli that both had.",
            _histogram(comparison, "interrupt_latency", "task_latency", "control_latency"),
        ),
    )
    manifest = comparison.board.manifest
    provenance = (
        f"{manifest.board} at {samplerate(manifest.samplerate_hz)} (±{NS_PER_S / manifest.samplerate_hz:.1f} "
        f"ns), virtual board at {samplerate(comparison.given.twin.samplerate_hz)} · run "
        f"{comparison.folder.resolve().name}"
    )
    reasons = " ".join(manifest.reasons) or "no reason was given."
    badges = () if manifest.complete else (f"The run is {manifest.verdict}: {reasons}",)
    return [
        Chart(key, title, f"n = {figure[0]} · {provenance}", explanation, figure[1], badges)
        for key, title, explanation, figure in drawn
        if figure is not None
    ]


def _histogram(comparison: Comparison, *quantities: str) -> tuple[str, go.Figure] | None:
    """How many of what, and the figure."""
    first = comparison.first
    every = {WORDS[name]: first.filter(quantity=name)["residual"].to_numpy() for name in quantities}
    of = {words: values for words, values in every.items() if len(values)}
    if not of:
        return None
    width = max(1.0, float(np.ceil(np.ptp(np.concatenate(list(of.values()))) / _MOST_BINS)))
    figure = go.Figure(
        [
            go.Histogram(
                x=values,
                xbins_start=np.floor(values.min()) - width / 2,
                xbins_size=width,
                name=words,
                marker_color=colour,
                marker_opacity=0.6,
                hovertemplate="%{x:,} cycles: %{y:,}",
            )
            for (words, values), colour in zip(of.items(), SHADES, strict=False)
        ]
    )
    legended(figure, DIFFERENCES_PX, f"board minus virtual board (cycles, {width:g} a bar)", "how many")
    figure.update_layout(barmode="overlay", showlegend=len(of) > 1, yaxis={"type": "log", "dtick": 1})
    return ", ".join(f"{len(values):,} {words}" for words, values in of.items()), figure


def _over_operations(comparison: Comparison) -> tuple[str, go.Figure] | None:
    first, last = (
        table.filter(quantity="dwt_operation_cycles").select("seq", cycles="residual")
        for table in (comparison.first, comparison.last)
    )
    if first.is_empty():
        return None
    layers = [("nothing taken out", first, True)]
    if comparison.holds:
        layers.append(("with what holds taken out", last, False))
    figure = differences(layers, "board minus virtual board")
    return f"{first.height:,} operations", figure


def sheet(comparison: Comparison) -> Sheet:
    """The page. Equal comparisons give equal text."""
    return Sheet(
        "Tailscope: a board and its twin",
        comparison.verdict,
        comparison.notes,
        charts(comparison),
        comparison.tables(),
        "All is board minus virtual board. What a hypothesis removes, tried alone, is of what is beyond the "
        "budgets: 100 % leaves nothing, less than 0 makes it worse. Shares of what the difference goes with "
        "rank counts; they prove nothing. docs/reference/timing.md says how each is found.",
    )
