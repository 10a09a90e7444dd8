"""A run of `./lab scenario --placements`: the same with its code at other places in the flash."""

from __future__ import annotations

from typing import Protocol

from base.run_folder import folder as names
from base.run_folder.folder import RunFolder
from base.run_folder.manifest import read_manifest
from capture import placements
from capture.acquisition.direct import fits
from capture.acquisition.source import RunRequest
from capture.store import RunResult
from cli.work import progress


class Watched(Protocol):
    """Who hears of a run."""

    title: str
    shown: progress.Steps

    def step(self, step: str) -> None:
        """A step begins."""


def measure(request: RunRequest, result: RunResult, count: int, watched: Watched) -> None:
    """Writes placements.json of a complete run. Raises TailscopeError, and signals.Stopped."""
    if result.verdict != "complete":
        watched.shown.line(f"{watched.title}: is {result.verdict}, so no other placement is measured")
        return
    if not fits(request.resource, request.records):
        watched.shown.line(f"{watched.title}: {count - 1:,} more images are loaded and captured, one by one")
    first = read_manifest(result.folder / names.MANIFEST)
    measured = placements.measure(request, count, first, watched.step)
    RunFolder(result.folder).write_json(names.PLACEMENTS, measured.model_dump(mode="json", by_alias=True))
