"""A sweep on the whole bench: curves peak at critical section plus entry, the control is flat."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from capture import conduct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from firmware.build import image as firmware
from scenarios import catalogue
from tests.run_folders import manifest

SMALL: dict[str, str | int] = {"depth": 48, "depths": 2, "step_cycles": 40}


@pytest.fixture(scope="module", params=["seglist", "tlsf"])
def swept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = catalogue.load("latency_sweep", SMALL).compile()
    return conduct.run(
        Sigrok(RunRequest(plan, firmware.build(request.param), runs=tmp_path_factory.mktemp("sweep")))
    ).folder


def test_every_maximum_is_critical_section_plus_entry_within_the_budget(swept: Path) -> None:
    document = manifest(swept)
    assert document["verdict"] == "complete", document["reasons"]
    curves = document["sweep"]["curves"]
    assert [curve["label"] for curve in curves] == ["empty", "depth 24", "depth 48"]
    for curve in curves[1:]:
        # Masking, marker, unmasking, twelve cycles of entry and the handler's first store take some
        # fifty cycles.
        assert 30 < curve["entry_ns"] * 84e6 / 1e9 < 80
        off_ns = abs(curve["undisturbed_max_ns"] - curve["critical_ns"] - curve["entry_ns"])
        assert off_ns <= curve["budgets_ns"]["entry"] and curve["within_budget"]
        # Three cycles: one sample for a width and two for a latency.
        assert curve["budgets_ns"]["entry"] == pytest.approx(3e9 / 84e6, rel=0.01)


def test_the_latency_falls_by_a_cycle_for_each_cycle_that_the_stimulus_comes_later(swept: Path) -> None:
    """It holds through the whole critical section, and takes the edges alone."""
    interrupts = pl.read_parquet(swept / "interrupts.parquet").filter(~pl.col("control")).sort("sample")
    operations = pl.read_parquet(swept / "operations.parquet").filter("measured").sort("seq")
    both = pl.concat([interrupts, operations.drop("seq")], how="horizontal")
    deep = both.filter((pl.col("depth") == 48) & (pl.col("hit") == "critical") & ~pl.col("tick"))
    latency_samples = deep["isr_latency_ns"] * 84e6 / 1e9
    answered_after_begin = deep["sample"] - deep["start_sample"] + latency_samples
    beyond_section = answered_after_begin - deep["wire_critical_samples"]
    assert deep.height > 200
    # What remains is the mask around the markers, and the entry. It is the same wherever the
    # stimulus came, apart from cache misses and the control interrupt.
    middle = beyond_section.median()
    assert (beyond_section - middle).abs().quantile(0.8) < 12  # type: ignore[operator]


def test_the_control_is_flat(swept: Path) -> None:
    control = pl.read_parquet(swept / "interrupts.parquet").filter("control")
    critical = control.filter(pl.col("hit") == "critical")["isr_latency_ns"]
    outside = control.filter(pl.col("hit") == "none")["isr_latency_ns"]
    section_ns = max(curve["critical_ns"] for curve in manifest(swept)["sweep"]["curves"])
    assert len(critical) > 20
    assert critical.max() - outside.min() < 0.05 * section_ns  # type: ignore[operator]
