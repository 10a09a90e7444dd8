"""What can be run here: scenarios, allocators and boards."""

from __future__ import annotations

from typing import Any

from capture.desk import bench
from firmware.build import boards as boards_of
from firmware.build import catalogue as heaps
from scenarios import catalogue

_KINDS = "what a board may be (--board virtual:NAME): core, clock, flash, SRAM, locks"


def inventory() -> dict[str, list[dict[str, Any]]]:
    """All scenarios with their parameters, allocators, and boards with their analyzers.

    The values can be written as JSON. Samplerates are in Hz.
    """
    return {
        "scenarios": [_scenario(name) for name in catalogue.names()],
        "allocators": allocators(),
        "boards": [_board(board) for board in bench.read_bench().boards.values()],
        "nucleos": [_nucleo(board) for board in boards_of.boards().values()],
    }


def as_text() -> str:
    """The inventory as text: one line for each entry, under a heading for each kind."""
    found = inventory()
    scenarios = [f"  {entry['name']}  {_parameters(entry['parameters'])}" for entry in found["scenarios"]]
    boards = [
        f"  {entry['name']}  {entry['board']}, {entry['analyzer']} at {entry['samplerate_hz']} Hz"
        for entry in found["boards"]
    ]
    nucleos = [_nucleo_words(entry) for entry in found["nucleos"]]
    return "\n".join(
        ["scenarios", *scenarios, *allocator_lines(), "boards", *boards, _KINDS, *_columns(nucleos)]
    )


def allocators() -> list[dict[str, Any]]:
    """The allocators, as inventory() has them."""
    return [_allocator(row) for row in heaps.allocators().values()]


def allocator_lines() -> list[str]:
    """A heading, and a line for each allocator."""
    heading = (
        "allocators: kind, locking (the default first), worst case of allocate and of free, licence, origin"
    )
    return [heading, *_columns([_allocator_words(entry) for entry in allocators()])]


def _scenario(name: str) -> dict[str, Any]:
    scenario = catalogue.load(name)
    return {"name": name, "description": scenario.description, "parameters": scenario.parameters}


def _allocator(row: heaps.Allocator) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "locking": list(row.lockings),
        "allocate": row.allocate,
        "free": row.free,
        "knobs": dict(row.knobs),
        "promises": [promise for promise in heaps.PROMISES if promise in row.promises],
        "licence": row.licence,
        "origin": row.origin,
        "missing": row.missing_checkout(),
    }


def _allocator_words(entry: dict[str, Any]) -> tuple[str, ...]:
    locking = "/".join(entry["locking"])
    return (
        entry["id"],
        entry["kind"],
        locking,
        entry["allocate"],
        entry["free"],
        entry["licence"],
        entry["origin"] + (f"  [{entry['missing']}]" if entry["missing"] else ""),
    )


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """One line for each row. Each column is as wide as its widest word."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _board(board: bench.BoardResource) -> dict[str, Any]:
    analyzer = board.analyzer
    return {
        "name": board.name,
        "board": board.board.name,
        "analyzer": analyzer.driver,
        "samplerate_hz": analyzer.samplerate_hz,
    }


def _nucleo(board: boards_of.Board) -> dict[str, Any]:
    return {
        "name": board.name,
        "title": board.title,
        "core": board.core,
        "core_hz": board.core_hz,
        "wait_states": board.clock.wait_states,
        "sram_bytes": board.memory.sram_bytes,
        "locks": list(board.locks),
        "virtual_chip": board.virtual_chip or None,
    }


def _nucleo_words(entry: dict[str, Any]) -> tuple[str, ...]:
    return (
        entry["name"],
        entry["core"],
        f"{entry['core_hz'] / 1e6:g} MHz",
        f"{entry['wait_states']} wait state{'s' if entry['wait_states'] != 1 else ''}",
        f"{entry['sram_bytes'] >> 10} KiB",
        "/".join(entry["locks"]),
    )


def _parameters(parameters: dict[str, int | str]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())
