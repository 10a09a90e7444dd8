"""The report: one self-contained HTML file with everything that some runs say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from capture.files.errors import RunError
from capture.files.whole import write_bytes
from dashboards.captures import embed
from dashboards.chart import Chart
from dashboards.figures.agreement import agreement
from dashboards.figures.cycles_by_probes import cycles_by_probes
from dashboards.figures.heap_state import heap_state
from dashboards.figures.interrupt_latency import interrupt_latency
from dashboards.figures.lanes import empty_panel
from dashboards.figures.latency_by_depth import latency_by_depth
from dashboards.figures.latency_by_phase import latency_by_phase
from dashboards.figures.masking_by_call import masking_by_call
from dashboards.figures.ramp import ramp
from dashboards.figures.survival import survival
from dashboards.figures.task_latency_by_depth import task_latency_by_depth
from dashboards.figures.waveform import worst_critical_section, worst_interrupt
from dashboards.headline import headline
from dashboards.runs import LoadedRun, load_run
from dashboards.series import Series, by_scenario
from dashboards.tables.comparison import comparison_table
from dashboards.tables.details import run_details
from dashboards.tables.differences import differences_table
from dashboards.treatment import AS_MEASURED, Treatment, treated

FIGURES = (
    ramp,
    masking_by_call,
    latency_by_phase,
    latency_by_depth,
    task_latency_by_depth,
    survival,
    cycles_by_probes,
    interrupt_latency,
    worst_critical_section,
    worst_interrupt,
    heap_state,
    agreement,
)

_PAGE = Path(__file__).parent / "page"

# The page may run its own scripts and nothing else: whatever a run folder says, and whatever the
# plotting library could fetch, no request leaves the browser.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


def write_report(runs: Sequence[Path], output: Path, treatment: Treatment = AS_MEASURED) -> Path:
    """Write the report on the run folders `runs` to `output` and return it. Raises RunError, WriteError."""
    if not runs:
        raise RunError("There are no runs to report on; run a scenario first.")
    page = report_html([treated(load_run(folder), treatment) for folder in runs])
    return write_bytes(output, page.encode())


def report_html(runs: Sequence[LoadedRun]) -> str:
    """The whole page. The same runs give the same text."""
    scenarios = by_scenario(runs)
    charts = {scenario: scenario_charts(series) for scenario, series in scenarios.items()}
    sections = "".join(
        _scenario(number, scenario, series, charts[scenario])
        for number, (scenario, series) in enumerate(scenarios.items())
    )
    every = [one for series in scenarios.values() for one in series]
    plots = {
        _plot_id(number, chart): _figure_json(chart.figure)
        for number, listed in enumerate(charts.values())
        for chart in listed
    }
    data = {"plots": plots, "panel": _figure_json(empty_panel(every)), "runs": embed(every)}
    return _document(_header(scenarios), sections + _details(every), data)


def scenario_charts(series: Sequence[Series]) -> list[Chart]:
    """The figures that apply to one scenario, in the order in which they tell it."""
    return [chart for figure in FIGURES if (chart := figure(series)) is not None]


def _plot_id(scenario: int, chart: Chart) -> str:
    return f"plot-{scenario}-{chart.key}"


def _figure_json(figure: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(figure.to_json())
    return parsed


def _header(scenarios: dict[str, list[Series]]) -> str:
    sentences = "".join(f"<p>{escape(headline(name, series))}</p>" for name, series in scenarios.items())
    links = "".join(
        f'<a href="#scenario-{number}">{escape(name)}</a>' for number, name in enumerate(scenarios)
    )
    return (
        f'<header><h1>Tailscope</h1><div class="headline">{sentences}</div>{_unbelieved(scenarios)}'
        f'<nav aria-label="Sections">{links}<a href="#runs">runs</a></nav></header>'
    )


def _unbelieved(scenarios: dict[str, list[Series]]) -> str:
    doubtful = [one.run for series in scenarios.values() for one in series if not one.run.manifest.complete]
    if not doubtful:
        return ""
    noun, verb = ("run", "is") if len(doubtful) == 1 else ("runs", "are")
    words = f"{len(doubtful)} {noun} shown here {verb} not complete: see the reasons before any number."
    return f'<p class="badge">{words}</p>'


def _scenario(number: int, scenario: str, series: Sequence[Series], charts: Sequence[Chart]) -> str:
    figures = "".join(_figure(number, chart) for chart in charts)
    return (
        f'<section id="scenario-{number}"><h2>{escape(scenario)}</h2>{comparison_table(series)}'
        f"{differences_table(series)}"
        '<p class="hint">Choose a maximum, or any point of a figure, to see its waveform.</p>'
        f"{figures}</section>"
    )


def _figure(number: int, chart: Chart) -> str:
    badges = "".join(f'<p class="badge">{escape(badge)}</p>' for badge in chart.badges)
    height = chart.figure.layout.height
    return (
        f"<figure><figcaption><h3>{escape(chart.title)}</h3>"
        f'<p class="subtitle">{escape(chart.subtitle)}</p>{badges}</figcaption>'
        f'<div class="plot" id="{_plot_id(number, chart)}" style="min-height:{height}px"></div>'
        f'<p class="explanation">{escape(chart.explanation)}</p></figure>'
    )


def _details(series: Sequence[Series]) -> str:
    return f'<section id="runs"><h2>Runs</h2>{"".join(run_details(one.run) for one in series)}</section>'


def _document(header: str, body: str, data: dict[str, Any]) -> str:
    style = (_PAGE / "page.css").read_text(encoding="utf-8")
    script = (_PAGE / "page.js").read_text(encoding="utf-8")
    selected = (_PAGE / "panel.html").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Tailscope report</title>'
        f"<style>{style}</style></head><body>{header}<main>{body}</main>{selected}"
        f'<script type="application/json" id="data">{_script_safe(data)}</script>'
        f"<script>{get_plotlyjs()}</script><script>{script}</script></body></html>\n"
    )


def _script_safe(data: dict[str, Any]) -> str:
    """JSON that cannot end or open an element, whatever strings it holds."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
