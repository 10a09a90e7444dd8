"""Constructions on allocators whose worst case can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.paths import ROOT
from base.run_folder.records import EndRecord, OperationRecord
from cli.heap import worst as command
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.generators.worst import CONSTRUCTIONS
from simulator import run as simulator
from studies.worst import board, host, text
from tests.tables import table


def measured(allocator: str, target: str, blocks: int = 0) -> board.Measured:
    scenario = catalogue.load("worst", {"target": target, "blocks": blocks})
    return board.measure(allocator, list(scenario.generator.steps()))


@table
def test_probes_are_those_worked_out_by_hand(allocator: str, target: str, blocks: int, probes: int) -> None:
    """Of the last operation, in one run: an interrupt changes no search."""
    plan = catalogue.load("worst", {"target": target, "blocks": blocks}, stimulus="none").compile()
    done = simulator.run(firmware.build(allocator).elf, image=plan.image, until="60s")
    assert done.records.first(EndRecord) is not None
    assert done.records.all(OperationRecord)[-1].probes == probes


def test_an_interrupt_waits_for_the_section_and_a_task_where_tasks_are_held_off() -> None:
    measurement = measured("first_fit", "list", 100)
    assert measurement.kind == "A"
    # CRIT lies within the mask; lock, unlock and the interrupt's entry take about 50 cycles.
    assert 0 < measurement.interrupt_latency_ns - measurement.pulse_ns < 1000
    assert measurement.pulse_ns == pytest.approx(measurement.cycles / 84e6 * 1e9, rel=0.01)
    tasks_only = measured("heap_4", "list", 100)
    assert tasks_only.interrupt_latency_ns < 1000
    assert tasks_only.task_latency_ns > tasks_only.pulse_ns


def test_instructions_here_grow_by_the_walk_alone(tmp_path: Path) -> None:
    """The walk of first_fit is one loop: every block costs the same, so the line is exact."""
    first = host.slope(host.cell("tree", "first_fit", tmp_path), tmp_path)
    assert first.blocks == (250, 500, 1000)
    assert first.instructions_per_block == pytest.approx(round(first.instructions_per_block), abs=0.01)
    assert first.instructions_per_block >= 4  # load, compare, branch, next
    page = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")
    assert f": {first.instructions_per_block:.0f} on first_fit" in " ".join(page.split())
    flat = host.slope(host.cell("tree", "tlsf", tmp_path), tmp_path)
    assert abs(flat.instructions_per_block) < 0.05


@pytest.mark.long
def test_the_command_prints_every_construction_and_what_cannot_be() -> None:
    matrix = command.run(["tlsf_compact"], on_host=True)
    assert [cell.construction for cell in matrix.cells] == list(CONSTRUCTIONS)
    said = text.as_text(matrix)
    assert "fastbins: does not exist here" in said
    assert all(f"\n{name} " in said for name in CONSTRUCTIONS)
    assert [cell["construction"] for cell in matrix.as_json()["cells"]] == list(CONSTRUCTIONS)
