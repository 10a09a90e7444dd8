"""Faults of a stored run: files that are another run's, and facts of a file that are altered.

Each kind is a function of a folder, a copy of a healthy run's, and a generator of random numbers.
It changes the folder, and returns a few words on what was done. A fact is altered as by somebody
who mends the digest of the file as well: what only the digest tells is found by `other_file`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from base.run_folder import folder as names
from base.run_folder.tables import METADATA_KEY, PLAN, write_table
from firmware.build.catalogue import allocators

Kind = Callable[[Path, np.random.Generator], str]

_PLAN_FACTS = ("scenario", "seed", "parameters")


def kinds(folder: Path, others: tuple[Path, ...]) -> Iterator[tuple[str, Kind]]:
    """The kinds that can be planted in the run in `folder`, by name, beside `others`."""
    for name in (*names.OBSERVED_FILES, *names.TABLES):
        elsewhere = tuple(other / name for other in others if names.digest(other / name) is not None)
        if elsewhere and (folder / name).exists():
            yield f"other_file.{name}", partial(other_file, name=name, elsewhere=elsewhere)
    for fact in (*_PLAN_FACTS, *(name for name in PLAN if name != "seq")):
        yield f"altered_plan.{fact}", partial(altered_plan, fact=fact)
    yield "altered_allocator", altered_allocator


def other_file(folder: Path, random: np.random.Generator, name: str, elsewhere: tuple[Path, ...]) -> str:
    """The file of another run."""
    source = elsewhere[int(random.integers(len(elsewhere)))]
    shutil.copyfile(source, folder / name)
    return f"{name} is that of {source.parent.name}"


def altered_plan(folder: Path, random: np.random.Generator, fact: str) -> str:
    """A fact of plan.parquet that no image carries."""
    path = folder / names.PLAN
    table = pl.read_parquet(path)
    metadata: dict[str, Any] = json.loads(pl.read_parquet_metadata(path)[METADATA_KEY])
    if fact in _PLAN_FACTS:
        metadata[fact] = _another(metadata[fact])
    else:
        row = int(random.integers(table.height))
        value = _another(table[fact][row])
        value = str(value) if PLAN[fact] == pl.String else value
        rows = table[fact].to_list()
        rows[row] = value
        table = table.with_columns(pl.Series(fact, rows, dtype=PLAN[fact]))
    write_table(path, table, metadata)
    _change_manifest(folder, "files", names.digests(folder))
    return f"{fact} of {names.PLAN} is another"


def altered_allocator(folder: Path, random: np.random.Generator) -> str:
    """The allocator at the top of run.json, whatever the rest says."""
    own = _manifest(folder)["allocator"]
    other = str(random.choice([name for name in allocators() if name != own]))
    _change_manifest(folder, "allocator", other)
    return f"the allocator at the top of {names.MANIFEST} is {other}"


def _manifest(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / names.MANIFEST).read_text(encoding="utf-8"))
    return manifest


def _change_manifest(folder: Path, key: str, value: Any) -> None:
    (folder / names.MANIFEST).write_text(json.dumps(_manifest(folder) | {key: value}), encoding="utf-8")


def _another(value: Any) -> Any:
    """A value of the same type that is not `value`."""
    if isinstance(value, dict):
        return {name: _another(of) for name, of in value.items()} or {"depth": 1}
    if isinstance(value, bool):
        return not value
    return f"{value}x" if isinstance(value, str) else 1 if value is None else value + 1
