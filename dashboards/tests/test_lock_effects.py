"""Runs under other locks than the usual: told apart by name, in words that hold for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dashboards.answer import answer
from dashboards.headline import facts, headline
from dashboards.loaded.lanes import lanes
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import by_scenario
from dashboards.report import report_html
from dashboards.tests.synthetic import mem_frag, write_run


def run(folder: Path, **said: Any) -> LoadedRun:
    return load_run(write_run(folder, "mem_frag", "tlsf", mem_frag("tlsf", depths=8), changes=said))


def spoken(*runs: LoadedRun) -> str:
    return " ".join(headline("mem_frag", lanes(by_scenario(runs)["mem_frag"])))


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
    assert [name.manifest.configuration for name in names.values()] == ["tlsf", "tlsf, heap 86,064", "tlsf"]


def test_where_interrupts_are_masked_they_wait(tmp_path: Path) -> None:
    said = spoken(run(tmp_path))
    assert said.startswith("tlsf can keep an interrupt waiting")
    assert "task" not in said


def test_with_the_scheduler_suspended_the_task_waits(tmp_path: Path) -> None:
    said = spoken(run(tmp_path, locking="scheduler"))
    assert said.startswith("tlsf can keep a woken task waiting")


def test_who_masks_and_who_suspends_are_not_ranked_together(tmp_path: Path) -> None:
    runs = [run(tmp_path / lock, locking=lock) for lock in ("basepri", "scheduler", "primask")]
    series = by_scenario(runs)["mem_frag"]
    plot = answer("mem_frag", series, lanes(series))
    assert plot is not None
    assert [(lane.words, len(lane.rows)) for lane in plot.lanes] == [
        ("An interrupt can wait", 2),
        ("A woken task can wait", 1),
    ]
    badges = {(lane.words, row.name, row.badge) for lane in plot.lanes for row in lane.rows}
    assert badges == {
        ("An interrupt can wait", "tlsf", "BASEPRI"),
        ("An interrupt can wait", "tlsf, primask", "PRIMASK"),
        ("A woken task can wait", "tlsf", "scheduler"),
    }
    assert "In 1 of 3 runs the lock masks the control interrupt too." in facts(series, lanes(series))


def test_a_board_without_control_and_dwt_says_so(tmp_path: Path) -> None:
    stimulus = run(tmp_path / "a").manifest.stimulus.model_dump()
    small = run(
        tmp_path / "b",
        locking="primask",
        stimulus={**stimulus, "control_period_ticks": 0},
        asked={"allocator": "tlsf", "board": "nucleo-f072rb"},
    )
    series = by_scenario([small])["mem_frag"]
    text = " ".join(facts(series, lanes(series)))
    assert "1 of 1 runs had no control interrupt, as their board has none." in text
    assert "In 1 of 1 runs TIM2 counted the cycles, as the core has no DWT." in text
    assert "mask the control interrupt" not in text
    page = report_html([small])
    assert "every interrupt is masked while the heap works." in page
    assert "above BASEPRI" not in page
    assert "wire and TIM2 differ by 1 cycle at most" in page
    usual = by_scenario([run(tmp_path / "c")])["mem_frag"]
    assert not [fact for fact in facts(usual, lanes(usual)) if "DWT" in fact or "no control" in fact]


def test_a_name_is_escaped_once_however_it_is_spelt(tmp_path: Path) -> None:
    page = report_html([run(tmp_path, allocator="<b>&", locking="primask")])
    assert "&lt;b&gt;&amp;, primask can keep an interrupt waiting" in page
    assert "&amp;lt;" not in page[: page.index("<main>")]
