"""`./lab faults` with the runs that it makes on the virtual board."""

from __future__ import annotations

import json

from analysis.faults.made import RECIPES
from tests.test_command_line import lab

N = 24


def test_without_runs_it_makes_its_own() -> None:
    done = lab("faults", "--n", str(N), "--json")
    report = json.loads(done.stdout)
    assert report["planted"] == N
    assert report["crashed"] == 0
    assert report["runs"] == [str(recipe) for recipe in RECIPES]
    assert done.returncode == (1 if report["undetected_changed"] else 0)
    for entry in report["undetected"][:1]:
        again = lab("faults", "--replay", entry["fault"], "--json")
        assert json.loads(again.stdout) == entry
