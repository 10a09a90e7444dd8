"""The report: one HTML file, complete in itself, with everything that some runs say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from markupsafe import Markup

from base.files.errors import RunError
from base.files.whole import write_bytes
from base.run_folder.alike import options_of
from dashboards.blocks import Page
from dashboards.figures.chart import LOOK
from dashboards.formatting import MISSING, microseconds
from dashboards.loaded.runs import LoadedRun, leave_out_ticks, open_run
from dashboards.loaded.series import Members, Series, by_scenario, verdict_suffix
from dashboards.page.embedded import embed
from dashboards.page.templates import DRAWING, columns, fragment, pack, render
from dashboards.pages.catalogue import OF_ALL, OF_SCENARIO, TITLES, belief, offered, possible_ns
from dashboards.pages.catalogue import run as page_of_run
from dashboards.pages.history import history
from dashboards.tables import behind

Progress = Callable[[str], None]
"""Is told a sentence as work goes on, such as `run 3 of 25: opened`."""


class Placed(NamedTuple):
    """A page in the report. `scenario` is None where it is on all of them.

    What it shows is `html`, or what `ask` names: of a report that is served an address, else a
    pack.
    """

    key: str
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

    scenarios: Mapping[str, Members]
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
        scenarios = [
            {
                "name": scenario,
                "pages": [placed.key for placed in self.placed if placed.scenario == scenario],
                "runs": [*map(_run, sorted(series, key=lambda of: (-possible_ns(of), of.style.entry)))],
            }
            for scenario, series in self.scenarios.items()
        ]
        data: dict[str, Any] = {
            "scenarios": scenarios,
            "everywhere": [placed.key for placed in self.everywhere],
            "runs": self.runs,
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
    many, packs, places = count > MANY, dict[str, str](), dict[str, str]()
    placed = [Placed(key, html=html_of(scenarios, key)) for key in OF_ALL]
    options = [options_of(run.manifest) for run in runs]
    alike = None if table is None else table.filter(pl.col("options_sha256").is_in(options))
    if alike is not None and (past := history(alike, {run.id for run in runs})) is not None:
        placed.append(Placed("history", html=page_html(past, "all-history")))
    for scenario, series in scenarios.items():
        for key in offered(series):
            if html := html_of(scenarios, key, scenario):
                page = Placed(key, scenario, html)
                if many:
                    page = Placed(key, scenario, ask=f"page-{len(placed)}")
                    packs[page.ask] = pack(html)
                placed.append(page)
        step = TOGETHER if many else 1
        for first in range(0, len(series), step):
            place, together = f"run-{len(set(places.values()))}", dict[str, Any]()
            for member in series[first : first + step]:
                html = page_html(page_of_run(member, whole=not many), f"run-{len(places)}", [member])
                together[member.run.id] = {"html": html, **embed(member, count)}
                places[member.run.id] = place
                member.run.release()
                progress(f"run {len(places)} of {count}: {member.run.id}")
            packs[place] = pack(columns(together))
    return Document(scenarios, placed, packs, places).html(limit=limit)


def html_of(scenarios: Mapping[str, Members], key: str, scenario: str = "") -> Markup | None:
    """What the page `key` shows of one scenario or, if that is empty, of all; None for nothing."""
    if not scenario:
        every = [member for series in scenarios.values() for member in series]
        return page_html(OF_ALL[key](scenarios), f"all-{key}", every)
    series, place = scenarios[scenario], [*scenarios].index(scenario)
    page = OF_SCENARIO[key](series)
    return None if page is None else page_html(page, f"plot-{place}-{key}", series)


def page_html(page: Page, id: str, series: Members = ()) -> Markup:
    """What stands in the section of `page`, which says whether to believe the `series` that it is
    of; `id` begins the ids of its elements.
    """
    return fragment("page.html", page._replace(belief=belief(series)), id)


def _run(series: Series) -> dict[str, Any]:
    """What the picker shows of a run: its name and the longest wait that it shows to be possible,
    to read; the instant of that, empty for none; and who waits.
    """
    wait, instant = series.run.manifest.possible_wait, behind(series)
    return {
        "id": series.run.id,
        "entry": series.style.entry,
        "name": series.name.removesuffix(verdict_suffix(series.run)),
        "told": wait.at_least + microseconds(wait.ns) if wait else MISSING,
        "instant": [instant.run_id, instant.key] if instant else [],
        "who": wait.of if wait else "",
    }
