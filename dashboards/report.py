"""The report: one HTML file, complete in itself, with everything that some runs say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from capture.files.errors import RunError
from capture.files.whole import write_bytes
from dashboards.figures.lanes import empty_panel
from dashboards.figures.scenario_charts import scenario_charts
from dashboards.headline import headline
from dashboards.loaded.adjustments import AS_MEASURED, Adjustments, adjusted
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.page.document import Page, Section, document
from dashboards.page.embedded import embed
from dashboards.page.templates import Figure, figure_json, plots
from dashboards.tables.comparison import comparison
from dashboards.tables.cycles_by_probes import cycles_by_probes
from dashboards.tables.details import details
from dashboards.tables.differences import differences


def write_report(runs: Sequence[Path], output: Path, adjustments: Adjustments = AS_MEASURED) -> Path:
    """Write the report on the run folders `runs` to `output` and return that path.

    Raises RunError, CaptureError, WriteError.
    """
    if not runs:
        raise RunError("There are no runs to report on; run a scenario first.")
    page = report_html([adjusted(load_run(folder), adjustments) for folder in runs])
    return write_bytes(output, page.encode())


def report_html(runs: Sequence[LoadedRun]) -> str:
    """The whole page. The same runs give the same text."""
    scenarios = by_scenario(runs)
    sections = [
        _section(number, scenario, series) for number, (scenario, series) in enumerate(scenarios.items())
    ]
    every = [one for series in scenarios.values() for one in series]
    return document(
        Page(
            sections=sections,
            warning=_warning([one.run for one in every]),
            runs=[details(one.run) for one in every],
            data=_data(sections, every),
        )
    )


def _section(number: int, scenario: str, series: Sequence[Series]) -> Section:
    return Section(
        id=f"scenario-{number}",
        scenario=scenario,
        headline=headline(scenario, series),
        comparison=comparison(series),
        differences=differences(series),
        cycles_by_probes=cycles_by_probes(series),
        figures=[Figure(f"plot-{number}-{chart.key}", chart) for chart in scenario_charts(series)],
    )


def _warning(runs: Sequence[LoadedRun]) -> str:
    """A sentence before any number; empty where every run is complete."""
    doubtful = sum(not run.manifest.complete for run in runs)
    if not doubtful:
        return ""
    noun, verb = ("run", "is") if doubtful == 1 else ("runs", "are")
    return f"{doubtful} {noun} shown here {verb} not complete: see the reasons before any number."


def _data(sections: Sequence[Section], series: Sequence[Series]) -> dict[str, Any]:
    """Figures by the id of their element, the empty panel, and what a click shows of each run."""
    figures = (figure for section in sections for figure in section.figures)
    return {
        "plots": plots(figures),
        "panel": figure_json(empty_panel(series)),
        "runs": embed(series),
    }
