"""What the image asks of the board's clock and serial line, on boards that have it or have not."""

from __future__ import annotations

import pytest

from base.run_folder.records import Boot, EndRecord, FailRecord
from firmware.build import boards, fit
from firmware.build import image as firmware
from firmware.build.families import AtOscIn
from scenarios import catalogue
from scenarios.operations import DEFAULT_BAUD
from simulator import run as simulator
from simulator.program import UserProgram
from simulator.run import Run
from tests.tables import table

BOARDS = [
    pytest.param(name, marks=() if name in ("nucleo-f401re", "nucleo-f103rb") else pytest.mark.long)
    for name in boards.names()
]
"""The default and the one whose HSI makes less; the rest is long."""


def started(name: str, clock: str, at_osc_in: AtOscIn) -> Run:
    """A short run of a board whose image asks for `clock`, where a clock is, or a crystal, or none.

    A board that is sold with a crystal has that for a clock.
    """
    board = boards.board(name)
    crystal = at_osc_in == "clock" and board.clock.at_osc_in == "crystal"
    hse = board.hse_options("crystal" if crystal else at_osc_in)
    placed = catalogue.load("mem_frag", {"depth": 4}).compile(fit.place(board))
    plan = (placed if board.has_control else placed.without_control()).recorded_by(
        "uart", DEFAULT_BAUD, clock
    )
    user = UserProgram(
        firmware.build("tlsf", board=name).elf, ("--strict", "--chip", board.virtual_chip, *hse)
    )
    return simulator.run(user, until="300ms", image=plan.image, edges=True)


@pytest.mark.parametrize("name", BOARDS)
@table
def test_a_core_has_its_rate_from_what_is_there(
    name: str, source: str, at_osc_in: AtOscIn, core_from: str
) -> None:
    """Without its HSE none fails, and BOOT says so. The PLL of an F103 halves its HSI."""
    run = started(name, source, at_osc_in)
    boot = run.records.first(Boot)
    if core_from == "bypass" and boards.board(name).clock.at_osc_in == "crystal":
        core_from = "crystal"  # it takes what it has
    less = core_from == "internal" and name == "nucleo-f103rb"
    core_hz = 64_000_000 if less else boards.board(name).core_hz
    assert boot is not None and (boot.clock, boot.core_hz) == (core_from, core_hz)
    assert run.records.first(FailRecord) is None and run.records.first(EndRecord) is not None
    assert run.records.damaged == ()


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_waits_for_its_hse_as_long_as_the_page_says(name: str) -> None:
    """1 ms for a clock and 20 for a crystal, or more: docs/reference/wiring.md. Where there is a
    crystal, nobody asks for a clock.
    """
    without, clock, crystal = (
        int(started(name, source, "nothing").edges["cycle"][0])
        for source in ("internal", "bypass", "crystal")
    )
    tree = boards.board(name).clock
    assert 20e-3 <= (crystal - without) / tree.family.internal_hz < 100e-3
    if tree.at_osc_in == "crystal":
        assert clock == crystal
    else:
        assert 1e-3 <= (clock - without) / tree.family.internal_hz < 5e-3
