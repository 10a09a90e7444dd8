"""A run at several placements: the figures are those of each image by itself."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import polars as pl
import pytest

from analysis.bounds.image import bounds_of
from analysis.fragmentation.of_run import memory_of_run
from base.run_folder.placements import Placements
from base.run_folder.records import OperationRecord
from capture import conduct, placements, same
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.conduct import redecode
from capture.tests.altered import one_edge_late, program
from firmware.build import image as firmware
from firmware.build.image import FirmwareImage
from firmware.build.placement import placed, placement
from scenarios import catalogue
from scenarios.plan import Plan
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


# Direct runs beside the real tools: equal to the byte, and a simulator that is not is
# caught.


def plan_of(name: str, **parameters: str | int) -> Plan:
    return catalogue.load(name, parameters, seed=None, stimulus=None, heap_bytes=None).compile()


def small(operations: int = 60) -> Plan:
    return plan_of("mem_stress", operations=operations)


@pytest.fixture(scope="module")
def tlsf() -> FirmwareImage:
    return firmware.build("tlsf")


@pytest.mark.parametrize(
    ("name", "allocator", "samplerate_hz", "parameters"),
    [
        pytest.param("mem_stress", "tlsf", None, {"operations": 200}, marks=pytest.mark.long),
        ("mem_frag", "seglist", 24_000_000, {"depth": 12}),
        pytest.param("periodic_small", "first_fit", 10_000_000, {"ticks": 300}, marks=pytest.mark.long),
    ],
)
def test_a_direct_run_equals_the_real_tools_to_the_byte(
    name: str, allocator: str, samplerate_hz: int | None, parameters: dict[str, int]
) -> None:
    image = firmware.build(allocator)
    difference = same.verify(
        RunRequest(
            plan_of(name, **parameters),
            image,
            samplerate_hz=samplerate_hz,
            bounds=bounds_of,
            memory=memory_of_run,
        )
    )
    assert difference is None


def test_one_edge_that_moved_by_a_sample_is_caught(tmp_path: Path, tlsf: FirmwareImage) -> None:
    difference = same.verify(RunRequest(small(), tlsf), one_edge_late(tmp_path))
    assert difference is not None and difference.startswith(
        "edges.parquet differs from that by sigrok-cli: row "
    )


def test_run_json_says_who_captured_and_redecode_adds_pulseviews_copy(
    tmp_path: Path, tlsf: FirmwareImage
) -> None:
    folder = conduct.run(Direct(RunRequest(small(), tlsf, runs=tmp_path))).folder
    document = json.loads((folder / "run.json").read_text())
    assert document["analyzer"] == "direct"
    assert set(document["tools"]) == {"virtual_nucleo", "compiler", "python"}
    assert not (folder / "capture.sr").exists() and not (folder / "edges.stream").exists()
    assert redecode(folder).verdict == "complete"
    assert (folder / "capture.sr").exists()
    assert json.loads((folder / "run.json").read_text())["analyzer"] == "direct"


def test_a_simulator_that_ends_early_is_a_truncated_run(tmp_path: Path, tlsf: FirmwareImage) -> None:
    # The capture is of less than the run needs, and the status is that of a stop.
    dying = program(
        tmp_path, '"$built" "$@" --samples 3000000 --samplerate 84000000\necho "no more" >&2\nexit 3'
    )
    dying.write_text(
        dying.read_text().replace('"$@"', '$(echo "$@" | sed "s/--samplerate [0-9]* --samples [0-9]*//")')
    )
    result = conduct.run(Direct(RunRequest(small(), tlsf, runs=tmp_path / "runs"), dying))
    assert result.verdict == "truncated"
    assert any("ended with status 3: no more" in reason for reason in result.reasons)
