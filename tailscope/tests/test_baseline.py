"""What an allowance in cycles excuses beside a baseline."""

from __future__ import annotations

import pytest

from analysis.judge import render
from analysis.judge.tests.made_programs import baseline, measured, report, row
from tailscope._baseline import Judgement


def _held(*, is_open: bool) -> Judgement:
    measured_row = row("lock", "primask", 120, open=is_open)
    return Judgement(render.as_json(report(measured(measured_row), baseline({("lock", "primask"): 100}))))


def test_no_amount_excuses_what_has_not_ended() -> None:
    _held(is_open=False).check(20, lambda _: [])
    with pytest.raises(AssertionError, match="100 → at least 120 cycles"):
        _held(is_open=True).check(20, lambda _: [])
