"""The four runs that most tests look at, written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboards.loaded.runs import LoadedRun, find_runs, load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.tests.synthetic import mem_frag, mem_stress, write_run


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    for allocator in ("seglist", "tlsf"):
        write_run(runs, "mem_frag", allocator, mem_frag(allocator))
        write_run(runs, "mem_stress", allocator, mem_stress(allocator))
    return runs


@pytest.fixture(scope="session")
def runs(runs_folder: Path) -> list[LoadedRun]:
    return [load_run(folder) for folder in find_runs(runs_folder)]


@pytest.fixture(scope="session")
def frag(runs: list[LoadedRun]) -> list[Series]:
    """mem_frag: seglist, tlsf."""
    return by_scenario(runs)["mem_frag"]


@pytest.fixture(scope="session")
def stress(runs: list[LoadedRun]) -> list[Series]:
    """mem_stress: seglist, tlsf."""
    return by_scenario(runs)["mem_stress"]
