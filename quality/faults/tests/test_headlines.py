"""Which changes of run.json count: those beyond the budget that it states."""

from __future__ import annotations

import json
from typing import Any

import pytest

from base.run_folder.manifest import Manifest
from quality.faults.headlines import changes
from quality.faults.series import Healthy
from tests.tables import table


def edited(run: Healthy, path: str, value: Any) -> Manifest:
    """The run.json with one value replaced."""
    content = json.loads(json.dumps(run.manifest.as_json()))
    *way, last = path.split(".")
    place = content
    for name in way:
        place = place[name]
    assert last in place
    place[last] = value
    return Manifest.of(content)


def changed(run: Healthy, path: str, value: Any) -> list[str]:
    return [change.headline for change in changes(run.manifest, edited(run, path, value))]


@pytest.mark.parametrize("name", ["min", "mean", "median", "max"])
@table
def test_a_statistic_may_move_within_its_budget(run: Healthy, name: str, part: float, beyond: bool) -> None:
    key = "interrupt_latency_ns"
    value, budget = getattr(run.manifest.statistics[key], name), run.manifest.error_budget[key]
    assert budget.total.ns is not None and budget.rank.ns is not None
    most = budget.total.ns + (budget.rank.ns if name == "median" else 0.0)
    path = f"{key}.{name}"
    assert changed(run, path, value + part * most) == ([path] if beyond else [])


@table
def test_what_is_counted_or_stated_may_not_change_at_all(run: Healthy, path: str, value: Any) -> None:
    assert changed(run, path, value) == [path]
