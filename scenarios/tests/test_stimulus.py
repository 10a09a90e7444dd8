"""What a stimulus may be, and how the command line may change it."""

from __future__ import annotations

import pytest

from scenarios.errors import ScenarioError
from scenarios.stimulus import NO_STIMULUS, Stimulus, override

OWN = Stimulus("periodic", 5003, 7919)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("none", NO_STIMULUS),
        ("periodic", OWN),
        ("periodic:6007", Stimulus("periodic", 6007, 7919)),
        ("periodic:6007,9001", Stimulus("periodic", 6007, 9001)),
        ("periodic:6007,0", Stimulus("periodic", 6007, 0)),
        ("periodic:2000,1000", Stimulus("periodic", 2000, 1000)),
        ("periodic:4294967295", Stimulus("periodic", 2**32 - 1, 7919)),
        ("sweep", Stimulus("sweep", 5003, 7919)),
        ("sweep:400", Stimulus("sweep", 400, 7919)),
        ("random", Stimulus("random", 5003, 7919, 1)),
        ("random:4000,0,65535", Stimulus("random", 4000, 0, 65535)),
        ("burst:9001", Stimulus("burst", 9001, 7919, 700)),
        ("burst:9001,7919,16", Stimulus("burst", 9001, 7919, 16)),
    ],
)
def test_override(asked: str, expected: Stimulus) -> None:
    assert override(OWN, asked) == expected


def test_without_periods_of_its_own_there_is_no_control_to_keep() -> None:
    assert override(NO_STIMULUS, "periodic:6007") == Stimulus("periodic", 6007, 0)


@pytest.mark.parametrize(
    ("mode", "period_ticks", "control_period_ticks"),
    [("swept", 5003, 0), ("none", 5003, 0), ("none", 0, 7919), ("periodic", 0, 7919), ("periodic", 5003, -1)],
)
def test_contradictions_are_refused(mode: str, period_ticks: int, control_period_ticks: int) -> None:
    with pytest.raises(ScenarioError):
        Stimulus(mode, period_ticks, control_period_ticks)


@pytest.mark.parametrize(
    "asked", ["none", "periodic", "sweep:0,7919", "random:5003,7919,9", "burst:5003,0,700"]
)
def test_a_stimulus_reads_back_what_it_writes(asked: str) -> None:
    stimulus = override(OWN, asked)
    assert override(NO_STIMULUS, str(stimulus)) == stimulus
