"""The Cortex-M3 and the Cortex-M0 agree with Unicorn's models of them, and lack the same."""

from __future__ import annotations

import pytest

from quality.differential.batches import M0, M3, Core
from quality.differential.series import run
from quality.differential.tests.refusals import executed_absent, executed_unpredictable

CASES = {M3.name: 40_000, M0.name: 10_000}
SEED = 1
# Where Unicorn's models do not ask for the extension: these belong to DSP (DDI 0403E, A4.4.3). IT
# is UNDEFINED in ARMv6-M (DDI 0419C, A5.2.5).
UNICORN_EXECUTES = {
    M3.name: {
        "SMLALD T1",
        "SMLSLD T1",
        "SMUAD, SMLAD T1",
        "SMULWy, SMLAWy T1",
        "SMUSD, SMLSD T1",
        "SXTB T2, SXTAB T1",
        "SXTH T2, SXTAH T1",
        "USAD8, USADA8 T1",
        "UXTB T2, UXTAB T1",
        "UXTH T2, UXTAH T1",
    },
    M0.name: {"IT T1"},
}
SMALLER = pytest.mark.parametrize(
    "core", [pytest.param(M3, marks=pytest.mark.long), M0], ids=lambda core: core.name
)


@SMALLER
def test_no_divergence_is_unexplained(core: Core) -> None:
    report = run(CASES[core.name], SEED, core)
    assert report.cases >= CASES[core.name]
    assert report.divergences == 0, "\n".join(report.samples())
    assert report.untested() == []


@SMALLER
def test_what_a_core_lacks_it_does_not_execute(core: Core) -> None:
    tried, ours, theirs = executed_absent(60, SEED, core)
    assert tried > 1_000
    assert ours == []
    assert theirs == UNICORN_EXECUTES[core.name]


@SMALLER
def test_a_core_refuses_what_its_manual_leaves_unpredictable(core: Core) -> None:
    tried, executed = executed_unpredictable(200, SEED, core)
    assert tried > 500
    assert executed == []
