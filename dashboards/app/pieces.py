"""The report in pieces: what it shows of the runs in a folder, each page made when asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import polars as pl

from base.files.errors import RunError, TailscopeError
from base.run_folder import folder as names
from base.run_folder.observed import read_observed_manifest
from base.run_index import index, latest, left_out
from dashboards.blocks import Page
from dashboards.figures.chart import thinned
from dashboards.loaded.runs import LoadedRun, open_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.page.embedded import sample_of
from dashboards.page.templates import DRAWING
from dashboards.pages.catalogue import OF_ALL, OF_SCENARIO, believed, offered
from dashboards.pages.catalogue import run as page_of_run
from dashboards.pages.history import history, settings
from dashboards.pages.observed import observed
from dashboards.report import SCRIPTS, Document, Placed, page_html

INDEX_EVERY_S = 1.0
"""The folder is looked through at most so often."""
LOADED_MOST = 160
"""Runs that stay loaded. A run of some thousand operations takes a megabyte."""
CONTENTS_MOST, PAGES_MOST = 4, 64
"""Choices of runs, and pages, that stay ready."""
SERVED_SCRIPTS = (*DRAWING, *SCRIPTS[:-1], "runs.js", SCRIPTS[-1])


class AddressError(TailscopeError):
    """An address asks for what is not there."""


@dataclass(frozen=True)
class Choice:
    """The ids of the runs to show; without any the latest of runs alike, or `every` one."""

    runs: tuple[str, ...] = ()
    every: bool = False


@dataclass(frozen=True, eq=False)
class Content:
    """The runs of a choice by scenario, sentences on those that are not shown, and the sentence on
    those for which a later one stands.
    """

    scenarios: Mapping[str, Sequence[Series]]
    notes: tuple[str, ...]
    left_out: str

    @property
    def every(self) -> list[Series]:
        return [member for series in self.scenarios.values() for member in series]


class Library:
    """The run folders below `runs`, and the pieces of the report on them; what was asked for last
    stays ready. Its methods may be called from several threads.
    """

    def __init__(self, runs: Path) -> None:
        """Looks through `runs` at once. Raises RunError where it is no folder."""
        self.runs = runs.resolve()
        self._lock = threading.Lock()
        self._table = index(self.runs)
        self._looked_s = time.monotonic()
        self._open = lru_cache(LOADED_MOST)(
            lambda identity, _version: open_run(self.runs / identity, identity)
        )
        self._of_runs = lru_cache(CONTENTS_MOST)(self._load)
        self._html = lru_cache(PAGES_MOST)(_html)

    def table(self) -> pl.DataFrame:
        """The index of the runs, the latest first; not older than INDEX_EVERY_S."""
        with self._lock:
            if time.monotonic() - self._looked_s > INDEX_EVERY_S:
                with suppress(RunError):  # where the folder went, what was there is shown
                    self._table = index(self.runs)
                self._looked_s = time.monotonic()
            return self._table

    def load(self, identity: str) -> LoadedRun:
        """The run with this id of the index. Raises RunError."""
        if identity not in self.table()["id"]:
            raise RunError(
                f"There is no run {identity!r} in {self.runs}; the overview lists those there are."
            )
        return self._open(identity, self._version(identity))

    def _version(self, identity: str) -> tuple[int, int]:
        """Changes whenever the run's run.json does."""
        with suppress(OSError):
            status = (self.runs / identity / names.MANIFEST).stat()
            return status.st_mtime_ns, status.st_size
        return 0, 0

    def content(self, choice: Choice, tables: bool = False) -> Content:
        """The runs of a choice; with `tables` those alone whose tables can be read."""
        finished = self.table().filter(pl.col("state") == "finished")
        missing = [run for run in choice.runs if run not in finished["id"]]
        notes = tuple(f"There is no finished run {run!r}, so it is not shown." for run in missing)
        runs, older = finished.filter(pl.col("id").is_in(choice.runs)) if choice.runs else finished, ""
        if not choice.runs and not choice.every:
            runs = latest(finished)
            older = left_out(len(finished) - len(runs))
        versions = tuple((identity, self._version(identity)) for identity in runs["id"])
        return self._of_runs(versions, notes, older, tables)

    def _load(
        self, versions: Sequence[tuple[str, object]], notes: tuple[str, ...], older: str, tables: bool
    ) -> Content:
        loaded, refused = [], []
        for identity, _ in versions:
            try:
                run = self.load(identity)
                if tables:
                    run.check_tables()
                loaded.append(run)
            except RunError as error:
                folder, here = self.runs / identity, Path.cwd()
                # As a command in this directory takes it.
                shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
                refused.append(f"{shown}: {str(error).replace(f'{self.runs}/', '')}")
        if refused:
            count = "1 run is" if len(refused) == 1 else f"{len(refused)} runs are"
            sentence = (
                f"{count} left out, for a file there cannot be read; ./lab redecode RUN finds its tables "
                f"again. The first is {refused[0]}"
            )
            notes = (*notes, sentence)
        return Content(by_scenario(loaded), notes, older)

    def shell(self, choice: Choice) -> str:
        """The document: all but its pages."""
        content = self.content(choice)
        titles = {page.__name__: _title(page.__name__) for page in OF_SCENARIO}
        keys = [page.__name__ for page in OF_ALL] if content.scenarios else []
        keys += ["history"] if settings(self.table()) else []
        placed = [
            *(Placed(key, _title(key), key, ask=f"page?key={key}") for key in keys),
            Placed("runs", "Runs", "runs", ask="runs"),
        ]
        for scenario, series in content.scenarios.items():
            for key in offered(series):
                ask = f"page?{urlencode({'key': key, 'scenario': scenario})}"
                placed.append(Placed(key, titles[key], key, scenario, ask=ask))
        document = Document(content.scenarios, titles, placed, notes=content.notes, left_out=content.left_out)
        return document.html(SERVED_SCRIPTS, served=True)

    def page(self, choice: Choice, key: str, scenario: str) -> str:
        """The page `key`, of one scenario or, if that is empty, of all. Raises AddressError."""
        if key == "history" and (past := history(self.table())) is not None:
            return page_html(past, "all-history")
        content = self.content(choice)
        try:
            return self._html(content, key, scenario)
        except RunError:  # a table that cannot be read, found out only now
            return _html(self.content(choice, tables=True), key, scenario)
        finally:
            for member in content.every:
                member.run.release()

    def run(self, choice: Choice, identity: str) -> str:
        """The page of one run, whether or not it is of the choice. Raises RunError."""
        if not self.table().filter(id=identity, state="observed").is_empty():
            manifest = read_observed_manifest(self.runs / identity / names.MANIFEST)
            return page_html(observed(identity, manifest), "run")
        series = self._series_of(choice, identity)
        return page_html(believed(page_of_run(series), [series]), "run")

    def sample(self, choice: Choice, identity: str, key: str) -> dict[str, Any]:
        """The operation or stimulus `key` of a run, as sample.js draws it. Raises AddressError."""
        sample = sample_of(self._series_of(choice, identity), key)
        if sample is None:
            raise AddressError(f"Run {identity} has no operation or stimulus {key!r}.")
        return sample

    def _series_of(self, choice: Choice, identity: str) -> Series:
        """The run in the looks that it has beside the others. Raises RunError."""
        run = self.load(identity)
        shown = (member for member in self.content(choice).every if member.run.id == run.id)
        return next(shown, None) or by_scenario([run])[run.manifest.scenario][0]


def _html(content: Content, key: str, scenario: str) -> str:
    if not scenario:
        of_all = next((page for page in OF_ALL if page.__name__ == key), None)
        if of_all is None:
            raise AddressError(f"There is no page {key!r} of all scenarios.")
        return page_html(believed(of_all(content.scenarios), content.every), f"all-{key}")
    if scenario not in content.scenarios:
        raise AddressError(f"There is no run of the scenario {scenario!r} to show.")
    series = content.scenarios[scenario]
    made = next((page for page in OF_SCENARIO if page.__name__ == key), None)
    if made is None:
        raise AddressError(f"There is no page {key!r} of one scenario.")
    place = f"plot-{list(content.scenarios).index(scenario)}-{key}"
    page = made(series)
    if page is None:
        return page_html(Page(key, _title(key), (f"{scenario} has nothing of it.",)), place)
    return page_html(believed(page.with_charts(thinned), series), place)


def _title(key: str) -> str:
    return {"boards": "Across boards"}.get(key, key.capitalize())
