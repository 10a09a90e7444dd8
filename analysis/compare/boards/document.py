"""Several boards side by side, as JSON (docs/how-to/compare.md).

    schema                        1
    groups [{
      scenario, allocator, headline
      boards [{
        run                       the folder's name
        board, board_folder       the entry of bench.toml, the folder's name
        title, core               what people call both; core and the next three are null of a core
                                  of which the bench knows no manual
        entry_cycles              from an interrupt to its handler, by the manual
        clz, counter              whether the core has CLZ, and CYCCNT
        locking, heap_bytes, verdict, core_hz, wait_states, samplerate_hz, resolution_ns
        allocate, free, interrupt, answer, control
                                  null or {ns, cycles, counted, n, budget_ns, seq}
        growth                    null or {cycles, cycles_uncertainty, ns, ns_uncertainty, n}
      }]
    }]
    left_out[]                    sentences

- *allocate*, *free*, *interrupt* and *control* are the longest samples. *answer* is the median of
  the interrupts that met nothing, an interrupt's *baseline* in run.json.
- *counted*: the cycles are the counter's; else *ns* times the core's clock.
- *growth* is of the allocations with a depth that no interrupt met: null without four depths.
"""

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
