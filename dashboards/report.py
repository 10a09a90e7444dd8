"""The report: one HTML file, complete in itself, with everything that some runs say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from base.files.errors import RunError
from base.files.whole import write_bytes
from base.run_folder.alike import options_of
from dashboards.blocks import Page
from dashboards.figures.chart import LOOK
from dashboards.formatting import microseconds
from dashboards.loaded.runs import LoadedRun, leave_out_ticks, open_run
from dashboards.loaded.series import Series, by_scenario, verdict_suffix
from dashboards.page.embedded import embed
from dashboards.page.templates import DRAWING, columns, fragment, pack, render
from dashboards.pages.catalogue import OF_ALL, OF_SCENARIO, TITLES, believed, offered
from dashboards.pages.catalogue import run as page_of_run
from dashboards.pages.history import history
from dashboards.tables import behind

Progress = Callable[[str], None]
"""Is told a sentence as work goes on, such as `run 3 of 25: opened`."""


@dataclass(frozen=True)
class Placed:
    """A page in the report. `scenario` is None where it is on all of them.

    What it shows is `html`, or what `ask` names: of a report that is served an address, else a
    pack.
    """

    key: str
    id: str
    scenario: str | None = None
    html: Markup | None = None
    ask: str = ""

    @property
    def title(self) -> str:
        return TITLES[self.key]


@dataclass(frozen=True)
class Document:
    """The content of report.html.

    `packs` are by the ids of their elements, and `runs` names for each run the one that has its
    page and its samples. `notes` are sentences on runs that are not in it, `left_out` that on runs
    for which a later one stands.
    """

    scenarios: Mapping[str, Sequence[Series]]
    placed: Sequence[Placed] = ()
    packs: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    left_out: str = ""

    @property
    def every(self) -> list[Series]:
        """The runs of all scenarios."""
        return [member for series in self.scenarios.values() for member in series]

    @property
    def everywhere(self) -> list[Placed]:
        """The pages on all scenarios."""
        return [placed for placed in self.placed if placed.scenario is None]

    @property
    def titles(self) -> dict[str, str]:
        """Those of the pages on one scenario, by key."""
        keys = {placed.key for placed in self.placed if placed.scenario is not None}
        return {key: title for key, title in TITLES.items() if key in keys}

    def html(self, *, served: bool = False, limit: str = "") -> str:
        """The whole page. report.js needs this data at once; all else is apart."""
        every = self.every
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
            "runs": self.runs,
            "scenario_of": {member.run.id: member.run.manifest.scenario for member in every},
            "served": served,
            "limit": limit,
            "look": LOOK,
        }
        return render("report.html", self, data, SCRIPTS, figures=not served)


SCRIPTS = (*DRAWING, "instant.js", "report.js")
MANY, TOGETHER = 40, 16
"""Of more runs the pages of a scenario are packed, so many runs lie together, and their run.json is
left to the run folders: tables alone would take megabytes.
"""


def write_report(
    runs: Sequence[Path],
    output: Path,
    progress: Progress = lambda _words: None,
    limit: str = "",
    table: pl.DataFrame | None = None,
    *,
    without_ticks: bool = False,
) -> Path:
    """Write the report on the run folders `runs` to `output` and return that path.

    `limit` is a time, such as 10us: the page begins with it. `table` is the index of these and of
    earlier runs, for the history, which has all that was measured. `without_ticks` leaves out what
    the kernel's tick may have delayed. Raises RunError, CaptureError, WriteError.
    """
    if not runs:
        raise RunError("There are no runs to report on; run a scenario first.")
    opened = [*map(open_run, runs)]
    shown = [*map(leave_out_ticks, opened)] if without_ticks else opened
    return write_bytes(output, report_html(shown, progress, limit, table).encode())


def report_html(
    runs: Sequence[LoadedRun],
    progress: Progress = lambda _words: None,
    limit: str = "",
    table: pl.DataFrame | None = None,
) -> str:
    """The whole page. The same runs give the same text."""
    scenarios, count = by_scenario(runs), len(runs)
    every = [series for group in scenarios.values() for series in group]
    many, placed, packs, places = count > MANY, list[Placed](), dict[str, str](), dict[str, str]()
    for key, of_all in OF_ALL.items():
        id = f"all-{key}"
        placed.append(Placed(key, id, html=page_html(believed(of_all(scenarios), every), id)))
    options = [options_of(run.manifest) for run in runs]
    alike = None if table is None else table.filter(pl.col("options_sha256").is_in(options))
    if alike is not None and (past := history(alike, {run.id for run in runs})) is not None:
        placed.append(Placed("history", "all-history", html=page_html(past, "all-history")))
    for number, (scenario, series) in enumerate(scenarios.items()):
        possible = offered(series)
        for key, made in OF_SCENARIO.items():
            id = f"plot-{number}-{key}"
            if key in possible and (page := made(series)) is not None:
                html = page_html(believed(page, series), id)
                if many:
                    packs[f"page-{id}"] = pack(html)
                placed.append(
                    Placed(key, id, scenario, ask=f"page-{id}") if many else Placed(key, id, scenario, html)
                )
        for first in range(0, len(series), TOGETHER if many else 1):
            place, together = f"run-{len(set(places.values()))}", dict[str, Any]()
            for member in series[first : first + (TOGETHER if many else 1)]:
                html = page_html(
                    believed(page_of_run(member, whole=not many), [member]), f"run-{len(places)}"
                )
                together[member.run.id] = {"html": html, **embed(member, count)}
                places[member.run.id] = place
                member.run.release()
                progress(f"run {len(places)} of {count}: {member.run.id}")
            packs[place] = pack(columns(together))
    return Document(scenarios, placed, packs, places).html(limit=limit)


def page_html(page: Page, id: str) -> Markup:
    """What stands in the section of `page`; `id` begins the ids of its elements."""
    return fragment("page.html", page, id)


def _worst(series: Series) -> dict[str, Any]:
    """The longest wait that a run shows to be possible, in ns; the same to read; its instant, empty
    for none; and who waits.
    """
    wait = series.run.manifest.possible_wait
    worst, instant = float(wait.ns) if wait else None, behind(series)
    return {
        "ns": worst,
        "told": (wait.at_least if wait else "") + microseconds(worst),
        "instant": [instant.run_id, instant.key] if instant else [],
        "who": wait.of if wait else "",
    }
