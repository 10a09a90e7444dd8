"""Loading run folders: what is right is read, what is wrong is refused with a sentence."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.files.documents import Document
from base.files.errors import RunError
from base.run_folder.manifest import Manifest
from base.run_folder.quantities import CRITICAL, KEYS, LATENCY, TASK
from dashboards.loaded.runs import LoadedRun, leave_out_ticks, load_run, samples
from dashboards.loaded.series import Series, by_scenario
from dashboards.pages.catalogue import run as page_of_run
from dashboards.tests.synthetic import Operation, mem_frag, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path, "mem_frag", "tlsf", mem_frag("tlsf", depths=4))


def test_a_run_is_read_as_it_was_written(folder: Path) -> None:
    run = load_run(folder)
    assert (run.id, run.manifest.scenario, run.manifest.allocator) == (folder.name, "mem_frag", "tlsf")
    assert len(run.operations) == 4 * 2 + 4 * 7
    assert len(run.measured_allocations) == 4 * 3
    assert run.manifest.statistics["dwt_cycles"].n == 12
    assert run.manifest.statistics["dwt_cycles"].p99 is None
    assert run.manifest.resolution_ns == pytest.approx(11.90, abs=0.01)


def test_what_a_tick_may_have_delayed_is_left_out_of_everything_and_counted(stress: list[Series]) -> None:
    """Counted once more from the file."""
    run = stress[0].run
    shown = leave_out_ticks(run)
    stimuli = pl.read_parquet(run.folder / "interrupts.parquet")
    calm = stimuli.filter(~pl.col("control") & ~pl.col("tick")).sort("isr_latency_ns")
    latencies = calm["isr_latency_ns"]
    summary = shown.summary(LATENCY)
    assert (summary.n, summary.max) == (len(calm), latencies.max()) and summary.n < run.summary(LATENCY).n
    assert summary.median == latencies[(len(calm) - 1) // 2]
    assert samples(shown, LATENCY)["isr_latency_ns"].sort().equals(latencies)
    assert set(shown.waits.filter(~pl.col("control"))["isr_latency_ns"]) == set(latencies)
    low, high = shown.intervals(LATENCY)["median"]
    assert low <= latencies[(len(calm) - 1) // 2] <= high
    maximum = shown.manifest.maxima[LATENCY.key]
    assert maximum is not None and maximum.tick is False and maximum.value == latencies.max()
    assert shown.summary(TASK).n == len(stimuli.filter(~pl.col("control") & ~pl.col("task_tick")))
    assert shown.summary(CRITICAL) == run.summary(CRITICAL)
    answers, wakes = stimuli["tick"].sum(), stimuli["task_tick"].sum()
    assert shown.notes[-1].startswith(f"A tick may have delayed {answers:,} answers and {wakes:,} task")


def test_a_possible_wait_that_a_tick_made_is_that_of_the_section(stress: list[Series]) -> None:
    run = stress[0].run
    wait = run.manifest.possible_wait
    assert wait is not None
    seen = wait.model_copy(update={"by": "wait", "ns": wait.ns + 1e6})
    ticked = LoadedRun(run.folder, run.manifest.model_copy(update={"possible_wait": seen}), run.id)
    shown = leave_out_ticks(ticked).manifest.possible_wait
    assert shown == wait.model_copy(update={"budget_ns": None})


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": NaN}', "[" * 100_000, '"\\ud800"', "{}"])
def test_no_manifest_text_does_worse_than_a_sentence(folder: Path, text: str) -> None:
    (folder / "run.json").write_text(text)
    with pytest.raises(RunError, match=r"run\.json"):
        load_run(folder)


SOUND = json.loads(
    (write_run(Path(tempfile.mkdtemp()), "s", "a", mem_frag("tlsf", 2)) / "run.json").read_text()
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["n", "max", *KEYS]), inner),
        max_leaves=8,
    ),
    st.sampled_from(sorted(SOUND)),
)
@settings(max_examples=60)
def test_any_value_in_any_field_is_read_or_refused(value: Any, key: str) -> None:
    try:
        manifest = Document(Path("run.json"), {**SOUND, key: value}, RunError).check(Manifest)
    except RunError as error:
        assert str(error).startswith("run.json: ")
    else:
        assert isinstance(manifest, Manifest)


def test_a_run_without_its_capture_is_shown_without_waveforms(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "tlsf", [Operation("A", 16, 1, 300)])
    (folder / "edges.parquet").unlink()
    run = load_run(folder)
    (series,) = by_scenario([run])["mem_stress"]
    assert run.edges is None
    assert "edges.parquet is missing: there are no waveforms." in str(page_of_run(series).blocks[0])


def test_a_truncated_run_may_lack_its_tables(tmp_path: Path) -> None:
    operations = [Operation("A", 16, 1, 300)]
    folder = write_run(tmp_path, "mem_stress", "tlsf", operations, verdict="truncated", reasons=("Cut.",))
    for name in ("operations", "interrupts", "edges"):
        (folder / f"{name}.parquet").unlink()
    run = load_run(folder)
    assert run.operations.is_empty() and run.interrupts.is_empty() and run.edges is None
    assert [note.split(":")[0] for note in run.notes] == [
        "operations.parquet is missing",
        "interrupts.parquet is missing",
    ]
