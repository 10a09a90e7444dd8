"""What each run says of itself: verdict, reasons, warnings, and the whole manifest."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dashboards.runs import LoadedRun


@dataclass(frozen=True)
class Details:
    """`sentences` are reasons, notes and warnings; `manifest` is run.json, indented."""

    id: str
    verdict: str
    complete: bool
    sentences: tuple[str, ...]
    manifest: str


def details(run: LoadedRun) -> Details:
    """The fine print of one run."""
    warnings = run.manifest.raw.get("warnings")
    spoken = [*run.manifest.reasons, *run.notes, *(warnings if isinstance(warnings, list) else [])]
    return Details(
        id=run.id,
        verdict=run.manifest.verdict,
        complete=run.manifest.complete,
        sentences=tuple(map(str, spoken)),
        manifest=json.dumps(run.manifest.raw, indent=2, ensure_ascii=False),
    )
