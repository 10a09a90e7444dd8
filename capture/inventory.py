"""What can be run here: scenarios, allocators and boards."""

from __future__ import annotations

from typing import Any

from capture import bench
from firmware import build as firmware
from scenarios import catalogue


def inventory() -> dict[str, list[dict[str, Any]]]:
    """Scenarios with their parameters, allocators, and boards with analyzer and samplerate; JSON-ready."""
    return {
        "scenarios": [_scenario(name) for name in catalogue.names()],
        "allocators": [{"name": name} for name in firmware.allocators()],
        "boards": [_board(board) for board in bench.read_bench().boards.values()],
    }


def as_text() -> str:
    """The inventory for reading, one entry a line under a heading each."""
    found = inventory()
    scenarios = [f"  {entry['name']}  {_parameters(entry['parameters'])}" for entry in found["scenarios"]]
    allocators = [f"  {entry['name']}" for entry in found["allocators"]]
    boards = [
        f"  {entry['name']}  {entry['analyzer']} at {entry['samplerate_hz']} Hz" for entry in found["boards"]
    ]
    return "\n".join(["scenarios", *scenarios, "allocators", *allocators, "boards", *boards])


def _scenario(name: str) -> dict[str, Any]:
    scenario = catalogue.load(name)
    return {"name": name, "description": scenario.description, "parameters": scenario.parameters}


def _board(board: bench.BoardResource) -> dict[str, Any]:
    analyzer = board.analyzer
    return {"name": board.name, "analyzer": analyzer.driver, "samplerate_hz": analyzer.samplerate_hz}


def _parameters(parameters: dict[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())
