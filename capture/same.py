"""Whether a direct run is what the real tools bring: the same run both ways, to the byte."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from base.run_folder import folder as names
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.sigrok_cli import CAPTURERS
from capture.acquisition.source import RunRequest
from capture.conduct import run

FILES = (
    *(names.IMAGE, names.PLAN, names.SERIAL_LOG, names.COUNTS, names.EDGES),
    *(names.OPERATIONS, names.INTERRUPTS),
)
"""Equal to the byte. Of run.json all is equal but `analyzer` and the tools that captured."""


def verify(request: RunRequest, program: Path | None = None) -> str | None:
    """Makes the run of `request` both ways, and returns the first difference in a sentence.

    Nothing of it is kept; None if there is no difference. `program` stands in for the simulator of
    the direct run. Raises TailscopeError where one of the two could not be observed, and
    signals.Stopped.
    """
    with tempfile.TemporaryDirectory(prefix="tailscope-same-") as name:
        runs = Path(name)
        return first_difference(
            run(Sigrok(replace(request, runs=runs / "sigrok"))).folder,
            run(Direct(replace(request, runs=runs / "direct"), program)).folder,
        )


def first_difference(real: Path, direct: Path) -> str | None:
    """Where two run folders first differ, the files in the order of FILES; None if nowhere."""
    for name in FILES:
        contents = [file.read_bytes() if file.exists() else b"" for file in (real / name, direct / name)]
        if contents[0] != contents[1]:
            place = ""
            if name.endswith(".parquet") and all(contents):
                rows = zip_longest(*(pl.read_parquet(content).rows() for content in contents))
                place = f": row {next((n for n, (a, b) in enumerate(rows) if a != b), 'by row the same')}"
            return f"{name} differs from that by sigrok-cli{place}."
    manifests: list[dict[str, Any]] = [
        json.loads((folder / names.MANIFEST).read_text(encoding="utf-8")) for folder in (real, direct)
    ]
    for manifest in manifests:  # what run.json tells, but for who captured
        tools = {name: version for name, version in manifest["tools"].items() if name not in CAPTURERS}
        manifest |= {"analyzer": None, "tools": tools}
    theirs, ours = manifests
    differing = [key for key in theirs | ours if theirs.get(key) != ours.get(key)]
    return f"{names.MANIFEST} differs from that by sigrok-cli: {differing[0]}." if differing else None
