"""A healthy run to plant faults in, made up: no board is needed."""

from __future__ import annotations

import pytest

from base.run_folder.manifest import AskedFirmware, ToolReport
from capture.redecode import Stored
from capture.summary.summary import Setting
from capture.tests.synthetic import SyntheticRun, small_plan
from quality.faults.planting import Healthy, healthy


def stored(**parameters: int) -> Stored:
    """A made-up mem_frag run."""
    run = SyntheticRun(small_plan(**parameters))
    edges = run.edges()
    return Stored(
        plan=run.plan,
        report=ToolReport(asked_samples=edges.total_samples),
        edges=edges,
        serial_bytes=run.uart(),
        counts=None,
        asked=AskedFirmware(allocator="tlsf"),
        setting=Setting("tlsf", "nucleo", "fx2lafw", "ab" * 32),
    )


@pytest.fixture(scope="session")
def run() -> Healthy:
    return healthy("synthetic", stored(depth=5))
