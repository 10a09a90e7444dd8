"""What a board lacks is refused where a command asks for it, and left out where a scenario does."""

from __future__ import annotations

import pytest

from base.files.errors import CaptureError
from capture.acquisition.source import RunRequest
from cli.shell.runs import Options, compiled
from firmware.build import boards
from firmware.build import image as firmware
from scenarios.operations import decode
from scenarios.plan import Plan

BOARD = "nucleo-f072rb"


def plan_of(stimulus: str | None) -> Plan:
    return compiled("mem_frag", Options(stimulus=stimulus), boards.board(BOARD))


def test_a_control_that_the_board_has_not_is_refused() -> None:
    with pytest.raises(CaptureError, match="Nucleo-F072RB has no control interrupt, and --stimulus"):
        plan_of("periodic:5003,7919")
    for fine in (None, "sweep", "periodic:5003", "periodic:5003,0"):
        plan_of(fine)


def test_a_scenarios_own_control_is_left_out() -> None:
    plan = plan_of(None)
    image = firmware.build("tlsf", board=BOARD)
    planned = RunRequest(plan, image, board=f"virtual:{BOARD}").planned
    assert plan.stimulus.control_period_ticks
    assert planned.stimulus.control_period_ticks == 0
    assert decode(planned.image).stimulus == planned.stimulus
    assert planned.image_crc32 == plan.image_crc32
