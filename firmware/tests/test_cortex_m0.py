"""The firmware of a board whose core has neither BASEPRI nor DWT: the Nucleo-F072RB."""

from __future__ import annotations

import pytest

from base.run_folder.records import (
    FailRecord,
    Proof,
    StillRecord,
)
from firmware.build import image as firmware
from firmware.tests.images import ALLOCATE, FREE, entry, image
from firmware.tests.test_on_virtual_nucleo import (
    COMMON,
    FRAME_EDGES,
    MARKED,
    Run,
    assert_one_constant,
    runner,
    spacings,
)

BOARD = "nucleo-f072rb"
PERIOD_TICKS = 5003
CHURN = [part for n in range(40) for part in (entry(ALLOCATE, n % 4, 24 + n), entry(FREE, n % 4, 0))]


@pytest.fixture(scope="module")
def tlsf() -> firmware.FirmwareImage:
    return firmware.build("tlsf", board=BOARD)


@pytest.fixture(scope="module")
def stimulated(tlsf: firmware.FirmwareImage) -> Run:
    return runner(tlsf.elf)(image(*CHURN, stimulus_period=PERIOD_TICKS, control_period=0))


def test_the_counter_is_proven_at_both_ends(stimulated: Run) -> None:
    for proof in (stimulated.only(Proof), stimulated.only(StillRecord)):
        assert proof.timer_ticks >= 32_768
        assert abs(proof.dwt_cycles - proof.timer_ticks) <= 16


@pytest.mark.parametrize(("channel", "field"), MARKED)
def test_wire_and_counter_differ_by_one_constant(stimulated: Run, channel: str, field: str) -> None:
    assert len(stimulated.outside(channel)[0]) == COMMON
    assert_one_constant(stimulated, channel, field)


def test_one_timer_gives_stimulus_and_frames_and_neither_disturbs_the_other(stimulated: Run) -> None:
    first, last = stimulated.edges["SYNC"][:FRAME_EDGES], stimulated.edges["SYNC"][-FRAME_EDGES:]
    assert (spacings(first), spacings(last)) == ({840}, {1260})
    edges = stimulated.stimuli("STIM")
    assert len(edges) > 10 and spacings(edges) == {PERIOD_TICKS}
    assert first[-1] < edges[0] and edges[-1] < last[0]


def test_an_image_that_asks_for_a_control_is_refused(tlsf: firmware.FirmwareImage) -> None:
    refused = runner(tlsf.elf)(image(*CHURN, stimulus_period=PERIOD_TICKS, control_period=7919))
    failed = refused.only(FailRecord)
    assert (failed.reason, failed.detail) == ("control", 7919)
