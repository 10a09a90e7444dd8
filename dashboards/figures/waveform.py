"""The channels around the worst critical section, and around the worst interrupt, of a run."""

from __future__ import annotations

import plotly.graph_objects as go

from base.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.figures.chart import Chart, make_chart
from dashboards.figures.lanes import draw_window
from dashboards.formatting import grouped
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import describe, worst_key
from dashboards.waveforms.windows import window_of

_HEIGHT_PX = 270


def worst_critical_section(one: Series) -> Chart | None:
    """The window of the longest critical section of an allocation. None without any."""
    explanation = "Shaded: critical. Time counts from the start of the operation."
    return _waveform("pulse", one, CRITICAL, explanation)


def worst_interrupt(one: Series) -> Chart | None:
    """The window of the longest interrupt latency. None without any."""
    explanation = (
        "ISR answers a STIM edge in the shaded critical section only after its end; CISR answers a CTRL edge "
        "at once."
    )
    return _waveform("interrupt", one, LATENCY, explanation)


def _waveform(key: str, one: Series, quantity: Quantity, explanation: str) -> Chart | None:
    """Lanes of a run that has a sample of `quantity` and a capture."""
    worst = worst_key(one.run, quantity)
    window = window_of(one.run, worst) if worst else None
    if worst is None or window is None:
        return None
    figure = go.Figure()
    draw_window(figure, one, window)
    figure.update_xaxes(title_text="time (µs)")
    counted = f"n = {grouped(window.end - window.start)} samples"
    title = f"{one.name}: {describe(worst)}"
    key = f"{key}-{one.style.entry}"
    chart = make_chart(key, title, [one], counted, explanation, figure, _HEIGHT_PX)
    figure.update_layout(showlegend=False)
    # Lanes have names, not values.
    figure.update_yaxes(showgrid=False, ticks="", showline=False)
    return chart
