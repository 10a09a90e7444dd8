# spans: dashboards/figures, dashboards/headline.py, dashboards/report.py
"""Runs under other locks than the usual: told apart by name, in words that hold for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dashboards.figures.latency_by_depth import task_latency_by_depth
from dashboards.headline import headline
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import by_scenario
from dashboards.report import report_html
from dashboards.tests.as_plotly import as_plotly
from dashboards.tests.synthetic import mem_frag, write_run


def run(folder: Path, **said: Any) -> LoadedRun:
    written = write_run(folder, "mem_frag", "tlsf", mem_frag("tlsf", depths=8))
    path = written / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    return load_run(written)


def spoken(*runs: LoadedRun) -> str:
    return " ".join(headline("mem_frag", by_scenario(runs)["mem_frag"]))


def test_what_is_not_as_usual_is_part_of_the_name(tmp_path: Path) -> None:
    usual = run(tmp_path / "a", locking="basepri", knobs={"TLSF_SLOTS": "16"}, turned_knobs={})
    other = run(tmp_path / "b", locking="scheduler", turned_knobs={"TLSF_SLOTS": "8"})
    assert usual.manifest.configuration == "tlsf"
    assert other.manifest.configuration == "tlsf, scheduler, TLSF_SLOTS=8"
    assert run(tmp_path / "c").manifest.locking == "basepri"


def test_another_heap_than_the_usual_is_part_of_the_name(tmp_path: Path) -> None:
    firmware = run(tmp_path / "a").manifest.firmware.model_dump()
    names = {
        heap_bytes: run(tmp_path / str(heap_bytes), firmware={**firmware, "heap_bytes": heap_bytes})
        for heap_bytes in (65_536, 86_064, None)
    }
    assert [one.manifest.configuration for one in names.values()] == ["tlsf", "tlsf, heap 86,064", "tlsf"]


def test_where_interrupts_are_masked_the_control_interrupt_is_the_witness(tmp_path: Path) -> None:
    said = spoken(run(tmp_path))
    assert "The control interrupt, which no critical section masks, waited at most" in said
    assert "scheduler" not in said
    assert "task" not in said


def test_with_the_scheduler_suspended_the_task_is_what_waits(tmp_path: Path) -> None:
    said = spoken(run(tmp_path, locking="scheduler"))
    assert "The task that an interrupt wakes waited at most" in said
    assert "With tlsf, scheduler only the scheduler is suspended" in said
    assert "The control interrupt, which no critical section masks" in said


def test_primask_leaves_no_control(tmp_path: Path) -> None:
    said = spoken(run(tmp_path, locking="primask"))
    assert "which no critical section masks" not in said
    assert "With tlsf, primask every interrupt is masked while the heap works" in said


def test_a_name_is_escaped_once_however_it_is_spelt(tmp_path: Path) -> None:
    page = report_html([run(tmp_path, allocator="<b>&", locking="primask")])
    assert "With &lt;b&gt;&amp;, primask every interrupt is masked" in page
    assert "&amp;lt;" not in page[: page.index("<main>")]


def test_the_task_has_its_figure_where_a_lock_lets_interrupts_through(tmp_path: Path) -> None:
    masked = by_scenario([run(tmp_path / "a")])["mem_frag"]
    assert task_latency_by_depth(masked) is None
    suspended = run(tmp_path / "b", locking="scheduler")
    chart = task_latency_by_depth(by_scenario([suspended])["mem_frag"])
    assert chart is not None
    singles = as_plotly(chart.figure).data[0]
    depths = suspended.operations.select(operation_seq="seq", depth="depth").drop_nulls()
    due = suspended.answered.join(depths, on="operation_seq").drop_nulls("task_latency_ns")["task_latency_ns"]
    assert len(due) > 0
    assert sorted(singles.y) == sorted(due)
    assert max(as_plotly(chart.figure).data[1].y) == due.max()
