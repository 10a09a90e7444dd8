"""The Cortex-M3 and the Cortex-M0 agree with Unicorn's models of them, and lack the same."""

from __future__ import annotations

import pytest

from quality.differential import executed_absent, executed_unpredictable, run
from quality.differential.cores import M0, M3, Core

CASES = {M3.name: 40_000, M0.name: 20_000}
SEED = 1
SMALLER = pytest.mark.parametrize("core", [M3, M0], ids=lambda core: core.name)


@SMALLER
def test_no_divergence_is_unexplained(core: Core) -> None:
    report = run(CASES[core.name], SEED, core)
    assert report.cases >= CASES[core.name]
    assert report.divergences == 0, "\n".join(report.samples())
    assert report.untested() == []


@SMALLER
def test_what_a_core_lacks_is_executed_by_neither(core: Core) -> None:
    tried, executed = executed_absent(60, SEED, core)
    assert tried > 1_000
    assert executed == []


@SMALLER
def test_a_core_refuses_what_its_manual_leaves_unpredictable(core: Core) -> None:
    tried, executed = executed_unpredictable(200, SEED, core)
    assert tried > 500
    assert executed == []
