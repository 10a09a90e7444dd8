"""`./lab list`: what can be run here, and the allocators of `./lab heap list`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from base.text_table import columns
from cli.shell.declare import answer, declare, json_option

_ALLOCATORS = (
    "allocators: kind, locking (the default first), worst case of allocate and of free, licence, origin"
)
_KINDS = "what a board may be (--board virtual:NAME): core, clock, flash, SRAM, locks"

Entry = dict[str, Any]


@declare("Set up")
@json_option
def command(as_json: bool) -> None:
    """Show scenarios, allocators (kind, locking, complexity, licence, origin) and boards."""
    answer(as_json, inventory, as_text)


def inventory() -> dict[str, list[Entry]]:
    """All scenarios with their parameters, allocators, and boards with their analyzers.

    The values can be written as JSON. Samplerates are in Hz.
    """
    from capture.desk import bench
    from firmware.build import boards
    from scenarios import catalogue

    return {
        "scenarios": [
            {"name": name, "description": scenario.description, "parameters": scenario.parameters}
            for name in catalogue.names()
            for scenario in [catalogue.load(name)]
        ],
        "allocators": allocators(),
        "boards": [
            {
                "name": resource.name,
                "board": resource.board.name,
                "analyzer": resource.analyzer.driver,
                "samplerate_hz": resource.analyzer.samplerate_hz,
            }
            for resource in bench.read_bench().boards.values()
        ],
        "nucleos": [
            {
                "name": board.name,
                "title": board.title,
                "core": board.core,
                "core_hz": board.core_hz,
                "wait_states": board.clock.wait_states,
                "sram_bytes": board.memory.sram_bytes,
                "locks": list(board.locks),
                "virtual_chip": board.virtual_chip or None,
            }
            for board in map(boards.board, boards.names())
        ],
    }


def allocators() -> list[Entry]:
    """The allocators of the catalogue."""
    from firmware.build import catalogue

    return [
        {
            "id": row.id,
            "kind": row.kind,
            "locking": list(row.lockings),
            "allocate": row.allocate,
            "free": row.free,
            "knobs": dict(row.knobs),
            "promises": [promise for promise in catalogue.PROMISES if promise in row.promises],
            "licence": row.licence,
            "origin": row.origin,
            "missing": row.missing_checkout(),
        }
        for row in catalogue.allocators().values()
    ]


def as_text() -> str:
    """The inventory as text: one line for each entry, under a heading for each kind."""
    entries = inventory()
    scenarios = [
        (entry["name"], " ".join(f"{name}={value}" for name, value in entry["parameters"].items()))
        for entry in entries["scenarios"]
    ]
    boards = [
        (entry["name"], entry["board"], entry["analyzer"], f"{entry['samplerate_hz']} Hz")
        for entry in entries["boards"]
    ]
    kinds = [
        (
            entry["name"],
            entry["core"],
            f"{entry['core_hz'] / 1e6:g} MHz",
            f"wait states {entry['wait_states']}",
            f"{entry['sram_bytes'] >> 10} KiB",
            "/".join(entry["locks"]),
        )
        for entry in entries["nucleos"]
    ]
    parts = [_part("scenarios", scenarios), allocators_as_text(entries["allocators"])]
    return "\n".join([*parts, _part("boards", boards), _part(_KINDS, kinds)])


def allocators_as_text(entries: list[Entry]) -> str:
    """A heading, and a line for each allocator."""
    rows = [
        (
            entry["id"],
            entry["kind"],
            "/".join(entry["locking"]),
            *(entry[name] for name in ("allocate", "free", "licence")),
            entry["origin"] + (f"  [{entry['missing']}]" if entry["missing"] else ""),
        )
        for entry in entries
    ]
    return _part(_ALLOCATORS, rows)


def _part(heading: str, rows: Sequence[tuple[str, ...]]) -> str:
    return "\n".join([heading, *(f"  {line}" for line in columns(rows))])
