"""Constructions on allocators whose worst case can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.paths import ROOT
from cli.heap import worst as command
from scenarios.generators.worst import CONSTRUCTIONS
from studies import worst
from tests.tables import table


@table
def test_probes_are_those_worked_out_by_hand(allocator: str, target: str, blocks: int, probes: int) -> None:
    cell = worst.on_board(target, allocator, blocks)
    assert cell.probes == probes
    assert cell.cycles is not None
    assert cell.pulse_ns == pytest.approx(cell.cycles / 84e6 * 1e9, rel=0.05)


def test_instructions_here_grow_by_the_walk_alone(tmp_path: Path) -> None:
    """The walk of first_fit is one loop: every block costs the same, so the line is exact."""
    first = worst.slope(worst.on_host("tree", "first_fit", tmp_path), tmp_path)
    assert first.blocks == [250, 500, 1000]
    assert first.instructions_per_block == pytest.approx(round(first.instructions_per_block), abs=0.01)
    assert first.instructions_per_block >= 4  # load, compare, branch, next
    page = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")
    assert f": {first.instructions_per_block:.0f} on first_fit" in " ".join(page.split())
    flat = worst.slope(worst.on_host("tree", "tlsf", tmp_path), tmp_path)
    assert abs(flat.instructions_per_block) < 0.05


@pytest.mark.long
def test_the_command_prints_every_construction_and_what_cannot_be() -> None:
    matrix = command.run(["tlsf_compact"], on_host=True)
    assert [cell.construction for cell in matrix.cells] == list(CONSTRUCTIONS)
    said = matrix.as_text()
    assert "fastbins: does not exist here" in said
    assert all(f"\n{name} " in said for name in CONSTRUCTIONS)
    assert [cell["construction"] for cell in matrix.as_json()["cells"]] == list(CONSTRUCTIONS)
