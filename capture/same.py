"""Whether a direct run is what the real tools bring: the same run both ways, to the byte."""

from __future__ import annotations

import json
import tempfile
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
_MISSING = "missing, and that by sigrok-cli is there"


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
        one, other = real / name, direct / name
        if one.exists() != other.exists():
            return f"{name} is {_MISSING if one.exists() else 'there, and not by sigrok-cli'}."
        if not one.exists() or one.read_bytes() == other.read_bytes():
            continue
        if one.suffix == ".parquet":
            parts: list[list[Any]] = [pl.read_parquet(file).rows(named=True) for file in (one, other)]
            unit, first = "row", 0
        else:
            parts = [file.read_bytes().split(b"\n") for file in (one, other)]
            unit, first = "line", 1
        contents = ({f"{unit} {n}": part for n, part in enumerate(each, first)} for each in parts)
        place = _first(*contents) or "its bytes, though not what they mean"
        return f"{name} differs from that by sigrok-cli: {place}."
    manifests = []
    for folder in (real, direct):  # what run.json tells, but for who captured
        content: dict[str, Any] = json.loads((folder / names.MANIFEST).read_text(encoding="utf-8"))
        tools = {name: version for name, version in content["tools"].items() if name not in _CAPTURERS}
        manifests.append({**content, "analyzer": None, "tools": tools})
    difference = _first(*manifests)
    return None if difference is None else f"{names.MANIFEST} differs from that by sigrok-cli: {difference}."


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
