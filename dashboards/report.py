"""The report: one HTML file, complete in itself, with everything that some runs say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from base.files.errors import RunError
from base.files.whole import write_bytes
from base.run_folder.alike import Options
from base.run_folder.quantities import LATENCY, SECTION, TASK
from dashboards.blocks import Page
from dashboards.figures.chart import thinned
from dashboards.formatting import microseconds
from dashboards.loaded.adjustments import AS_MEASURED, Adjustments, adjusted
from dashboards.loaded.runs import LoadedRun, open_run
from dashboards.loaded.series import Series, by_scenario, verdict_suffix
from dashboards.page.embedded import embed
from dashboards.page.templates import DRAWING, fragment, pack, pack_json, render
from dashboards.pages.catalogue import OF_ALL, OF_SCENARIO, believed, offered
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

    `titles` are those of the pages on one scenario, by key; `packs` have the runs of a file.
    `notes` are sentences on runs that are not in it, `left_out` that on runs for which a later one
    stands.
    """

    scenarios: Mapping[str, Sequence[Series]]
    titles: Mapping[str, str]
    placed: Sequence[Placed]
    packs: Sequence[Pack] = ()
    notes: Sequence[str] = ()
    left_out: str = ""

    @property
    def everywhere(self) -> list[Placed]:
        """The pages on all scenarios."""
        return [placed for placed in self.placed if placed.scenario is None]

    def html(self, scripts: Sequence[str], *, served: bool = False, limit: str = "") -> str:
        """The whole page. report.js needs this data at once; all else is apart."""
        every = [member for series in self.scenarios.values() for member in series]
        names = {member.style.entry: member.name.removesuffix(verdict_suffix(member.run)) for member in every}
        scenarios = [
            {
                "name": scenario,
                "pages": [placed.key for placed in self.placed if placed.scenario == scenario],
                "worst": {str(member.style.entry): _worst(member) for member in series},
            }
            for scenario, series in self.scenarios.items()
        ]
        data: dict[str, Any] = {
            "entries": [{"entry": entry, "name": name} for entry, name in sorted(names.items())],
            "scenarios": scenarios,
            "everywhere": [placed.key for placed in self.everywhere],
            "runs": {run: pack.id for pack in self.packs for run in pack.runs},
            "scenario_of": {member.run.id: member.run.manifest.scenario for member in every},
            "served": served,
            "limit": limit,
        }
        return render("report.html", self, data, scripts, figures=not served)


@dataclass(frozen=True)
class Pack:
    """Pages and samples of some `runs` by their ids, packed in the element `id` and beside it."""

    id: str
    runs: Sequence[str]
    pages: str
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
        loaded.append(adjusted(open_run(folder), adjustments))
        progress(f"run {number} of {len(runs)}: opened")
    return write_bytes(output, report_html(loaded, progress, limit, table).encode())


MANY, TOGETHER = 40, 16
"""Of more runs all pages but those on all of them are packed, so many runs together: what they have
alike takes no room twice. Their run.json is left to the run folders.
"""

SCRIPTS = ("picker.js", "why.js", "sample.js", "sort.js", "report.js")


def report_html(
    runs: Sequence[LoadedRun],
    progress: Progress = _silent,
    limit: str = "",
    table: pl.DataFrame | None = None,
) -> str:
    """The whole page. The same runs give the same text."""
    scenarios, count = by_scenario(runs), len(runs)
    together = TOGETHER if count > MANY else 1
    every = [series for group in scenarios.values() for series in group]
    everywhere = [believed(page(scenarios), every) for page in OF_ALL]
    placed = [Placed(page.key, page.title, f"all-{page.key}", page=page) for page in everywhere]

    def place(page: Page, id: str, scenario: str | None = None) -> None:
        here = Placed(page.key, page.title, id, scenario, page)
        if count > MANY:
            here = replace(here, page=None, packed=pack(page_html(page, id)))
        placed.append(here)

    options = [Options.of(run.manifest).sha256 for run in runs]
    alike = None if table is None else table.filter(pl.col("options_sha256").is_in(options))
    if alike is not None and (past := history(alike, {run.id for run in runs})) is not None:
        place(past, "all-history")
    packs: list[Pack] = []
    for number, (scenario, series) in enumerate(scenarios.items()):
        possible = offered(series)
        for made in OF_SCENARIO:
            if made.__name__ in possible and (page := made(series)) is not None:
                shown = believed(page.with_charts(thinned), series)
                place(shown, f"plot-{number}-{page.key}", scenario)
        progress(f"scenario {number + 1} of {len(scenarios)}: {scenario}")
        for first in range(0, len(series), together):
            packs.append(_pack_of(series[first : first + together], f"runs-{len(packs)}", count))
            progress(f"run {first + 1} of {len(series)} of {scenario}: waveforms")
    of_scenarios = {page.key: page.title for page in placed if page.scenario is not None}
    order = [made.__name__ for made in OF_SCENARIO]
    titles = {key: of_scenarios[key] for key in order if key in of_scenarios}
    return Document(scenarios, titles, placed, packs).html((*DRAWING, *SCRIPTS), limit=limit)


def _pack_of(series: Sequence[Series], id: str, count: int) -> Pack:
    """Of a report of `count` runs. What the runs have read of their folders they let go."""
    pages, samples = {}, {}
    for number, member in enumerate(series):
        page = believed(page_of_run(member, whole=count <= MANY), [member])
        pages[member.run.id] = page_html(page, f"{id}-{number}")
        samples[member.run.id] = embed(member, count)
        member.run.release()
    return Pack(id, list(pages), pack_json(pages), pack_json(samples))


def page_html(page: Page, id: str) -> str:
    """What stands in the section of `page`; `id` begins the ids of its elements."""
    return fragment("page.html", Placed(page.key, page.title, id, page=page))


def _worst(series: Series) -> tuple[float | None, str, list[str] | None, str]:
    """The longest wait that a run shows to be possible, in ns; the same to read; its instant; and
    who waits.
    """
    wait = series.run.manifest.possible_wait
    worst = float(wait.ns) if wait else None
    quantity = SECTION if wait is None or wait.by == "section" else TASK if wait.of == TASK.key else LATENCY
    key = worst_key(series.run, quantity)
    words, who = (wait.at_least if wait else "") + microseconds(worst), wait.of if wait else ""
    return worst, words, [series.run.id, key] if key else None, who
