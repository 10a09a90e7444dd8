"""The report in pieces: what it shows of a library's runs, each page made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import polars as pl

from base.files.errors import RunError, TailscopeError
from base.run_folder import folder as names
from base.run_folder.observed import read_observed_manifest
from base.run_index import latest, left_out
from dashboards.app.library import Library, Recent
from dashboards.blocks import Page
from dashboards.figures.decimate import thinned
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, by_scenario
from dashboards.page.embedded import sample_of
from dashboards.page.templates import DRAWING, render
from dashboards.pages.catalogue import OF_ALL, OF_SCENARIO, believed, offered
from dashboards.pages.catalogue import run as page_of_run
from dashboards.pages.history import history, settings
from dashboards.pages.observed import observed
from dashboards.report import SCRIPTS, Document, Placed, data, page_html

CONTENTS_MOST, PAGES_MOST = 4, 64
"""Choices of runs, and pages, that stay ready."""
SERVED_SCRIPTS = (*DRAWING, *SCRIPTS[:-1], "runs.js", SCRIPTS[-1])

_TITLES = {
    "boards": "Across boards",
}
"""What a page is called where that is not its key."""


class AddressError(TailscopeError):
    """An address asks for what is not there."""


@dataclass(frozen=True)
class Choice:
    """The ids of the runs to show; without any the latest of runs alike, or `every` one."""

    runs: tuple[str, ...] = ()
    every: bool = False


@dataclass(frozen=True)
class Content:
    """The runs of a choice by scenario, sentences on those that are not shown, and the sentence on
    those for which a later one stands. `stamp` is another for other runs.
    """

    stamp: object

    scenarios: Mapping[str, Sequence[Series]]
    notes: tuple[str, ...]
    left_out: str

    @property
    def every(self) -> list[Series]:
        return [member for series in self.scenarios.values() for member in series]


class Pieces:
    """The pieces of the report on a library's runs; what was asked for last stays ready."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._ready: Recent[Content] = Recent(CONTENTS_MOST)
        self._pages: Recent[str] = Recent(PAGES_MOST)

    def content(self, choice: Choice, tables: bool = False) -> Content:
        """The runs of a choice; with `tables` those alone whose tables can be read."""
        finished = self.library.table().filter(pl.col("state") == "finished")
        missing = [run for run in choice.runs if run not in finished["id"]]
        notes = [f"There is no finished run {run!r}, so it is not shown." for run in missing]
        runs = finished.filter(pl.col("id").is_in(choice.runs)) if choice.runs else finished
        older = ""
        if not choice.runs and not choice.every:
            everything, runs = runs, latest(runs)
            older = left_out(len(everything) - len(runs))
        ids = list(runs["id"])
        key = (choice, tables, tuple((identity, self.library.version(identity)) for identity in ids))

        def made() -> Content:
            loaded, refused = self.library.load_each(ids, tables)
            if refused:
                folder, sentence = next(iter(refused.items()))
                count = "1 run is" if len(refused) == 1 else f"{len(refused)} runs are"
                notes.append(
                    f"{count} left out, for a file there cannot be read; ./lab redecode RUN finds its tables "
                    f"again. The first is {folder}: {sentence}"
                )
            return Content(key, by_scenario(list(loaded.values())), tuple(notes), older)

        return self._ready.get(key, made)

    def shell(self, choice: Choice) -> str:
        """The document: all but its pages."""
        content = self.content(choice)
        titles = {page.__name__: _title(page.__name__) for page in OF_SCENARIO}
        keys = [page.__name__ for page in OF_ALL] if content.scenarios else []
        keys += ["history"] if settings(self.library.table()) else []
        placed = [
            *(Placed(key, _title(key), key, ask=_ask(key)) for key in keys),
            Placed("runs", "Runs", "runs", ask="runs"),
            *(
                Placed(key, title, key, scenario, ask=_ask(key, scenario))
                for scenario, series in content.scenarios.items()
                for key, title in titles.items()
                if key in offered(series)
            ),
        ]
        document = Document(
            list(content.scenarios), titles, placed, notes=content.notes, left_out=content.left_out
        )
        values = data(content.scenarios, document)
        return render("report.html", document, values, SERVED_SCRIPTS, served=True)

    def page(self, choice: Choice, key: str, scenario: str) -> str:
        """The page `key`, of one scenario or, if that is empty, of all. Raises AddressError."""
        if key == "history" and (past := history(self.library.table())) is not None:
            return page_html(past, "all-history")
        content = self.content(choice)
        stamp = (key, scenario, content.stamp)
        try:
            return self._pages.get(stamp, lambda: _html(content, key, scenario))
        except RunError:  # a table that cannot be read, found out only now
            return _html(self.content(choice, tables=True), key, scenario)
        finally:
            for member in content.every:
                member.run.release()

    def run(self, choice: Choice, identity: str) -> str:
        """The page of one run, whether or not it is of the choice. Raises RunError."""
        if self.library.is_observed(identity):
            manifest = read_observed_manifest(self.library.runs / identity / names.MANIFEST)
            return page_html(observed(identity, manifest), "run")
        series = self._series_of(choice, self.library.load(identity))
        return page_html(believed(page_of_run(series), [series]), "run")

    def sample(self, choice: Choice, identity: str, key: str) -> dict[str, Any]:
        """The operation or stimulus `key` of a run, as sample.js draws it. Raises AddressError."""
        sample = sample_of(self._series_of(choice, self.library.load(identity)), key)
        if sample is None:
            raise AddressError(f"Run {identity} has no operation or stimulus {key!r}.")
        return sample

    def _series_of(self, choice: Choice, run: LoadedRun) -> Series:
        """The run in the looks that it has beside the others."""
        shown = (member for member in self.content(choice).every if member.run.id == run.id)
        return next(shown, None) or by_scenario([run])[run.manifest.scenario][0]


def _html(content: Content, key: str, scenario: str) -> str:
    page: Page | None
    if not scenario:
        of_all = next((page for page in OF_ALL if page.__name__ == key), None)
        if of_all is None:
            raise AddressError(f"There is no page {key!r} of all scenarios.")
        page, series = of_all(content.scenarios), content.every
        return page_html(believed(page, series), f"all-{key}")
    series = list(_series(content, scenario))
    made = next((page for page in OF_SCENARIO if page.__name__ == key), None)
    if made is None:
        raise AddressError(f"There is no page {key!r} of one scenario.")
    page = made(series)
    place = f"plot-{list(content.scenarios).index(scenario)}-{key}"
    if page is None:
        return page_html(Page(key, _title(key), (f"{scenario} has nothing of it.",)), place)
    return page_html(believed(page.with_charts(thinned), series), place)


def _series(content: Content, scenario: str) -> Sequence[Series]:
    if scenario not in content.scenarios:
        raise AddressError(f"There is no run of the scenario {scenario!r} to show.")
    return content.scenarios[scenario]


def _title(key: str) -> str:
    return _TITLES.get(key, key.capitalize())


def _ask(key: str, scenario: str = "") -> str:
    words = {"key": key, **({"scenario": scenario} if scenario else {})}
    return f"page?{urlencode(words)}"
