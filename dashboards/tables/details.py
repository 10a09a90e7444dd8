"""What each run says of itself: verdict, reasons, warnings, and the whole manifest."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dashboards.loaded.runs import LoadedRun


@dataclass(frozen=True)
class Details:
    """`sentences` are reasons, notes and warnings; `manifest` is run.json, indented."""

    id: str
    verdict: str
    complete: bool
    sentences: tuple[str, ...]
    manifest: str


def _origin(run: LoadedRun) -> tuple[str, ...]:
    return (run.origin,) if run.origin else ()


def details(run: LoadedRun) -> Details:
    """The fine print of one run."""
    return Details(
        id=run.id,
        verdict=run.manifest.verdict,
        complete=run.manifest.complete,
        sentences=(*_origin(run), *run.manifest.reasons, *run.notes, *run.manifest.warnings),
        manifest=json.dumps(run.manifest.as_json(), indent=2, ensure_ascii=False),
    )
