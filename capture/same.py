"""Whether a direct run is what the real tools bring: the same run both ways, to the byte."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from base.run_folder import folder as names
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import run

FILES = (
    *(names.IMAGE, names.PLAN, names.SERIAL_LOG, names.COUNTS, names.EDGES),
    *(names.OPERATIONS, names.INTERRUPTS),
)
"""Equal to the byte. Of run.json all is equal but `analyzer` and the tools that captured."""

_CAPTURERS = ("sigrok_cli", "libsigrok", "libsigrokdecode")
_MOST_CHARACTERS = 60


def verify(request: RunRequest, program: Path | None = None) -> str | None:
    """Makes the run of `request` both ways, and returns the first difference in a sentence.

    Nothing of it is kept; None if there is no difference. `program` stands in for the simulator of
    the direct run. Raises TailscopeError where one of the two could not be observed, and
    signals.Stopped.
    """
    with tempfile.TemporaryDirectory(prefix="tailscope-same-") as name:
        runs = Path(name)
        real = run(Sigrok(replace(request, runs=runs / "sigrok")))
        direct = run(Direct(replace(request, runs=runs / "direct"), program))
        return first_difference(real.folder, direct.folder)


def first_difference(real: Path, direct: Path) -> str | None:
    """Where two run folders first differ, the files in the order of FILES; None if nowhere."""
    for name in FILES:
        if (missing := _missing(real / name, direct / name)) is not None:
            return f"{name} is {missing}."
        if (real / name).read_bytes() != (direct / name).read_bytes():
            return f"{name} differs from that by sigrok-cli: {_place(real / name, direct / name)}."
    manifests = [_told(folder / names.MANIFEST) for folder in (real, direct)]
    place = _first(*manifests)
    return None if place is None else f"{names.MANIFEST} differs from that by sigrok-cli: {place}."


def _missing(real: Path, direct: Path) -> str | None:
    if real.exists() == direct.exists():
        return None
    return "missing, and that by sigrok-cli is there" if real.exists() else "there, and not by sigrok-cli"


def _told(path: Path) -> dict[str, Any]:
    """What run.json tells, but for who captured."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    tools = {name: version for name, version in content["tools"].items() if name not in _CAPTURERS}
    return {**content, "analyzer": None, "tools": tools}


def _place(real: Path, direct: Path) -> str:
    read: Callable[[Path], Any] = _rows if real.suffix == ".parquet" else _lines
    return _first(read(real), read(direct)) or "its bytes, though not what they mean"


def _rows(path: Path) -> dict[str, Any]:
    return {f"row {number}": row for number, row in enumerate(pl.read_parquet(path).iter_rows(named=True))}


def _lines(path: Path) -> dict[str, Any]:
    return {f"line {n}": line for n, line in enumerate(path.read_bytes().split(b"\n"), 1)}


def _first(real: Any, direct: Any) -> str | None:
    """`row 3 word 5, not 4`; None where both are equal."""
    if isinstance(real, dict) and isinstance(direct, dict):
        for key in dict.fromkeys((*real, *direct)):
            if (difference := _first(real.get(key), direct.get(key))) is not None:
                return f"{key} {difference}"
        return None
    if isinstance(real, list) and isinstance(direct, list):
        return _first(dict(enumerate(real)), dict(enumerate(direct)))
    return None if real == direct else f"{_short(direct)}, not {_short(real)}"


def _short(value: Any) -> str:
    text = json.dumps(value) if not isinstance(value, bytes) else json.dumps(value.decode(errors="replace"))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
