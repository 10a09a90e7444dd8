"""The runs that the app shows: their index, and those loaded so far."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import polars as pl

from base.files.errors import RunError
from base.run_folder import folder as names
from base.run_index import index
from dashboards.loaded.runs import LoadedRun, open_run

INDEX_EVERY_S = 1.0
"""The folder is looked through at most so often."""
LOADED_MOST = 160
"""Runs that stay loaded. A run of some thousand operations takes a megabyte."""

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """The `most` values that were asked for last, by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[object, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object, make: Callable[[], Value]) -> Value:
        """The value of `key`, made where it is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


class Library:
    """The run folders below `runs`. Its methods may be called from several threads."""

    def __init__(self, runs: Path, kept_in: Path | None = None) -> None:
        """Looks through `runs` at once. Raises RunError where it is no folder."""
        self.runs = runs.resolve()
        self._kept_in = kept_in
        self._lock = threading.Lock()
        self._loaded: Recent[LoadedRun] = Recent(LOADED_MOST)
        self._table = index(self.runs, kept_in)
        self._looked_s = time.monotonic()

    def table(self) -> pl.DataFrame:
        """The index of the runs, the latest first; not older than INDEX_EVERY_S."""
        with self._lock:
            if time.monotonic() - self._looked_s > INDEX_EVERY_S:
                with suppress(RunError):  # where the folder went, what was there is shown
                    self._table = index(self.runs, self._kept_in)
                self._looked_s = time.monotonic()
            return self._table

    def load(self, identity: str) -> LoadedRun:
        """The run with this id of the index. Raises RunError."""
        if identity not in self.table()["id"]:
            raise RunError(
                f"There is no run {identity!r} in {self.runs}; the overview lists those there are."
            )
        folder = self.runs / identity
        return self._loaded.get((identity, self.version(identity)), lambda: open_run(folder, identity))

    def is_observed(self, identity: str) -> bool:
        """True if the run is from the wire alone; load() refuses such."""
        return not self.table().filter(id=identity, state="observed").is_empty()

    def version(self, identity: str) -> tuple[int, int]:
        """Changes whenever the run's run.json does."""
        try:
            status = (self.runs / identity / names.MANIFEST).stat()
        except OSError:
            return 0, 0
        return status.st_mtime_ns, status.st_size

    def load_each(
        self, identities: Iterable[str], tables: bool = False
    ) -> tuple[dict[str, LoadedRun], dict[str, str]]:
        """The runs that can be loaded, by id, and a sentence for each other, by its folder.

        With `tables` those whose tables cannot be read are among the latter.
        """
        loaded, refused = {}, {}
        for identity in identities:
            try:
                run = self.load(identity)
                if tables:
                    run.check_tables()
                loaded[identity] = run
            except RunError as error:
                refused[self._folder(identity)] = str(error).replace(f"{self.runs}/", "")
        return loaded, refused

    def _folder(self, identity: str) -> str:
        """The run's folder as a command in this directory takes it."""
        folder = self.runs / identity
        here = Path.cwd()
        return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)
