"""A pulse that no firmware sent, planted on each channel of a sound run, and left out as asked."""

from __future__ import annotations

import numpy as np
import pytest

from base.run_folder.edges import CHANNELS, EdgeList, settled
from base.run_folder.manifest import ToolReport
from capture.joining.evidence import Evidence, decode
from capture.summary.warnings import warnings
from capture.tests.evidence import ASKED
from capture.tests.synthetic import SyntheticRun, small_plan
from capture.verdict.verdict import judge


def with_glitches(edges: EdgeList, channel: str, count: int) -> EdgeList:
    """`count` pulses of two samples, two apart, where nothing moves for a while."""
    inside = edges.sample[len(edges.sample) // 2 :]
    quiet = int(inside[:-1][np.diff(inside) > 200][0]) + 100
    moved = quiet + np.array([part for n in range(count) for part in (4 * n, 4 * n + 2)])
    rows = np.union1d(edges.sample, moved)
    word = edges.word[np.searchsorted(edges.sample, rows, "right") - 1]
    high = (np.searchsorted(moved, rows, "right") % 2).astype(np.uint8)
    word = word ^ (high << CHANNELS.index(channel)).astype(np.uint8)
    return EdgeList(*settled(rows, word), edges.samplerate_hz, edges.total_samples, edges.channels)


def decoded(run: SyntheticRun, edges: EdgeList, ignore_glitches: bool) -> Evidence:
    report = ToolReport(asked_samples=edges.total_samples)
    return decode(run.plan, report, edges, run.uart(), None, ASKED, ignore_glitches=ignore_glitches)


@pytest.mark.parametrize("channel", CHANNELS)
def test_one_that_stands_alone_is_left_out_and_told(channel: str) -> None:
    run = SyntheticRun(small_plan(depth=2))
    edges = with_glitches(run.edges(), channel, 1)
    assert judge(decoded(run, edges, False))[0] != "complete"
    evidence = decoded(run, edges, True)
    assert evidence.edges == run.edges() and judge(evidence) == ("complete", ())
    (sentence,) = warnings(evidence)
    assert sentence == f"Glitches of at most 2 samples were left out, as asked: 1 on {channel}."


def test_of_several_in_a_row_one_may_be_the_firmwares_and_they_stay() -> None:
    run = SyntheticRun(small_plan(depth=2))
    edges = with_glitches(run.edges(), "CRIT", 2)
    evidence = decoded(run, edges, True)
    assert evidence.edges == edges and judge(evidence)[0] != "complete"
