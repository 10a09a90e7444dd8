"""A healthy run to plant faults in, made up: no board is needed."""

from __future__ import annotations

import pytest

from base.run_folder.manifest import ToolReport
from capture.acquisition.observe import Observation
from capture.acquisition.source import Account, Taken
from capture.tests.evidence import ASKED
from capture.tests.synthetic import SyntheticRun, small_plan
from quality.faults.series import Healthy, healthy


def stored(**parameters: int) -> Taken:
    """A made-up mem_frag run."""
    run = SyntheticRun(small_plan(**parameters))
    edges = run.edges()
    return Taken(
        Account("tlsf", "nucleo", "fx2lafw", "ab" * 32, plan=run.plan, asked=ASKED),
        Observation(edges, run.uart(), ToolReport(asked_samples=edges.total_samples)),
    )


@pytest.fixture(scope="session")
def run() -> Healthy:
    return healthy("synthetic", stored(depth=5))
