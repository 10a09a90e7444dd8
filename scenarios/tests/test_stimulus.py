"""What a stimulus may be, and how the command line may change it."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.errors import ScenarioError
from scenarios.stimulus import NO_STIMULUS, Stimulus, override
from tests.tables import table

OWN = Stimulus("periodic", 5003, 7919)


@table
def test_override(asked: str, expected: tuple[Any, ...]) -> None:
    assert override(OWN, asked) == Stimulus(*expected)


def test_without_periods_of_its_own_there_is_no_control_to_keep() -> None:
    assert override(NO_STIMULUS, "periodic:6007") == Stimulus("periodic", 6007, 0)


@table
def test_contradictions_are_refused(mode: str, period_ticks: int, control_period_ticks: int) -> None:
    with pytest.raises(ScenarioError):
        Stimulus(mode, period_ticks, control_period_ticks)


@pytest.mark.parametrize(
    "asked", ["none", "periodic", "sweep:0,7919", "random:5003,7919,9", "burst:5003,0,700"]
)
def test_a_stimulus_reads_back_what_it_writes(asked: str) -> None:
    stimulus = override(OWN, asked)
    assert override(NO_STIMULUS, str(stimulus)) == stimulus
