"""The whole bench on the virtual Nucleo, from firmware and simulator to verdict and run folder."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from capture import conduct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import RunResult
from firmware.build import image as firmware
from firmware.build.image import FirmwareImage
from scenarios import catalogue
from scenarios.plan import Plan
from tests.processes import MARKER, processes_of, wait_until
from tests.run_folders import manifest, operations

FILES = {
    "run.json",
    "edges.parquet",
    "capture.sr",
    "operations.parquet",
    "plan.parquet",
    "interrupts.parquet",
    "operations.bin",
    "uart.log",
    "counts.csv",
}


@pytest.fixture(scope="session")
def images() -> dict[str, FirmwareImage]:
    return {allocator: firmware.build(allocator) for allocator in ("seglist", "tlsf")}


@pytest.fixture(scope="module")
def stress(
    images: dict[str, FirmwareImage], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, RunResult]:
    """mem_stress on both allocators."""
    plan, runs = catalogue.load("mem_stress").compile(), tmp_path_factory.mktemp("stress")
    return {name: conduct.run(Sigrok(RunRequest(plan, image, runs=runs))) for name, image in images.items()}


@pytest.fixture(scope="module")
def frag(images: dict[str, FirmwareImage], tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunResult]:
    """mem_frag on both allocators."""
    plan, runs = catalogue.load("mem_frag").compile(), tmp_path_factory.mktemp("frag")
    return {name: conduct.run(Sigrok(RunRequest(plan, image, runs=runs))) for name, image in images.items()}


@pytest.fixture
def small() -> Plan:
    return catalogue.load("mem_frag", {"depth": 24}).compile()


@pytest.fixture(autouse=True)
def no_orphans(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Every process of a test carries a mark in its environment. The test may leave none behind."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARKER, mark)
    yield mark
    monkeypatch.delenv(MARKER)
    assert wait_until(lambda: not processes_of(mark)), processes_of(mark)


@pytest.mark.parametrize(("allocator", "median", "p99", "most"), [("seglist", 1, 6, 8), ("tlsf", 1, 2, 2)])
def test_mem_stress_has_the_probes_of_the_article(
    stress: dict[str, RunResult], allocator: str, median: int, p99: int, most: int
) -> None:
    document = manifest(stress[allocator].folder)
    assert document["counts"] == {
        "operations": 1200,
        "allocations": 617,
        "frees": 583,
        "out_of_memory": 0,
        "nothing_to_free": 0,
        "skipped": 0,
        "refused": 0,
    }
    probes = document["probes"]
    assert (probes["n"], probes["median"], probes["p99"], probes["max"]) == (617, median, p99, most)
    assert probes["p99_9"] is probes["p99_99"] is None


@pytest.mark.parametrize("allocator", ["seglist", "tlsf"])
def test_mem_frag_has_the_probes_of_the_article(frag: dict[str, RunResult], allocator: str) -> None:
    trials = operations(frag[allocator].folder).filter(pl.col("measured") & (pl.col("kind") == "A"))
    assert trials.height == 256 * 3
    for depth, probes in trials.select("depth", "probes").iter_rows():
        assert probes == (depth + 3 if allocator == "seglist" else 2)


@pytest.mark.parametrize("scenario", ["stress", "frag"])
@pytest.mark.parametrize("allocator", ["seglist", "tlsf"])
def test_a_run_may_be_believed(request: pytest.FixtureRequest, scenario: str, allocator: str) -> None:
    result: RunResult = request.getfixturevalue(scenario)[allocator]
    document = manifest(result.folder)
    assert (result.verdict, result.reasons, document["verdict"], document["reasons"]) == (
        "complete",
        (),
        "complete",
        [],
    )
    assert {path.name for path in result.folder.iterdir()} == FILES
    assert document["agreement"]["n"] == document["counts"]["operations"]
    assert document["agreement"]["wire_minus_dwt_cycles_max_abs"] <= 1
    clock = document["clock"]
    assert clock["samples_per_cycle_nominal"] == 1.0
    assert clock["residual_max_samples"] == pytest.approx(0.0, abs=1e-6)
    assert (clock["start_edges"], clock["end_edges"]) == (64, 64)
    for ratio in ("ratio", "ratio_start", "ratio_end", "ratio_by_dwt"):
        assert clock[ratio] == pytest.approx(1.0, abs=1e-9)
    assert (
        document["calibration"]["critical_drift_cycles"]
        == document["calibration"]["operation_drift_cycles"]
        == 0
    )
    assert document["interrupts"]["preempted_operations"] > 0
    assert document["interrupts"]["answered"] == document["interrupts"]["isr_entries"] > 0


def test_interrupts_wait_for_the_search_and_the_control_does_not(frag: dict[str, RunResult]) -> None:
    latency = {name: manifest(result.folder) for name, result in frag.items()}
    assert (
        latency["seglist"]["interrupt_latency_hit_ns"]["max"]
        > 3 * latency["tlsf"]["interrupt_latency_hit_ns"]["max"]
    )
    assert (
        latency["seglist"]["control_latency_ns"]["max"]
        < latency["seglist"]["interrupt_latency_hit_ns"]["median"]
    )


def worst_latency_by_quarter(result: RunResult, control: bool) -> list[float]:
    """The worst latency (ns) of the stimuli in operations of each quarter of the ramp."""
    depths = operations(result.folder).select("depth", operation_seq="seq").drop_nulls()
    interrupts = pl.read_parquet(result.folder / "interrupts.parquet").filter(pl.col("control") == control)
    quarters = interrupts.join(depths, on="operation_seq").group_by((pl.col("depth") - 1) // 64)
    return quarters.agg(pl.col("isr_latency_ns").max()).sort("depth")["isr_latency_ns"].to_list()


def test_the_worst_latency_climbs_with_depth_where_the_search_does(frag: dict[str, RunResult]) -> None:
    climbing = worst_latency_by_quarter(frag["seglist"], control=False)
    flat = worst_latency_by_quarter(frag["tlsf"], control=False)
    assert len(climbing) == len(flat) == 4
    assert climbing == sorted(climbing) and climbing[-1] > 2.5 * climbing[0]
    assert max(flat) < 1.5 * min(flat)
    for result in frag.values():
        control = worst_latency_by_quarter(result, control=True)
        assert max(control) < min(flat) / 4 and max(control) - min(control) < 0.01 * climbing[-1]


def test_two_runs_are_equal_to_the_byte(
    stress: dict[str, RunResult], images: dict[str, FirmwareImage], tmp_path: Path
) -> None:
    again = conduct.run(
        Sigrok(RunRequest(catalogue.load("mem_stress").compile(), images["tlsf"], runs=tmp_path))
    )
    assert again.folder.name.split("-", 1)[1] == stress["tlsf"].folder.name.split("-", 1)[1]
    for name in FILES:
        assert (again.folder / name).read_bytes() == (stress["tlsf"].folder / name).read_bytes(), name


def test_a_short_capture_is_truncated(images: dict[str, FirmwareImage], small: Plan, tmp_path: Path) -> None:
    result = conduct.run(Sigrok(RunRequest(small, images["tlsf"], runs=tmp_path, duration_s=0.08)))
    assert result.verdict == "truncated"
    assert any("no end frame" in reason for reason in result.reasons)
    assert {path.name for path in result.folder.iterdir()} == FILES
    joined = operations(result.folder)
    assert 0 < joined.height < small.operations.height
    assert joined["seq"].to_list() == list(range(joined.height))
