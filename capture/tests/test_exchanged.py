"""Two clips that changed places, any pair of them: on runs made up, and on the virtual board."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from base.run_folder.edges import CHANNELS
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.acquisition.stored import read_stored
from capture.conduct import judge as read_again
from capture.conduct import run as conduct
from capture.joining.evidence import Evidence, with_edges
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, small_plan
from capture.tests.test_verdict import with_a_section_in_pieces
from capture.verdict.verdict import DOUBTFUL, MISSING, by_rules, exchanged, judge
from firmware.build import image as firmware
from scenarios import catalogue

PAIRS = tuple(combinations(CHANNELS, 2))
IN_THE_SUITE = {("CRIT", "OP"), ("STIM", "ISR"), ("CISR", "SYNC")}


def sentence(pair: Sequence[str]) -> str:
    return f"{pair[0]} and {pair[1]} look exchanged: run ./lab wiring check."


def without_the_search(evidence: Evidence) -> tuple[str, ...]:
    return by_rules(evidence, evidence.tools, evidence.edges.total_samples, MISSING, DOUBTFUL)[1]


def changed(evidence: Evidence, *pairs: Sequence[str]) -> Evidence:
    """The run as it would be seen with these clips exchanged."""
    for channel, other in pairs:
        evidence = with_edges(evidence, exchanged(evidence.edges, channel, other))
    return evidence


@pytest.fixture(scope="module")
def of_virtual_board(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """mem_frag of little depth on the virtual board, seen by an FX2."""
    plan = catalogue.load("mem_frag", {"depth": 8}).compile()
    runs = tmp_path_factory.mktemp("runs")
    result = conduct(Direct(RunRequest(plan, firmware.build("tlsf"), samplerate_hz=24_000_000, runs=runs)))
    assert result.verdict == "complete"
    return read_again(*read_stored(result.folder))[0]


@pytest.mark.parametrize(
    "pair",
    [pair if pair in IN_THE_SUITE else pytest.param(pair, marks=pytest.mark.long) for pair in PAIRS],
    ids="-".join,
)
def test_any_two_clips_are_named_once(of_virtual_board: Evidence, pair: tuple[str, str]) -> None:
    seen = changed(of_virtual_board, pair)
    assert len(without_the_search(seen)) > 2
    assert judge(seen) == ("inconclusive", (sentence(pair),))


def test_no_clip_is_blamed_for_another_fault() -> None:
    """Several rules are broken, and no exchange mends them."""
    run = SyntheticRun(small_plan())
    with_a_section_in_pieces(run)
    run.lines = [line for line in run.lines if not line.startswith(("OP,7,", "CAL,OP,3,"))]
    evidence = evidence_of(run)
    _, reasons = judge(evidence)
    assert reasons == without_the_search(evidence) and len(reasons) >= 2
