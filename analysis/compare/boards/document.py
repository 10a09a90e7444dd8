"""Several boards side by side, as JSON (docs/reference/compare.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from analysis.compare.boards.across import Across, OnBoard
from analysis.compare.boards.tables import headline

SCHEMA = 1


def as_json(boards: Across) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "groups": [
            {
                "scenario": group.scenario,
                "allocator": group.allocator,
                "headline": headline(group),
                "boards": [_line(line) for line in group.lines],
            }
            for group in boards.groups
        ],
        "left_out": list(boards.left_out),
    }


def _line(line: OnBoard) -> dict[str, Any]:
    manifest, figures = line.manifest, line.figures
    return {
        "run": line.run,
        "board": manifest.board,
        "board_folder": manifest.board_folder,
        "title": line.title,
        "core": line.core.title if line.core else None,
        "entry_cycles": line.core.entry_cycles if line.core else None,
        "clz": line.core.clz if line.core else None,
        "counter": line.core.counter if line.core else None,
        "locking": manifest.locking,
        "heap_bytes": manifest.firmware.heap_bytes,
        "verdict": manifest.verdict,
        "resolution_ns": figures.resolution_ns,
        **asdict(figures),
    }
