"""What is done, in a file of SQLite (docs/reference/campaign-folder.md).

Whatever the size of a campaign, no more than a few thousand rows of it are in memory.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from polars.io.plugins import register_io_source

from analysis.campaign.rows import COLUMNS, DIFFERS, OLD_NAMES
from analysis.campaign.work import Outcome
from analysis.errors import CampaignError
from base.files.errors import first_line
from base.files.whole import WriteError
from base.run_folder.manifest import FIRST_BOARD
from base.run_folder.tables import printable_texts

MOST_ATTEMPTS = 3
AT_ONCE = 4096
"""Rows that are in memory at a time while they are read."""
_WAIT_S = 60.0
_CACHE_KIB = 65_536
_PAGES_AT_ONCE = 16_384
"""Keys are scattered: pages that change again and again are written once for so many (64 MiB)."""

_SQL = {pl.String(): "TEXT", pl.Boolean(): "INTEGER", pl.Int64(): "INTEGER", pl.Float64(): "REAL"}
_OWN = {
    "sha256": "TEXT NOT NULL",
    "attempts": "INTEGER NOT NULL",
    "failures": "INTEGER NOT NULL",
    "row_sha256": "TEXT",
}
_STANDING = "CREATE INDEX IF NOT EXISTS standing ON runs (key, verdict, verified, failures, attempts)"
_PLACE = ("key", "scenario", "allocator")
"""The columns that say where the tables of a run are."""
_DONE = "verdict IS 'complete'"
_WISHES = """CREATE TABLE IF NOT EXISTS wishes
    (wish BLOB PRIMARY KEY, key TEXT NOT NULL, extras TEXT NOT NULL, image BLOB NOT NULL)
    WITHOUT ROWID"""


class Recognized(NamedTuple):
    """The key of a wish's run, and its image, as they were when its plan was compiled."""

    key: str
    extras: tuple[str, ...]
    image: bytes


@dataclass(frozen=True)
class Noted:
    """A wish and what it came to, to be kept."""

    wish: bytes
    found: Recognized


class Kept(NamedTuple):
    """A run: its row, the SHA-256 of its tables, and whether another than us changed any of it."""

    row: dict[str, Any]
    digests: dict[str, str]
    changed: bool


