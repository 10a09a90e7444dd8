"""The folder of a campaign: what is done, and the tables of it (docs/reference/campaign-folder.md).

A run's tables are on the disk before its row is in the journal. So what the journal has is whole,
whenever the program is killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import Field

from analysis.campaign import rows, work
from analysis.campaign.journal import Journal, Kept, Noted, Recognized
from analysis.campaign.work import Outcome
from analysis.errors import CampaignError
from base.files import locks
from base.files.documents import TOML_BYTES_MAX, Table, read_json
from base.files.whole import WriteError, read_bytes, why, write_all, write_bytes, write_whole
from base.run_folder.folder import check_members
from base.run_folder.tables import sink_table

MATRIX = "matrix.toml"
ASKED = "asked.json"
JOURNAL = "journal.sqlite"
RUNS = "runs.parquet"
SCRATCH = ".scratch"
DIFFERING = "differing"
TABLES = ("operations", "interrupts")
_MOST_NOTED = 10_000
"""Wishes that wait for the next outcome to be kept with it."""


class _Asked(Table):
    """The matrix that was asked for last, and whether the campaign ended."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    runs: Annotated[int, Field(ge=0)]
    over: bool = False


class Store:
    """A campaign's folder. It is written within writing()."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._journal = Journal(folder / JOURNAL)
        self._noted: list[Noted] = []

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """Raises CampaignError where `folder` is no campaign's."""
        if not (folder / JOURNAL).is_file():
            raise CampaignError(f"{folder} is no folder of a campaign: it has no {JOURNAL}.")
        check_members(folder)
        return cls(folder)

    @property
    def scratch(self) -> Path:
        """Where the workers of this machine work; gone when the command is over."""
        return self.folder / SCRATCH

    @property
    def stored(self) -> int:
        """How many runs there are, whatever came of them."""
        return self._journal.stored

    @property
    def complete(self) -> int:
        """The number of runs that are complete."""
        return self._journal.complete

    @property
    def verified(self) -> int:
        """How many of the complete ones were also captured by the real tools, and are equal."""
        return self._journal.verified

    def settled(self, key: str, verify: bool = False) -> bool:
        """True if the run is complete, and verified if it is to be, or was tried often enough."""
        return self._journal.settled(key, verify)

    def differing(self, key: str) -> Path:
        """The folder of both runs where a direct one is not what the real tools bring."""
        return self.folder / DIFFERING / key

    def attempts(self, key: str) -> int:
        """How often the run was tried."""
        return self._journal.attempts(key)

    def recognized(self, wish: bytes) -> Recognized | None:
        """The key and the image of a wish when its plan was last compiled; None if it never was."""
        return self._journal.recognized(wish)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within, no other command writes here.

        Raises CampaignError, WriteError, and RunError where a member of the folder is a link.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            locked = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise WriteError(f"{self.folder} cannot be written: {why(error)}.") from None
        try:
            _lock(locked, self.folder)
            check_members(self.folder)
            if any(self.folder.iterdir()) and not (self.folder / JOURNAL).exists():
                raise CampaignError(
                    f"{self.folder} is not empty, and no folder of a campaign: give another --output."
                )
            with self._journal.writing():
                yield
                self._journal.take((), self._noted)
                self._noted.clear()
        finally:
            locks.let_go(locked)
            os.close(locked)

    def keep_matrix(self, text: bytes, points: int) -> None:
        """Keeps what was asked, and how many runs that is. Raises WriteError."""
        write_bytes(self.folder / MATRIX, text)
        self._keep_asked(points, over=False)

    def end(self) -> None:
        """Keeps that each run which was asked for is settled. Raises WriteError."""
        self._keep_asked(self.points(), over=True)

    def _keep_asked(self, points: int, over: bool) -> None:
        content = {"schema": 1, "runs": points, "over": over}
        write_bytes(self.folder / ASKED, json.dumps(content).encode() + b"\n")

    def holds_another(self, text: bytes) -> bool:
        """True if there are runs of a matrix with another text."""
        try:
            return bool(self.stored) and read_bytes(self.folder / MATRIX, TOML_BYTES_MAX) != text
        except OSError:
            return False

    def points(self) -> int:
        """The number of runs that were asked for, or of those stored if nobody knows."""
        asked = self._asked()
        return self.stored if asked is None else asked.runs

    @property
    def over(self) -> bool:
        """True if each run that was asked for last is settled. Raises CampaignError."""
        asked = self._asked()
        return asked is not None and asked.over

    def _asked(self) -> _Asked | None:
        path = self.folder / ASKED
        return read_json(path, _Asked, CampaignError) if path.exists() else None

    def note(self, wish: bytes, found: Recognized) -> None:
        """Keeps what a wish came to, with the next outcomes: it saves time, and may be lost."""
        self._noted.append(Noted(wish, found))
        if len(self._noted) >= _MOST_NOTED:
            self.add()

    def add(self, *outcomes: Outcome) -> None:
        """Writes the tables of some runs, then their rows.

        All at once, since waiting for the disk takes longer than the writing. Raises CampaignError
        where bytes came damaged, and WriteError.
        """
        for outcome in outcomes:
            _check(outcome)
        write_all(
            {
                self._table(what, outcome.row): content
                for outcome in outcomes
                for what, content in outcome.tables.items()
            }
        )
        for outcome in outcomes:
            self._keep_difference(outcome)
        self._journal.take(outcomes, self._noted)
        self._noted.clear()

    def _keep_difference(self, outcome: Outcome) -> None:
        """Both runs where they differ; what is there of an earlier attempt goes."""
        folder = self.differing(outcome.key)
        shutil.rmtree(folder, ignore_errors=True)
        if outcome.differing:
            try:
                work.unpack(outcome.differing, folder)
            except OSError as error:
                raise WriteError(f"{folder} cannot be written: {why(error)}.") from None
        elif folder.parent.is_dir() and not any(folder.parent.iterdir()):
            folder.parent.rmdir()

    def rows(self) -> pl.LazyFrame:
        """A row for each run, by key: of several attempts the latest."""
        return self._journal.rows()

    def check_rows(self) -> None:
        """Raises CampaignError where a row is not as it came: its figures are nobody's."""
        changed = [one.row["key"] for one in self._journal.kept() if one.changed]
        if changed:
            noun, verb = ("row", "was") if len(changed) == 1 else ("rows", "were")
            raise CampaignError(
                f"{self.folder / JOURNAL}: {len(changed):,} {noun} {verb} changed since the run was made, "
                f"the first that of {str(changed[0])[:12]}, so no figure is told; ./lab campaign clean "
                f"{self.folder} forgets such runs, and the same command makes them anew."
            )

    def write_runs(self) -> Path:
        """Writes runs.parquet. Raises WriteError, and CampaignError as check_rows()."""
        self.check_rows()
        return write_whole(self.folder / RUNS, lambda path: sink_table(path, self.rows()))

    def gone(self) -> int:
        """The number of runs that miss a table. It reads no table: clean() does."""
        return sum(
            not all(self._table(what, row).is_file() for what in row["digests"])
            for row in self._journal.tables()
        )

    def clean(self) -> int:
        """Forgets the runs that are not complete, to be tried anew, and what workers left.

        Reads all tables: a run of which one is gone or altered, or has other figures than its row,
        is forgotten too. Where a direct run differs from the real one, no other direct run is
        believed that was not verified: these are forgotten too. Returns how many. Raises
        CampaignError, WriteError.
        """
        forgotten = 0
        damaged = [one.row["key"] for one in self._journal.kept() if not self._is_whole(one)]
        for row in self._journal.forget(damaged):
            if not forgotten:
                self._keep_asked(self.points(), over=False)
            forgotten += 1
            for what in TABLES:
                self._table(what, row).unlink(missing_ok=True)
        shutil.rmtree(self.folder / DIFFERING, ignore_errors=True)
        shutil.rmtree(self.scratch, ignore_errors=True)
        return forgotten

    def _is_whole(self, kept: Kept) -> bool:
        """True if row and tables of a run are those that came, and tell the same. Raises
        CampaignError.
        """
        row = kept.row
        if kept.changed:
            return False
        try:
            tables = {what: self._table(what, row).read_bytes() for what in kept.digests}
        except FileNotFoundError:
            return False
        except OSError as error:
            raise CampaignError(
                f"A table of run {row['key']} cannot be read: {why(error)}; nothing was forgotten."
            ) from None
        digests = {what: hashlib.sha256(content).hexdigest() for what, content in tables.items()}
        return digests == kept.digests and (not tables or rows.tell_the_same(row, tables))

    def _table(self, what: str, row: Mapping[str, Any]) -> Path:
        """Where a table of a run is. Raises CampaignError where that is not below the folder."""
        scenario, allocator, key = Path(row["scenario"]).stem, row["allocator"], row["key"]
        if what not in TABLES or any("/" in name or "\0" in name for name in (scenario, allocator, key)):
            raise CampaignError(
                f"{self.folder / JOURNAL} has a run that nobody can have made; remove the folder."
            )
        return self.folder / what / f"scenario={scenario}" / f"allocator={allocator}" / f"{key}.parquet"


def _check(outcome: Outcome) -> None:
    for what, content in outcome.tables.items():
        if hashlib.sha256(content).hexdigest() != outcome.digests[what]:
            raise CampaignError(f"The table {what} of run {outcome.key} came damaged; run again.")


def _lock(folder_descriptor: int, folder: Path) -> None:
    try:
        locks.take(folder_descriptor)
    except BlockingIOError:
        raise CampaignError(f"Another campaign writes to {folder}: wait for it, or end it.") from None
