"""What each run says of itself, as HTML: verdict, reasons, warnings, and the whole manifest."""

from __future__ import annotations

import json
from html import escape

from dashboards.runs import LoadedRun


def run_details(run: LoadedRun) -> str:
    """A folded section; one that is not complete comes unfolded."""
    verdict = run.manifest.verdict
    manifest = json.dumps(run.manifest.as_json(), indent=2, ensure_ascii=False)
    unfolded = "" if run.manifest.complete else " open"
    return (
        f'<details{unfolded}><summary><span class="verdict {verdict}">{verdict}</span> '
        f"{escape(run.id)}</summary>{_sentences(run)}<pre>{escape(manifest)}</pre></details>"
    )


def _sentences(run: LoadedRun) -> str:
    spoken = [*run.manifest.reasons, *run.notes, *run.manifest.warnings]
    return f"<ul>{''.join(f'<li>{escape(str(item))}</li>' for item in spoken)}</ul>" if spoken else ""
