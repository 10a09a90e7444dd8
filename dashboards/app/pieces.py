"""The report in pieces: what it shows of the runs in a folder, each page made when asked for."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import polars as pl

from base.files.errors import RunError
from base.run_folder import folder as names
from base.run_folder.observed import read_observed_manifest
from base.run_index import index, latest, left_out
from dashboards.blocks import Page
from dashboards.loaded.runs import LoadedRun, open_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.page.embedded import sample_of
from dashboards.pages.catalogue import OF_ALL, OF_SCENARIO, TITLES, offered
from dashboards.pages.catalogue import run as page_of_run
from dashboards.pages.history import history, settings
from dashboards.pages.observed import observed
from dashboards.report import Document, Placed, html_of, page_html

INDEX_EVERY_S = 1.0
"""The folder is looked through at most so often."""
LOADED_MOST = 160
"""Runs that stay loaded, of which run.json takes some hundred kilobytes."""


class Choice(NamedTuple):
    """The ids of the runs to show; without any the latest of runs alike, or `every` one."""

    runs: tuple[str, ...] = ()
    every: bool = False


class Library:
    """The run folders below `runs`, and the pieces of the report on them. Its methods may be called
    from several threads.
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
        version = None
        with suppress(OSError):
            status = (self.runs / identity / names.MANIFEST).stat()
            version = status.st_mtime_ns, status.st_size
        return self._open(identity, version)

    def content(self, choice: Choice, tables: bool = False) -> Document:
        """The runs of a choice, with no pages; with `tables` those whose tables can be read."""
        finished = self.table().filter(state="finished")
        missing = [run for run in choice.runs if run not in finished["id"]]
        notes = [f"There is no finished run {run!r}, so it is not shown." for run in missing]
        runs, older = finished.filter(pl.col("id").is_in(choice.runs)) if choice.runs else finished, ""
        if not choice.runs and not choice.every:
            runs = latest(finished)
            older = left_out(len(finished) - len(runs))
        loaded = []
        for identity in runs["id"]:
            try:
                run = self.load(identity)
                if tables:
                    run.check_tables()
                loaded.append(run)
            except RunError as error:
                notes.append(f"Left out; ./lab redecode RUN may find its tables again: {error}")
        return Document(by_scenario(loaded), notes=notes, left_out=older)

    def shell(self, choice: Choice) -> str:
        """The document: all but its pages."""
        content = self.content(choice)
        keys = [*OF_ALL] if content.scenarios else []
        keys += ["history"] if settings(self.table()) else []
        placed = [
            *(Placed(key, ask=f"page?key={key}") for key in keys),
            Placed("runs", ask="runs"),
            *(
                Placed(key, scenario, ask=f"page?{urlencode({'key': key, 'scenario': scenario})}")
                for scenario, series in content.scenarios.items()
                for key in offered(series)
            ),
        ]
        return replace(content, placed=placed).html(served=True)

    def page(self, choice: Choice, key: str, scenario: str, tables: bool = False) -> str:
        """The page `key`, of one scenario or, if that is empty, of all. Raises RunError."""
        if key == "history" and (past := history(self.table())) is not None:
            return page_html(past, "all-history")
        content = self.content(choice, tables)
        scenarios = content.scenarios
        if key not in (OF_SCENARIO if scenario else OF_ALL) or (scenario and scenario not in scenarios):
            raise RunError(f"There is no page {key!r} of the scenario {scenario!r}.")
        try:
            html = html_of(scenarios, key, scenario)
        except RunError:  # a table that cannot be read, found out only now
            if tables:
                raise
            return self.page(choice, key, scenario, tables=True)
        finally:
            for member in content.every:
                member.run.release()
        nothing = Page(key, TITLES[key], (f"{scenario} has nothing of it.",))
        return html or page_html(nothing, "", scenarios[scenario])

    def run(self, choice: Choice, identity: str) -> str:
        """The page of one run, whether or not it is of the choice. Raises RunError."""
        if not self.table().filter(id=identity, state="observed").is_empty():
            manifest = read_observed_manifest(self.runs / identity / names.MANIFEST)
            return page_html(observed(identity, manifest), "run")
        series = self._series_of(choice, identity)
        return page_html(page_of_run(series), "run", [series])

    def sample(self, choice: Choice, identity: str, key: str) -> dict[str, Any]:
        """The operation or stimulus `key` of a run, as instant.js draws it. Raises RunError."""
        sample = sample_of(self._series_of(choice, identity), key)
        if sample is None:
            raise RunError(f"Run {identity} has no operation or stimulus {key!r}.")
        return sample

    def _series_of(self, choice: Choice, identity: str) -> Series:
        """The run in the looks that it has beside the others. Raises RunError."""
        run = self.load(identity)
        shown = (member for member in self.content(choice).every if member.run.id == run.id)
        return next(shown, None) or by_scenario([run])[run.manifest.scenario][0]
