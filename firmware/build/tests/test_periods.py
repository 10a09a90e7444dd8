import pytest

from base.files.tests.sentences import is_sentence
from firmware.build import boards, periods
from firmware.build.boards import Board
from scenarios.stimulus import Stimulus


@pytest.fixture
def narrow() -> Board:
    """A board whose timers have 16 bits."""
    return boards.board("nucleo-f103rb")


@pytest.mark.parametrize(
    ("stimulus", "told"),
    [
        (Stimulus("periodic", 65_537, 0), "The stimulus of x takes 65,537 ticks"),
        (Stimulus("random", 43_692, 0, 1), "The stimulus of x takes 65,538 ticks"),
        (Stimulus("sweep", 0, 100_000), "The control of x takes 100,000 ticks"),
    ],
)
def test_longer_periods_are_refused(stimulus: Stimulus, told: str, narrow: Board) -> None:
    refusal = periods.objection(stimulus, "x", narrow)
    assert refusal is not None
    assert refusal.startswith(told)
    assert "its timer on Nucleo-F103RB counts 65,536" in refusal
    assert is_sentence(refusal, "*.")
    assert periods.objection(stimulus, "x", boards.default()) is None
