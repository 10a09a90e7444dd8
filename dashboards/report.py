"""The report: one HTML file, complete in itself, with everything that some runs say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from base.files.errors import RunError
from base.files.whole import write_bytes
from base.run_folder.alike import Options
from base.run_folder.quantities import LATENCY, SECTION, TASK
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
from dashboards.pages.history import history
from dashboards.waveforms import worst_key

Progress = Callable[[str], None]
"""Is told a sentence as work goes on, such as `run 3 of 25: loaded`."""


def _silent(_words: str) -> None:
    pass


@dataclass(frozen=True)
class Placed:
    """A page in the report. `scenario` is None where it is on all of them.

    `page` is None where the report is served: the page is what the address `ask` answers. Of very
    many runs it is `packed`, as HTML.
    """

    key: str
    title: str
    id: str
    scenario: str | None = None
    page: Page | None = None
    ask: str = ""
    packed: str = ""


@dataclass(frozen=True)
class Document:
    """The content of report.html.

    `titles` are those of the pages on one scenario, by key; `runs` those of a file, packed; `words`
    the glossary's spellings, each with its meaning. `notes` are sentences on runs that are not in
    it, `left_out` that on runs for which a later one stands.
    """

    scenarios: Sequence[str]
    titles: Mapping[str, str]
    placed: Sequence[Placed]
    runs: Sequence[PackedRun] = ()
    notes: Sequence[str] = ()
    left_out: str = ""

    @property
    def everywhere(self) -> list[Placed]:
        """The pages on all scenarios."""
        return [placed for placed in self.placed if placed.scenario is None]

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(word.spelling, word.means) for word in glossary().values()]


@dataclass(frozen=True)
class PackedRun:
    """A run's page and its samples, packed, in the element `element` and beside it."""

    id: str
    element: str
    html: str
    samples: str


def write_report(
    runs: Sequence[Path],
    output: Path,
    adjustments: Adjustments = AS_MEASURED,
    progress: Progress = _silent,
    limit: str = "",
    table: pl.DataFrame | None = None,
) -> Path:
    """Write the report on the run folders `runs` to `output` and return that path.

    `limit` is a time, such as 10us: the page begins with it. `table` is the index of these and of
    earlier runs, for the history. Raises RunError, CaptureError,
    WriteError.
    """
    if not runs:
        raise RunError("There are no runs to report on; run a scenario first.")
    loaded = []
    for number, folder in enumerate(runs, start=1):
        loaded.append(adjusted(load_run(folder), adjustments))
        progress(f"run {number} of {len(runs)}: loaded")
    return write_bytes(output, report_html(loaded, progress, limit, table).encode())


def report_html(
    runs: Sequence[LoadedRun],
    progress: Progress = _silent,
    limit: str = "",
    table: pl.DataFrame | None = None,
) -> str:
    """The whole page. The same runs give the same text."""
    scenarios = by_scenario(runs)
    every = [series for group in scenarios.values() for series in group]
    everywhere = [believed(page(scenarios), every) for page in OF_ALL]
    placed = [Placed(page.key, page.title, f"all-{page.key}", page=page) for page in everywhere]
    options = [Options.of(run.manifest).sha256 for run in runs]
    alike = None if table is None else table.filter(pl.col("options_sha256").is_in(options))
    if alike is not None and (past := history(alike, {run.id for run in runs})) is not None:
        placed.append(Placed(past.key, past.title, "all-history", page=past))
    for number, (scenario, series) in enumerate(scenarios.items()):
        for made in OF_SCENARIO:
            if (page := made(series)) is not None:
                shown = believed(page.with_charts(thinned), series)
                placed.append(Placed(page.key, page.title, f"plot-{number}-{page.key}", scenario, shown))
        progress(f"scenario {number + 1} of {len(scenarios)}: {scenario}")
    order = [made.__name__ for made in OF_SCENARIO]
    titles = {page.key: page.title for page in placed if page.scenario is not None}
    if len(every) > MANY:
        placed = [_packed(one) if one.scenario is not None else one for one in placed]
    document = Document(
        list(scenarios),
        dict(sorted(titles.items(), key=lambda title: order.index(title[0]))),
        placed,
        list(_packed_runs(every, progress)),
    )
    values = {**data(scenarios, document), "limit": limit}
    return render("report.html", document, values, (*DRAWING, *SCRIPTS))


MANY = 40
"""Of more runs the pages of scenarios are packed, and run.json is left to the run folders."""


def _packed(placed: Placed) -> Placed:
    return (
        replace(placed, page=None, packed=pack(page_html(placed.page, placed.id))) if placed.page else placed
    )


SCRIPTS = ("picker.js", "between.js", "why.js", "sample.js", "sort.js", "report.js")


def _packed_runs(series: Sequence[Series], progress: Progress) -> Iterator[PackedRun]:
    for number, member in enumerate(series):
        samples = pack_json(embed(member, len(series)))
        html = page_html(believed(page_of_run(member, whole=len(series) <= MANY), [member]), f"run-{number}")
        yield PackedRun(member.run.id, f"run-{number}", pack(html), samples)
        progress(f"run {number + 1} of {len(series)}: waveforms")


def page_html(page: Page, id: str) -> str:
    """What stands in the section of `page`; `id` begins the ids of its elements."""
    return fragment("page.html", Placed(page.key, page.title, id, page=page))


def data(scenarios: Mapping[str, Sequence[Series]], document: Document) -> dict[str, Any]:
    """The data that report.js needs at once; figures, tables and samples are apart."""
    every = [(scenario, member) for scenario, series in scenarios.items() for member in series]
    names = {series.style.entry: series.name.removesuffix(verdict_suffix(series.run)) for _, series in every}
    return {
        "entries": [{"entry": entry, "name": name} for entry, name in sorted(names.items())],
        "scenarios": [
            {
                "name": scenario,
                "pages": [placed.key for placed in document.placed if placed.scenario == scenario],
                "worst": {str(member.style.entry): _worst(member) for member in series},
            }
            for scenario, series in scenarios.items()
        ],
        "everywhere": [placed.key for placed in document.everywhere],
        "runs": {run.id: f"{run.element}-samples" for run in document.runs},
        "scenario_of": {series.run.id: scenario for scenario, series in every},
        "served": any(placed.ask for placed in document.placed),
    }


def _worst(series: Series) -> tuple[float | None, str, list[str] | None]:
    """The longest wait that a run shows to be possible, in ns; the same to read; its instant."""
    wait = series.run.manifest.possible_wait
    worst = float(wait.ns) if wait else None
    quantity = SECTION if wait is None or wait.by == "section" else TASK if wait.of == TASK.key else LATENCY
    key = worst_key(series.run, quantity)
    return worst, (wait.at_least if wait else "") + microseconds(worst), [series.run.id, key] if key else None
