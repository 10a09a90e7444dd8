"""What `./lab explain` left in a run folder (docs/SPEC.md, section 8), for a click to show."""

from __future__ import annotations

from typing import Any

from capture.run_folder.explanation import Explanation, Replayed, Total, read_all
from capture.run_folder.named_quantities import NAMED
from dashboards.loaded.runs import LoadedRun

# A forged file must not fill the page.
_MOST_PIECES = 4_000
_MOST_TOTALS = 8


def explanations(run: LoadedRun) -> dict[str, list[dict[str, Any]]]:
    """The explanations of each selection key. A damaged file is left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for explanation in read_all(run.folder).values():
        found.setdefault(explanation.key, []).append(_packed(explanation))
    return found


def _packed(explanation: Explanation) -> dict[str, Any]:
    packed: dict[str, Any] = {
        "quantity": explanation.quantity,
        "words": NAMED[explanation.quantity].longest,
        "unknown": explanation.unknown,
    }
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
