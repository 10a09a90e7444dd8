"""What `./lab explain` left in a run folder (docs/SPEC.md, section 8), for the panel behind a click."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dashboards.runs import LoadedRun

# A forged file must not fill the page.
_FILE_BYTES_MAX = 4 << 20
_MOST_PIECES = 4_000
_MOST_TOTALS = 8

_COUNTED = ("cycles", "executions")


def explanations(run: LoadedRun) -> dict[str, list[dict[str, Any]]]:
    """By selection key, what is known of it. A file that is not as it should be is left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((run.folder / "explain").glob("*.json")):
        try:
            content = _read(path)
            packed = _packed(content)
            found.setdefault(str(content["key"]), []).append(packed)
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
            continue
    return found


def _read(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _FILE_BYTES_MAX:
        raise ValueError("too large")
    content = json.loads(path.read_bytes())
    if not isinstance(content, dict) or content.get("schema") != 1:
        raise ValueError("not of schema 1")
    return content


def _packed(content: dict[str, Any]) -> dict[str, Any]:
    """Plain numbers and texts only."""
    packed: dict[str, Any] = {
        "quantity": str(content["quantity"]),
        "unknown": [str(sentence) for sentence in content["unknown"]],
    }
    if not content["replayed"]:
        return packed
    heap = content["heap"]
    return packed | {
        "cycles": int(content["cycles"]),
        "instructions": int(content["instructions"]),
        "stack": [[str(frame["place"]), str(frame["source"])] for frame in content["stack"]],
        "functions": [_total(total) for total in content["functions"][:_MOST_TOTALS]],
        "dearest": [_total(total) for total in content["dearest"][:_MOST_TOTALS]],
        "region_bytes": int(heap["region_bytes"]),
        "pieces": [
            [int(piece["offset"]), int(piece["bytes"]), str(piece["what"])]
            for piece in heap["pieces"][:_MOST_PIECES]
        ],
        "note": str(heap["note"]),
    }


def _total(total: dict[str, Any]) -> list[Any]:
    return [str(total["name"]), *(int(total[name]) for name in _COUNTED), str(total["source"])]
