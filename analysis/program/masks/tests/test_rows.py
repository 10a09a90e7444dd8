"""Rows of a run that is written by hand (analysis/program/masks/tests/made.py)."""

from __future__ import annotations

from analysis.program.masks import text as judged
from analysis.program.masks.tests import made

SLOW_NS, FAST_NS = 62.5, 31.25
"""A cycle up to cycle 600, and after it."""
NEVER_ENDS = (610, "primask", 1, 0x0800_0300, None, 0)


def test_each_function_has_its_longest() -> None:
    """lock() masks for 100 and 30 cycles, and raises BASEPRI for 80; nap() is awake in 20 of 120.
    The mask that stays, for 50 cycles, is not the longest of lock().
    """
    subject = judged.subject(made.report())
    assert [(row.function, row.kind, row.cycles, row.ns, row.open) for row in subject.rows] == [
        ("lock", "primask", 100, 100 * SLOW_NS, False),
        ("lock", "basepri 0x50", 80, 80 * SLOW_NS, False),
        ("on_tim3", "handler", 50, 50 * SLOW_NS, False),
        ("main", "handler", 32, 32 * FAST_NS, False),
        ("nap", "primask", 20, 20 * FAST_NS, False),
    ]
    assert subject.settings == {"until": "62us", "options": "--chip=stm32f411xe", "from": "reset"}


def test_what_never_ends_lasts_to_the_end_of_the_run() -> None:
    rows = (*(row for row in made.ROWS if row[0] < 600), NEVER_ENDS)
    subject = judged.subject(made.report(made.mask_run(rows)))
    first = subject.rows[0]
    assert (first.function, first.kind, first.cycles, first.open) == ("lock", "primask", 390, True)
    assert first.ns == 390 * FAST_NS
    assert max(row.cycles for row in subject.together if row.open) == 390