@dataclass
class Journal:
    """The file at `path`, if it is there. Of several attempts at a run the latest counts."""

    path: Path
    _connection: sqlite3.Connection | None = field(default=None, init=False, repr=False)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within, take() may be called. Raises CampaignError, WriteError."""
        with self._told(WriteError):
            self.close()
            with closing(sqlite3.connect(self.path, timeout=_WAIT_S)) as connection:
                _prepare(connection)
                self._connection = connection
                try:
                    yield
                finally:
                    self._connection = None
                    _pack_up(connection)

    def take(self, outcomes: Iterable[Outcome], noted: Iterable[Noted] = ()) -> None:
        """Keeps rows and wishes, all or none. On return they are on the disk."""
        with self._told(WriteError), self._open() as connection:
            connection.executemany(_TAKE, map(_values, outcomes))
            connection.executemany(
                "INSERT OR REPLACE INTO wishes VALUES (?, ?, ?, ?)",
                ((one.wish, one.found.key, " ".join(one.found.extras), one.found.image) for one in noted),
            )

    def attempts(self, key: str) -> int:
        """How often the run was tried."""
        return int(self._one("SELECT attempts FROM runs WHERE key = ?", key) or 0)

    def settled(self, key: str, verify: bool) -> bool:
        """True if the run is complete, and verified if it is to be, or was tried often enough."""
        words = f"SELECT {_DONE} AND (verified OR NOT ?) OR failures >= ? FROM runs WHERE key = ?"
        return bool(self._one(words, verify, MOST_ATTEMPTS, key))

    def recognized(self, wish: bytes) -> Recognized | None:
        """The key and the image of a wish; None if it was never compiled."""
        with self._told(CampaignError):
            words = "SELECT key, extras, image FROM wishes WHERE wish = ?"
            row = self._open().execute(words, (wish,)).fetchone()
        return None if row is None else Recognized(row[0], tuple(row[1].split()), row[2])

    @property
    def stored(self) -> int:
        """How many runs there are, whatever came of them."""
        return int(self._one("SELECT count(*) FROM runs"))

    @property
    def complete(self) -> int:
        """The number of runs that are complete."""
        return int(self._one(f"SELECT count(*) FROM runs WHERE {_DONE}"))

    @property
    def verified(self) -> int:
        """The number of complete runs that the real tools captured too, with equal results."""
        return int(self._one(f"SELECT count(*) FROM runs WHERE {_DONE} AND verified"))

    def rows(self) -> pl.LazyFrame:
        """A row for each run, by key. They are read when they are collected, a few at a time."""
        return register_io_source(self._read, schema=COLUMNS, is_pure=False)

    def tables(self) -> Iterator[dict[str, Any]]:
        """For each run: key, scenario, allocator, and the SHA-256 of its tables (`digests`)."""
        with self._told(CampaignError):
            for *row, digests in self._open().execute(
                "SELECT key, scenario, allocator, sha256 FROM runs ORDER BY key"
            ):
                yield {**dict(zip(_PLACE, row, strict=True)), "digests": json.loads(digests)}

    def kept(self) -> Iterator[Kept]:
        """Each run, by key."""
        with self._told(CampaignError):
            connection = self._open()
            there = _columns(connection)
            names = [*(_stored(name, there) for name in COLUMNS), '"sha256"', _stored("row_sha256", there)]
            for *values, tables, told in connection.execute(
                f"SELECT {', '.join(names)} FROM runs ORDER BY key"
            ):
                row = dict(zip(COLUMNS, values, strict=True))
                changed = "row_sha256" in there and told != _row_digest(row, tables)
                yield Kept(row, json.loads(tables), changed)

    def forget(self, damaged: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
        """Forgets the runs that are not complete, and the keys of `damaged`.

        If a direct run differs from the real one, those are forgotten too that were not verified.
        Gives key, scenario and allocator of each.
        """
        doubt = f"state = '{DIFFERS}'"
        doubted = self._one(f"SELECT EXISTS (SELECT 1 FROM runs WHERE {doubt})")
        unbelieved = f"NOT ({_DONE}) OR verified IS 0" if doubted else f"NOT ({_DONE})"
        unbelieved += " OR key IN (SELECT key FROM damaged)"
        with self._told(WriteError), self._open() as connection:
            connection.execute("CREATE TEMP TABLE IF NOT EXISTS damaged (key TEXT PRIMARY KEY)")
            connection.execute("DELETE FROM damaged")
            connection.executemany("INSERT INTO damaged VALUES (?)", ((key,) for key in damaged))
            for row in connection.execute(f"SELECT key, scenario, allocator FROM runs WHERE {unbelieved}"):
                yield dict(zip(_PLACE, row, strict=True))
            connection.execute(f"DELETE FROM runs WHERE {unbelieved}")

    def close(self) -> None:
        """Lets go of the file, if it was read."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _one(self, words: str, *values: Any) -> Any:
        with self._told(CampaignError):
            row = self._open().execute(words, values).fetchone()
        return None if row is None else row[0]

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            where = self.path if self.path.exists() else ":memory:"
            self._connection = sqlite3.connect(where, timeout=_WAIT_S)
            if where == ":memory:":
                _prepare(self._connection)
        return self._connection

    def _read(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        """The rows that polars asks for, in threads of its own, so by a connection of its own."""
        del batch_size
        names = [name for name in COLUMNS if with_columns is None or name in with_columns]
        limit = -1 if n_rows is None else n_rows
        with self._told(CampaignError):
            for found in self._batches(names, limit):
                table = _table(found, names)
                yield table if predicate is None else table.filter(predicate)

    def _batches(self, names: list[str], limit: int) -> Iterator[list[Any]]:
        if not self.path.exists():
            return
        with closing(sqlite3.connect(self.path, timeout=_WAIT_S, check_same_thread=False)) as connection:
            there = _columns(connection)
            chosen = ", ".join(_read_as(name, there) for name in names) or "NULL"
            found = connection.execute(f"SELECT {chosen} FROM runs ORDER BY key LIMIT ?", (limit,))
            while rows := found.fetchmany(AT_ONCE):
                yield rows

    @contextmanager
    def _told(self, full: type[WriteError] | type[CampaignError]) -> Iterator[None]:
        """Damage is told as what it is, and a full or locked disk as `full`."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise full(f"{self.path} cannot be used: {first_line(error)}.") from None
        except (sqlite3.DatabaseError, UnicodeDecodeError, JSONDecodeError) as error:
            words = "Restore it, or remove the whole folder and run again"
            raise CampaignError(
                f"{self.path} is no journal of a campaign: {first_line(error)}. {words}."
            ) from None


def _quoted(names: Iterable[str]) -> list[str]:
    return [f'"{name}"' for name in names]


_KEPT = _quoted((*COLUMNS, *_OWN))
_REPLACED = [
    f"{name} = excluded.{name}" for name in _quoted((*COLUMNS, "sha256", "row_sha256")) if name != '"key"'
]
_COUNTS = ["attempts = attempts + 1", "failures = failures + excluded.failures"]
_TAKE = (
    f"INSERT INTO runs ({', '.join(_KEPT)}) VALUES ({', '.join('?' * len(_KEPT))}) "
    f"ON CONFLICT (key) DO UPDATE SET {', '.join(_REPLACED + _COUNTS)}"
)


def _prepare(connection: sqlite3.Connection) -> None:
    """Makes the tables, and the columns that an older bench did not have."""
    types = {name: _SQL[dtype] for name, dtype in COLUMNS.items()}
    declared = ", ".join(
        f'"{name}" {of}' for name, of in {**types, "key": "TEXT PRIMARY KEY", **_OWN}.items()
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_AT_ONCE}")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute(f"CREATE TABLE IF NOT EXISTS runs ({declared})")
    there = _columns(connection)
    for name in COLUMNS.keys() - there:
        connection.execute(f'ALTER TABLE runs ADD COLUMN "{name}" {types[name]}')
        connection.execute(f'UPDATE runs SET "{name}" = {_stored(name, there)}')
    if "row_sha256" not in there:
        _seal(connection)
    connection.execute(_STANDING)
    connection.execute(_WISHES)
    connection.commit()


def _seal(connection: sqlite3.Connection) -> None:
    """Adds the digests of the rows to a journal of an older bench, which had none."""
    connection.execute("ALTER TABLE runs ADD COLUMN row_sha256 TEXT")
    names = ", ".join(_quoted(COLUMNS))
    digests = [
        (_row_digest(dict(zip(COLUMNS, values, strict=True)), tables), values[0])
        for *values, tables in connection.execute(f"SELECT {names}, sha256 FROM runs")
    ]
    connection.executemany("UPDATE runs SET row_sha256 = ? WHERE key = ?", digests)


def _row_digest(row: Mapping[str, Any], tables: str) -> str:
    """SHA-256 of all that a row says, and of the digests of its tables; a null says nothing.

    SQLite keeps NaN as a null.
    """
    there = {name: value for name, value in row.items() if value is not None and value == value}
    said = {name: _as_kept(name, value) for name, value in there.items()}
    return hashlib.sha256(json.dumps([said, tables], sort_keys=True).encode()).hexdigest()


def _as_kept(name: str, value: Any) -> Any:
    """A value of a row as SQLite gives it back."""
    dtype = COLUMNS[name]
    if isinstance(value, str | bytes):  # bytes are nothing of ours
        return _printable(value) if isinstance(value, str) else value.hex()
    return float(value) if dtype == pl.Float64 else value if isinstance(value, float) else int(value)


def _pack_up(connection: sqlite3.Connection) -> None:
    """Leaves one file, that can be read where nothing can be written; unless another reads it."""
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = DELETE")


def _stored(name: str, there: set[str]) -> str:
    """The column of COLUMNS as SQL, where the table has the columns `there`."""
    return next((f'"{one}"' for one in (name, OLD_NAMES.get(name)) if one in there), "NULL")


def _read_as(name: str, there: set[str]) -> str:
    """The same for a reader: a run of a journal that tells of no board is of the first one."""
    stored = _stored(name, there)
    return f"coalesce({stored}, '{FIRST_BOARD}')" if name == "board_folder" else stored


def _columns(connection: sqlite3.Connection) -> set[str]:
    return {row[1] for row in connection.execute("PRAGMA table_info(runs)")}


def _values(outcome: Outcome) -> list[Any]:
    """The values of the columns _KEPT, for a first attempt."""
    row = outcome.row
    failed = row["verdict"] != "complete" and row["state"] != DIFFERS  # that is tried until it is gone
    tables = json.dumps(outcome.digests, sort_keys=True)
    told = {name: row.get(name) for name in COLUMNS}
    own = (tables, 1, int(failed), _row_digest(told, tables))
    return [*map(_printable, told.values()), *own]


def _printable(value: Any) -> Any:
    """A name of a file may hold bytes that are no UTF-8."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _table(rows: list[Any], names: list[str]) -> pl.DataFrame:
    """SQLite has no truth values: they come as numbers."""
    schema = {name: pl.Int64() if COLUMNS[name] == pl.Boolean else COLUMNS[name] for name in names}
    truths = [pl.col(name).cast(pl.Boolean) for name in names if COLUMNS[name] == pl.Boolean]
    return printable_texts(pl.DataFrame(rows, schema=schema, orient="row").with_columns(truths))
