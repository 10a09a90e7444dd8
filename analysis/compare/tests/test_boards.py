"""Runs of several boards side by side, made by hand: what each board's figures are is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.compare.boards import COLUMNS, ENTRY_CYCLES, Across, across, as_json, as_text
from analysis.compare.tests.made import FIRMWARE, write
from dashboards.compare import sheet_of_boards
from dashboards.tests.synthetic import Operation
from firmware.build import boards

PER_BLOCK = 13


def ramp(depths: int = 20) -> list[Operation]:
    return [
        Operation("A", 120, depth, 300 + PER_BLOCK * depth, label=f"depth {depth}", depth=depth)
        for depth in range(1, depths + 1)
    ]


ON_F446 = {
    "asked": {"allocator": "seglist", "board": "nucleo-f446re"},
    "firmware": {**FIRMWARE, "core_hz": 180_000_000, "flash_acr": "00000705"},
}


@pytest.fixture
def across_boards(tmp_path: Path) -> Across:
    write(tmp_path, ramp())
    write(tmp_path, ramp(), board="virtual_nucleo_f446re", changes=ON_F446)
    return across([tmp_path])


def test_a_group_has_a_line_for_each_board_the_first_first(across_boards: Across) -> None:
    (group,) = across_boards.groups
    assert (group.title, group.remark) == ("made on seglist", "")
    assert [line.name for line in group.lines] == ["Nucleo-F401RE", "Nucleo-F446RE"]
    core_hz, wait_states = (
        [line.figures[[*COLUMNS].index(key)].value for line in group.lines]
        for key in ("core_hz", "wait_states")
    )
    assert (core_hz, wait_states[1]) == ([84_000_000, 180_000_000], 5)


def test_the_slope_is_what_each_freed_block_adds(across_boards: Across) -> None:
    for line in across_boards.groups[0].lines:
        _, slope, uncertainty = line.figures[[*COLUMNS].index("growth_cycles")]
        assert isinstance(slope, float) and uncertainty is not None
        assert slope == pytest.approx(PER_BLOCK, abs=0.05)
        assert abs(slope - PER_BLOCK) <= uncertainty


def test_text_and_page_have_each_run_and_both_units(across_boards: Across) -> None:
    text = as_text(across_boards)
    for line in across_boards.groups[0].lines:
        assert line.run in text
    row = as_json(across_boards)["groups"][0]["boards"][1]
    assert (row["name"], row["allocate_cycles"], round(row["allocate_ns"])) == ("Nucleo-F446RE", 561, 6667)
    assert " 561  " in text and " 6.67 " in text
    page = sheet_of_boards(across_boards).html()
    assert "boards: Nucleo-F401RE, Nucleo-F446RE." in page and "6.67" in page


def test_each_board_of_the_bench_has_a_core_with_a_manual() -> None:
    assert {boards.board(name).core for name in boards.names()} <= ENTRY_CYCLES.keys()
