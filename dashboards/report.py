"""The report: one HTML file, complete in itself, with everything that some runs say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.files.errors import RunError
from base.files.whole import write_bytes
from dashboards.blocks import Page
from dashboards.figures.decimate import thinned
from dashboards.formatting import microseconds
from dashboards.glossary import glossary
from dashboards.loaded.adjustments import AS_MEASURED, Adjustments, adjusted
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import Series, by_scenario, verdict_suffix
from dashboards.page.embedded import embed
from dashboards.page.templates import DRAWING, fragment, pack, pack_json, render
from dashboards.pages.catalogue import OF_ALL, OF_SCENARIO, believed
from dashboards.pages.catalogue import run as page_of_run

Progress = Callable[[str], None]
"""Is told a sentence as work goes on, such as `run 3 of 25: loaded`."""


def _silent(_words: str) -> None:
    pass


@dataclass(frozen=True)
class _Placed:
    """A page in the report. `scenario` is None where it is on all of them.

    `order` is its place among the pages on one scenario.
    """

    page: Page
    id: str
    scenario: str | None = None
    order: int = 0


@dataclass(frozen=True)
class _Run:
    """A run's page and its samples, packed, in the element `element` and beside it."""

    id: str
    element: str
    html: str
    samples: str


@dataclass(frozen=True)
class _Document:
    """The content of report.html. `titles` are those of the pages on one scenario, by key; `words`
    are the glossary's spellings, each with its meaning.
    """

    everywhere: Sequence[Page]
    scenarios: Sequence[str]
    titles: Sequence[tuple[str, str]]
    placed: Sequence[_Placed]
    runs: Sequence[_Run]
    words: Sequence[tuple[str, str]]


def write_report(
    runs: Sequence[Path],
    output: Path,
    adjustments: Adjustments = AS_MEASURED,
    progress: Progress = _silent,
) -> Path:
    """Write the report on the run folders `runs` to `output` and return that path.

    Raises RunError, CaptureError, WriteError.
    """
    if not runs:
        raise RunError("There are no runs to report on; run a scenario first.")
    loaded = []
    for number, folder in enumerate(runs, start=1):
        loaded.append(adjusted(load_run(folder), adjustments))
        progress(f"run {number} of {len(runs)}: loaded")
    return write_bytes(output, report_html(loaded, progress).encode())


def report_html(runs: Sequence[LoadedRun], progress: Progress = _silent) -> str:
    """The whole page. The same runs give the same text."""
    scenarios = by_scenario(runs)
    every = [series for group in scenarios.values() for series in group]
    everywhere = [believed(page(scenarios), every) for page in OF_ALL]
    of_scenarios = list(_of_scenarios(scenarios, progress))
    placed = [_Placed(page, f"all-{page.key}") for page in everywhere] + of_scenarios
    document = _Document(
        everywhere,
        list(scenarios),
        _titles(of_scenarios),
        placed,
        list(_runs(every, progress)),
        [(word.spelling, word.means) for word in glossary().values()],
    )
    return render("report.html", document, _data(scenarios, document), (*DRAWING, *_SCRIPTS))


_SCRIPTS = ("picker.js", "between.js", "why.js", "sample.js", "sort.js", "report.js")


def _of_scenarios(scenarios: Mapping[str, Sequence[Series]], progress: Progress) -> Iterator[_Placed]:
    for number, (scenario, series) in enumerate(scenarios.items()):
        for order, made in enumerate(OF_SCENARIO):
            if (page := made(series)) is not None:
                shown = believed(page.with_charts(thinned), series)
                yield _Placed(shown, f"plot-{number}-{page.key}", scenario, order)
        progress(f"scenario {number + 1} of {len(scenarios)}: {scenario}")


def _titles(placed: Sequence[_Placed]) -> list[tuple[str, str]]:
    """Keys and titles of the pages on one scenario, in the order of the catalogue."""
    titles = {placed_page.order: (placed_page.page.key, placed_page.page.title) for placed_page in placed}
    return [titles[order] for order in sorted(titles)]


def _runs(series: Sequence[Series], progress: Progress) -> Iterator[_Run]:
    for number, member in enumerate(series):
        element = f"run-{number}"
        placed = _Placed(believed(page_of_run(member, figures=False), [member]), element)
        samples = pack_json(embed(member, len(series)))
        yield _Run(member.run.id, element, pack(fragment("run.html", placed)), samples)
        progress(f"run {number + 1} of {len(series)}: waveforms")


def _data(scenarios: Mapping[str, Sequence[Series]], document: _Document) -> dict[str, Any]:
    """The data that report.js needs at once; figures, tables and samples are apart."""
    every = [(scenario, member) for scenario, series in scenarios.items() for member in series]
    names = {series.style.entry: series.name.removesuffix(verdict_suffix(series.run)) for _, series in every}
    return {
        "entries": [{"entry": entry, "name": name} for entry, name in sorted(names.items())],
        "scenarios": [
            {
                "name": scenario,
                "pages": [placed.page.key for placed in document.placed if placed.scenario == scenario],
                "worst": {str(member.style.entry): _worst(member) for member in series},
            }
            for scenario, series in scenarios.items()
        ],
        "everywhere": [page.key for page in document.everywhere],
        "picked": sorted({placed.page.key for placed in document.placed if _has_figures(placed.page)}),
        "runs": {run.id: f"{run.element}-samples" for run in document.runs},
        "scenario_of": {series.run.id: scenario for scenario, series in every},
    }


def _worst(series: Series) -> tuple[float | None, str]:
    """The longest wait that the run shows to be possible, in ns, and the same to read."""
    wait = series.run.manifest.possible_wait
    worst = float(wait.ns) if wait else None
    return worst, (wait.at_least if wait else "") + microseconds(worst)


def _has_figures(page: Page) -> bool:
    return any(True for _ in page.charts())
