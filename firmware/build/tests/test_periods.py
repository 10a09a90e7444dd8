from typing import Any

import pytest

from base.files.tests.sentences import is_sentence
from firmware.build import boards, periods
from firmware.build.boards import Board
from scenarios.stimulus import Stimulus
from tests.tables import table


@pytest.fixture
def narrow() -> Board:
    """A board whose timers have 16 bits."""
    return boards.board("nucleo-f103rb")


@table
def test_longer_periods_are_refused(stimulus: tuple[Any, ...], told: str, narrow: Board) -> None:
    wide = Stimulus(*stimulus)
    refusal = periods.objection(wide, "x", narrow)
    assert refusal is not None
    assert refusal.startswith(told)
    assert "its timer on Nucleo-F103RB counts 65,536" in refusal
    assert is_sentence(refusal, "*.")
    assert periods.objection(wide, "x", boards.default()) is None
