"""The eight channels around the worst critical section, and around the worst interrupt, of each run."""

from __future__ import annotations

from collections.abc import Sequence

from plotly.subplots import make_subplots

from capture.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.chart import Chart, make_chart
from dashboards.figures.lanes import draw_window
from dashboards.formatting import grouped
from dashboards.quantities import worst_key
from dashboards.selection import describe
from dashboards.series import Series
from dashboards.windows import window_of

_HEIGHT_PER_RUN = 250


def worst_critical_section(series: Sequence[Series]) -> Chart | None:
    """The window of the longest critical section of each run. None without any."""
    explanation = (
        "The longest critical section of an allocation in each run, on one scale of time. Shaded: critical."
    )
    return _waveform("pulse", "The worst critical section, as captured", series, CRITICAL, explanation)


def worst_interrupt(series: Sequence[Series]) -> Chart | None:
    """The window of the longest interrupt latency of each run. None without any."""
    explanation = (
        "The interrupt that waited longest in each run, on one scale of time. A STIM edge in the shaded "
        "critical section is answered by ISR only after its end; a CTRL edge is answered by CISR at once."
    )
    return _waveform("interrupt", "The worst interrupt, as captured", series, LATENCY, explanation)


def _waveform(
    key: str, title: str, series: Sequence[Series], quantity: Quantity, explanation: str
) -> Chart | None:
    """One row of lanes for each run that has a sample of `quantity` and a capture."""
    shown = [
        (one, worst, window)
        for one in series
        if (worst := worst_key(one.run, quantity)) and (window := window_of(one.run, worst))
    ]
    if not shown:
        return None
    figure = make_subplots(
        rows=len(shown),
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.16 / len(shown),
        subplot_titles=[f"{one.label}: {describe(worst)}" for one, worst, _ in shown],
    )
    for row, (one, _, window) in enumerate(shown, start=1):
        draw_window(figure, row, one, window)
    figure.update_xaxes(title_text="time from the start of the operation (µs)", row=len(shown), col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    samples = ", ".join(grouped(window.end - window.start) for _, _, window in shown)
    drawn = [one for one, _, _ in shown]
    height = 90 + _HEIGHT_PER_RUN * len(shown)
    chart = make_chart(key, title, drawn, f"n = {samples} samples", explanation, figure, height)
    figure.update_layout(showlegend=False, margin={"t": 30})
    # Lanes have names, not values.
    figure.update_yaxes(showgrid=False, ticks="", showline=False)
    return chart
