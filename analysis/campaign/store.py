"""The folder of a campaign: what is done, and the tables of it (docs/SPEC.md, section 26).

A run's tables are on the disk before its line is in the journal. So what the journal has is whole,
whenever the program is killed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, Literal

import polars as pl
from pydantic import Field

from analysis.campaign import verification
from analysis.campaign.errors import CampaignError
from analysis.campaign.rows import COLUMNS, DIFFERS
from analysis.campaign.work import Outcome
from capture.files.documents import Table, read_json
from capture.files.whole import WriteError, why, write_bytes, write_whole
from capture.run_folder.tables import write_table

MATRIX = "matrix.toml"
ASKED = "asked.json"
JOURNAL = "journal.jsonl"
RUNS = "runs.parquet"
SCRATCH = ".scratch"
DIFFERING = "differing"
MOST_ATTEMPTS = 3
TABLES = ("operations", "interrupts")


class _Asked(Table):
    """What was asked for last."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    runs: Annotated[int, Field(ge=0)]


class Store:
    """A campaign's folder. It is read at once; it is written within writing()."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._attempts: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        self._complete: set[str] = set()
        self._verified: set[str] = set()
        self._journal: IO[bytes] | None = None
        for line in self._lines():
            self._note(line["row"])

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """Raises CampaignError where `folder` is no campaign's."""
        if not (folder / JOURNAL).is_file():
            raise CampaignError(f"{folder} is no folder of a campaign: it has no {JOURNAL}.")
        return cls(folder)

    @property
    def scratch(self) -> Path:
        """Where the workers of this machine work; gone when the command is over."""
        return self.folder / SCRATCH

    @property
    def stored(self) -> int:
        """How many runs there are, whatever came of them."""
        return len(self._attempts)

    @property
    def complete(self) -> int:
        """How many of them are complete."""
        return len(self._complete)

    @property
    def verified(self) -> int:
        """How many of the complete ones were also captured by the real tools, and are equal."""
        return len(self._verified)

    def settled(self, key: str, verify: bool = False) -> bool:
        """Whether the run is complete, and verified if it is to be, or was tried often enough."""
        done = self._verified if verify else self._complete
        return key in done or self._failures.get(key, 0) >= MOST_ATTEMPTS

    def differing(self, key: str) -> Path:
        """The folder of both runs where a direct one is not what the real tools bring."""
        return self.folder / DIFFERING / key

    def attempts(self, key: str) -> int:
        """How often the run was tried."""
        return self._attempts.get(key, 0)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within, no other command writes here. Raises CampaignError, WriteError."""
        path = self.folder / JOURNAL
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                _lock(file, self.folder)
                self._mend(path)
                self._journal = file
                yield
        except OSError as error:
            raise WriteError(f"{path} cannot be written: {why(error)}.") from None
        finally:
            self._journal = None

    def keep_matrix(self, text: bytes, points: int) -> None:
        """Keeps what was asked, and how many runs that is. Raises WriteError."""
        write_bytes(self.folder / MATRIX, text)
        write_bytes(self.folder / ASKED, json.dumps({"schema": 1, "runs": points}).encode() + b"\n")

    def points(self) -> int:
        """How many runs were asked for; as many as there are where nobody knows."""
        path = self.folder / ASKED
        return read_json(path, _Asked, CampaignError).runs if path.exists() else self.stored

    def add(self, outcome: Outcome) -> None:
        """Writes the tables of a run, then its line.

        Raises CampaignError where bytes came damaged, and WriteError.
        """
        assert self._journal is not None
        for what, content in outcome.tables.items():
            if hashlib.sha256(content).hexdigest() != outcome.digests[what]:
                raise CampaignError(f"The table {what} of run {outcome.key} came damaged; run again.")
            write_bytes(self._table(what, outcome.row), content)
        self._keep_difference(outcome)
        line = {"row": outcome.row, "sha256": outcome.digests}
        self._journal.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())
        self._note(outcome.row)

    def _keep_difference(self, outcome: Outcome) -> None:
        """Both runs where they differ; what is there of an earlier attempt goes."""
        folder = self.differing(outcome.key)
        shutil.rmtree(folder, ignore_errors=True)
        if outcome.differing:
            verification.unpack(outcome.differing, folder)
        elif folder.parent.is_dir() and not any(folder.parent.iterdir()):
            folder.parent.rmdir()

    def rows(self) -> pl.DataFrame:
        """A row for each run, by key: of several attempts the latest."""
        latest = {line["row"]["key"]: line["row"] for line in self._lines()}
        return pl.DataFrame([latest[key] for key in sorted(latest)], schema=COLUMNS, orient="row")

    def write_runs(self) -> Path:
        """Writes runs.parquet. Raises WriteError."""
        table = self.rows()
        return write_whole(self.folder / RUNS, lambda path: write_table(path, table))

    def clean(self) -> int:
        """Forgets the runs that are not complete, to be tried anew, and what workers left.

        Where a direct run differs from the real one, no other direct run is believed that was not
        verified: these are forgotten too. Returns how many. Raises WriteError.
        """
        latest = {line["row"]["key"]: line for line in self._lines()}
        doubted = any(line["row"]["state"] == DIFFERS for line in latest.values())
        kept = {key: line for key, line in latest.items() if _is_believed(line["row"], doubted)}
        for key in latest.keys() - kept.keys():
            for what in TABLES:
                self._table(what, latest[key]["row"]).unlink(missing_ok=True)
        text = b"".join(json.dumps(line, allow_nan=False).encode() + b"\n" for line in kept.values())
        write_bytes(self.folder / JOURNAL, text)
        shutil.rmtree(self.folder / DIFFERING, ignore_errors=True)
        shutil.rmtree(self.scratch, ignore_errors=True)
        return len(latest) - len(kept)

    def _table(self, what: str, row: dict[str, Any]) -> Path:
        scenario, allocator = Path(row["scenario"]).stem, row["allocator"]
        partition = Path(what, f"scenario={scenario}", f"allocator={allocator}")
        return self.folder / partition / f"{row['key']}.parquet"

    def _note(self, row: dict[str, Any]) -> None:
        key = row["key"]
        self._attempts[key] = self._attempts.get(key, 0) + 1
        complete = row["verdict"] == "complete"
        (self._complete.add if complete else self._complete.discard)(key)
        (self._verified.add if complete and row.get("verified") else self._verified.discard)(key)
        if not complete and row["state"] != DIFFERS:  # a difference is tried until it is gone
            self._failures[key] = self._failures.get(key, 0) + 1

    def _lines(self) -> Iterator[dict[str, Any]]:
        """The journal's whole lines; one that a killed program cut ends it."""
        path = self.folder / JOURNAL
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if not line.endswith(b"\n"):
                        return
                    yield _parsed(line, path, number)
        except FileNotFoundError:
            return
        except OSError as error:
            raise CampaignError(f"{path} cannot be read: {why(error)}.") from None

    def _mend(self, path: Path) -> None:
        """Takes off the line that a killed program cut."""
        content_end = 0
        with path.open("rb") as file:
            for line in file:
                content_end += len(line) if line.endswith(b"\n") else 0
        os.truncate(path, content_end)


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = json.loads(line)
        if {"key", "state", "verdict", "scenario", "allocator"} <= parsed["row"].keys():
            return parsed
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise CampaignError(f"{path}:{number}: is no line of a campaign; delete it.")


def _is_believed(row: dict[str, Any], doubted: bool) -> bool:
    """Of `doubted` direct runs only those that were verified; `verified` is null of the others."""
    return bool(row["verdict"] == "complete" and not (doubted and row.get("verified") is False))


def _lock(file: IO[bytes], folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CampaignError(f"Another campaign writes to {folder}: wait for it, or end it.") from None
