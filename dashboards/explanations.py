"""What `./lab explain` left in a run folder (docs/SPEC.md, section 8), for the panel behind a click."""

from __future__ import annotations

from typing import Any

from capture.files.documents import DocumentError
from capture.run_folder.explanation import FOLDER, Explanation, Replayed, Total, read
from dashboards.runs import LoadedRun

# A forged file must not fill the page.
_MOST_PIECES = 4_000
_MOST_TOTALS = 8


def explanations(run: LoadedRun) -> dict[str, list[dict[str, Any]]]:
    """By selection key, what is known of it. A file that is not as it should be is left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((run.folder / FOLDER).glob("*.json")):
        try:
            explanation = read(path)
        except DocumentError:
            continue
        found.setdefault(explanation.key, []).append(_packed(explanation))
    return found


def _packed(explanation: Explanation) -> dict[str, Any]:
    packed: dict[str, Any] = {"quantity": explanation.quantity, "unknown": explanation.unknown}
    if not isinstance(explanation, Replayed):
        return packed
    heap = explanation.heap
    return packed | {
        "cycles": explanation.cycles,
        "instructions": explanation.instructions,
        "stack": [[frame.place, frame.source] for frame in explanation.stack],
        "functions": [_total(total) for total in explanation.functions[:_MOST_TOTALS]],
        "dearest": [_total(total) for total in explanation.dearest[:_MOST_TOTALS]],
        "region_bytes": heap.region_bytes,
        "pieces": [[piece.offset, piece.bytes, piece.what] for piece in heap.pieces[:_MOST_PIECES]],
        "note": heap.note,
    }


def _total(total: Total) -> list[Any]:
    return [total.name, total.cycles, total.executions, total.source]
