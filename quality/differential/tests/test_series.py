"""The core agrees with Unicorn on every encoding, unless the manual says that Unicorn is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from quality.differential.batches import CASE, CODE, MARGIN_BYTES, RESULT, SLOT_BYTES, Batch
from quality.differential.series import Accepted, Divergence, Report, divergences, run
from quality.differential.tests.refusals import executed_unpredictable

CASES = 50_000
SEED = 1


@pytest.fixture(scope="module")
def report() -> Report:
    """One series for all tests of this file."""
    return run(CASES, SEED)


def test_no_divergence_is_unexplained(report: Report) -> None:
    assert report.cases >= CASES
    assert report.divergences == 0, "\n".join(report.samples())


def test_every_encoding_is_tried_or_tested_elsewhere(report: Report) -> None:
    assert report.untested() == []
    assert all("simulator/tests" in reason for reason in report.elsewhere.values())
    assert {name.split()[0] for name in report.elsewhere} == {"UNDEFINED", "UDF", "SVC", "BKPT", "WFI", "WFE"}


def test_every_accepted_divergence_still_occurs(report: Report) -> None:
    assert report.stale() == []


def test_the_core_refuses_what_the_manual_leaves_unpredictable() -> None:
    tried, executed = executed_unpredictable(200, SEED)
    assert tried > 10_000
    assert executed == []


def test_a_flipped_bit_anywhere_is_a_divergence() -> None:
    case = np.zeros(1, CASE)
    case["pc"] = CODE + MARGIN_BYTES
    code = bytes(MARGIN_BYTES + SLOT_BYTES)
    batch = Batch(case, np.zeros(1, np.int64), np.array([2]), code, b"", counted=False)
    for word in range(RESULT.itemsize // 4):
        ours = np.zeros(1, RESULT)
        words = np.zeros(RESULT.itemsize // 4, np.uint32)
        words[word] = 1 << 31
        divergence_list = divergences(batch, ours, words.view(RESULT))
        assert len(divergence_list) == 1, f"word {word} of a result"
    assert divergences(batch, ours, ours) == []


def test_a_divergence_is_accepted_only_in_the_bits_and_modes_named() -> None:
    rule = Accepted("MOV", "r13", "section", "reason", bits=3, modes=0x80)
    low = Divergence(0, "", {"r13": (4, 5)}, 0x80, "")
    assert rule.explains("MOV T1", low)
    assert not rule.explains("ADD T1", low)
    assert not rule.explains("MOV T1", Divergence(0, "", {"r13": (4, 8)}, 0x80, ""))
    assert not rule.explains("MOV T1", Divergence(0, "", {"r13": (4, 5), "r1": (0, 1)}, 0x80, ""))
    assert not rule.explains("MOV T1", Divergence(0, "", {"r13": (4, 5)}, 0, ""))
