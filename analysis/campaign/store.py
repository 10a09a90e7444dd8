"""The folder of a campaign: a file for the result of each run, beside its tables
(docs/reference/campaign-folder.md).

A result is written after its tables, whole or not at all, so a run that has one is done.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import Field

from analysis.campaign.work import COLUMNS, DIFFERS, TABLES, Outcome
from analysis.errors import CampaignError
from base.files import locks
from base.files.documents import Table, read_json
from base.files.errors import first_line
from base.files.whole import WriteError, why, write_all, write_bytes, write_whole
from base.run_folder.folder import check_members
from base.run_folder.tables import printable_texts, write_table

SCHEMA = 4
MATRIX = "matrix.toml"
ASKED = "asked.json"
RESULTS = "results"
RUNS = "runs.parquet"
SCRATCH = ".scratch"
"""Where the workers of this machine work; gone when the command is over."""
_KEY = re.compile(r"[0-9a-f]{64}")


class Result(Table):
    """The content of results/KEY.json: the run's row, and its tables."""

    schema_: Literal[4]
    row: dict[str, str | int | float | bool | None]
    tables: list[Literal["operations", "interrupts"]]

    @property
    def complete(self) -> bool:
        """True if the run may be believed."""
        return self.row.get("verdict") == "complete"


class _Asked(Table):
    """The content of asked.json: how many runs the matrix has, and whether each was tried."""

    schema_: Literal[4]
    runs: Annotated[int, Field(ge=0)]
    over: bool = False


class Store:
    """A campaign's folder, with its results in memory. It is written within writing()."""

    def __init__(self, folder: Path) -> None:
        """Raises CampaignError for a result that cannot be read, RunError for a link."""
        self.folder = folder
        check_members(folder)
        self.results: dict[str, Result] = {}
        for path in sorted((folder / RESULTS).glob("*.json")):
            result = read_json(path, Result, CampaignError, remedy="remove the file, and run again")
            wrong = not _KEY.fullmatch(path.stem) or result.row.get("key") != path.stem
            if wrong or "/" in str(result.row.get("allocator")):
                raise CampaignError(f"{path} is of a run that nobody can have made; remove the file.")
            self.results[path.stem] = result

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """Raises CampaignError where `folder` is no campaign's."""
        if not (folder / ASKED).is_file():
            raise CampaignError(f"{folder} is no folder of a campaign: it has no {ASKED}.")
        return cls(folder)

    def settled(self, key: str, verify: bool = False) -> bool:
        """True if the run need not be made: it is complete, verified if it is to be, and its tables
        are there.
        """
        result = self.results.get(key)
        return (
            result is not None
            and result.complete
            and (not verify or result.row.get("verified") is True)
            and all(self._table(what, result.row).is_file() for what in result.tables)
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within, no other command writes here. Raises CampaignError, WriteError."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise WriteError(f"{self.folder} cannot be written: {why(error)}.") from None
        try:
            try:
                locks.take(descriptor)
            except BlockingIOError:
                raise CampaignError(
                    f"Another campaign writes to {self.folder}: wait for it, or end it."
                ) from None
            if any(self.folder.iterdir()) and not (self.folder / ASKED).exists():
                raise CampaignError(
                    f"{self.folder} is not empty, and no folder of a campaign: give another --output."
                )
            yield
        finally:
            locks.let_go(descriptor)
            os.close(descriptor)

    def keep_matrix(self, text: bytes, points: int, *, over: bool = False) -> None:
        """Keeps what was asked, how many runs that is, and whether each was tried. Raises
        WriteError.
        """
        write_bytes(self.folder / MATRIX, text)
        write_bytes(self.folder / ASKED, _json({"schema": SCHEMA, "runs": points, "over": over}))

    @property
    def asked(self) -> tuple[int, bool]:
        """How many runs were asked for last, and whether each was tried. Raises CampaignError."""
        content = read_json(self.folder / ASKED, _Asked, CampaignError)
        return content.runs, content.over

    def add(self, outcome: Outcome) -> None:
        """Writes the tables of a run, then its result. With one that differs from what the real
        tools bring, all direct runs that were not verified are forgotten. Raises WriteError.
        """
        result = {"schema": SCHEMA, "row": outcome.row, "tables": [*outcome.tables]}
        write_all({self._table(what, outcome.row): content for what, content in outcome.tables.items()})
        key = outcome.row["key"]
        write_bytes(self._result(key), _json(result))
        self.results[key] = Result.model_validate(result)
        if outcome.row["state"] == DIFFERS:
            for key in [key for key, each in self.results.items() if each.row.get("verified") is False]:
                self._result(key).unlink()
                row = self.results.pop(key).row
                for what in TABLES:
                    self._table(what, row).unlink(missing_ok=True)

    def rows(self) -> pl.DataFrame:
        """The columns COLUMNS, a row for each run, by key. Raises CampaignError."""
        try:
            rows = [self.results[key].row for key in sorted(self.results)]
            return printable_texts(pl.DataFrame(rows, schema=COLUMNS))
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise CampaignError(
                f"{self.folder / RESULTS} has rows of another kind ({first_line(error)}); remove it, or "
                "give another --output."
            ) from None

    def write_runs(self) -> Path:
        """Writes runs.parquet. Raises CampaignError, WriteError."""
        rows = self.rows()
        return write_whole(self.folder / RUNS, lambda path: write_table(path, rows))

    def _result(self, key: str) -> Path:
        return self.folder / RESULTS / f"{key}.json"

    def _table(self, what: str, row: Mapping[str, Any]) -> Path:
        """Where a table of a run is."""
        scenario = Path(str(row["scenario"])).stem
        folder = self.folder / what / f"scenario={scenario}" / f"allocator={row['allocator']}"
        return folder / f"{row['key']}.parquet"


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True).encode() + b"\n"
