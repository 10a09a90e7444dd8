"""A run at several placements: the figures are those of each image by itself."""

from __future__ import annotations

import statistics

import polars as pl
import pytest

from base.run_folder.placements import Placements
from base.run_folder.records import OperationRecord
from capture import placements
from capture.acquisition.source import RunRequest
from firmware.build import image as firmware
from firmware.build.placement import placed, placement
from scenarios import catalogue
from simulator import run as simulator

COUNT = 5


@pytest.fixture(scope="module")
def request_() -> RunRequest:
    plan = catalogue.load("mem_frag", {"depth": 24, "trials": 1}).compile()
    return RunRequest(plan=plan, image=firmware.build("seglist", art=False))


@pytest.fixture(scope="module")
def placements_found(request_: RunRequest) -> Placements:
    return placements.measure(request_, COUNT)


def by_hand(request: RunRequest, number: int) -> int:
    """The most cycles of a measured allocation, as the records of the image alone have them."""
    elf = placed(request.image, placement(number)).elf
    done = simulator.run(elf, image=request.plan.image, until="1s")
    requests = request.plan.operations.filter(pl.col("measured") & (pl.col("kind") == "A"))
    measured = set(requests["seq"])
    return max(
        record.critical_cycles
        for record in done.records.all(OperationRecord)
        if record.kind in "AO" and record.seq in measured
    )


def test_a_range_is_what_the_images_come_to_by_themselves(
    placements_found: Placements, request_: RunRequest
) -> None:
    expected = [by_hand(request_, number) for number in range(COUNT)]
    assert [measurement.greatest["dwt_cycles"] for measurement in placements_found.measured] == expected
    assert len(set(expected)) > 1
    over = placements_found.headlines["dwt_cycles"]
    assert (over.n, over.least, over.greatest) == (COUNT, min(expected), max(expected))
    assert over.median == statistics.quantiles(expected, n=2, method="inclusive")[0]
    probes = placements_found.headlines["probes"]
    assert probes.least == probes.greatest
