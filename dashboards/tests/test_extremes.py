"""Estimates and histograms of a run folder, as text and files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from base.files.errors import RunError
from base.run_folder.observed import read_observed_manifest
from capture.acquisition.imported import ObservedFile
from capture.acquisition.live import Request
from capture.conduct import run
from capture.importing import formats
from capture.reading.observed import Questions
from dashboards import extremes
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series
from dashboards.tests.synthetic import mem_stress, write_run


def test_a_ramp_gets_a_sentence_instead_of_a_number(frag: list[Series]) -> None:
    text = extremes.as_text(frag[0].run.folder, "critical_ns")
    assert "No estimate. The scenario is a ramp" in text and "exceeded" not in text


def test_every_statistic_of_a_run_can_be_asked_for(tmp_path: Path) -> None:
    """Of a short run: an estimate takes a while for many values."""
    run = load_run(write_run(tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 120)))
    texts = {key: extremes.as_text(run.folder, key) for key in run.manifest.statistics}
    for key, summary in run.manifest.statistics.items():
        assert f" of {run.id}: n = {summary.n:,}, greatest " in texts[key]
    # A word of the commands means its statistic.
    for word, key in (("allocate", "critical_ns"), ("task", "task_latency_ns")):
        assert extremes.as_text(run.folder, word) == texts[key]


def test_what_cannot_be_estimated_is_refused(tmp_path: Path, stress: list[Series]) -> None:
    every = r"no quantity 'latency'; choose section .* task .*run\.json: .*probes, instructions, dwt_cycles"
    with pytest.raises(RunError, match=every):
        extremes.as_text(stress[0].run.folder, "latency")
    broken = write_run(tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 20), verdict="truncated")
    with pytest.raises(RunError, match="needs a run that is complete"):
        extremes.as_text(broken, "probes")


def test_each_distribution_is_a_file(tmp_path: Path, stress: list[Series]) -> None:
    folder = stress[0].run.folder
    paths = extremes.write(folder, tmp_path / "out")
    measured = [key for key, summary in stress[0].run.manifest.statistics.items() if summary.n]
    assert "free_dwt_cycles" in measured
    assert {path.name for path in paths} == {f"{key}.hgrm" for key in measured}
    interrupts = pl.read_parquet(folder / "interrupts.parquet").filter("control")
    last = (tmp_path / "out" / "control_latency_ns.hgrm").read_text().splitlines()[-4].split()
    assert [float(word) for word in last[:2]] == pytest.approx(
        [max(interrupts["isr_latency_ns"]), 1], abs=5e-4
    )
    assert int(last[2]) == len(interrupts)


def test_each_pulse_and_latency_of_a_wire_is_in_a_file(tmp_path: Path) -> None:
    """Answers after 5 and 9 µs; that of 2.5 ms is not answered until the end, at 2.52 ms."""
    rows = ["0,0,0", "0.001,1,0", "0.001005,1,1", "0.001007,0,0", "0.002,1,0", "0.002009,1,1"]
    rows += ["0.002012,0,0", "0.0025,1,0", "0.00252,1,0"]
    (tmp_path / "wire.csv").write_text("\n".join(["Time [s],TRIG/x,ACK", *rows, ""]), encoding="utf-8")
    file = formats.read(tmp_path / "wire.csv", None, 1_000_000)
    questions = Questions(("ACK",), ("TRIG/x:ACK",))
    result = run(ObservedFile(file, questions, "rising", Request(runs=tmp_path / "runs")))
    width, latency = extremes.write(result.folder, tmp_path / "out")
    assert [width.name.split("-incon")[0], latency.name.split("-incon")[0]] == [
        "1-ACK-width",
        "2-TRIG-x-to-ACK",
    ]
    lines = [line.split() for line in width.read_text().splitlines()[2:4]]
    assert [(float(line[0]), int(line[2])) for line in lines] == [(2000, 1), (3000, 2)]
    lines = [line.split() for line in latency.read_text().splitlines()[2:5]]
    assert [float(line[0]) for line in lines[:2]] == [5000, 9000]
    lasted = read_observed_manifest(result.folder / "run.json").open_ns["TRIG/x to ACK"]
    assert 20_000 <= float(lines[2][0]) == lasted <= 21_000
    assert latency.read_text().splitlines()[-1].startswith("#[Open")
