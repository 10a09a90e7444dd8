"""Runs under other locks than the usual: told apart by name, in words that hold for them."""

from __future__ import annotations

from pathlib import Path

from dashboards.answer import answer
from dashboards.loaded.lanes import lanes
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import by_scenario
from dashboards.report import report_html
from dashboards.tests.synthetic import mem_frag, write_run


def run(folder: Path, **said: object) -> LoadedRun:
    return load_run(write_run(folder, "mem_frag", "tlsf", mem_frag("tlsf", depths=8), changes=said))


def test_who_masks_and_who_suspends_are_not_ranked_together(tmp_path: Path) -> None:
    runs = [run(tmp_path / lock, locking=lock) for lock in ("basepri", "scheduler", "primask")]
    series = by_scenario(runs)["mem_frag"]
    groups = answer("mem_frag", series, lanes(series)).groups
    assert [(group.words, len(group.lines)) for group in groups] == [
        ("An interrupt can wait", 2),
        ("A woken task can wait", 1),
    ]
    locks = {(group.words, line.name, line.cells[-1].text) for group in groups for line in group.lines}
    assert locks == {
        ("An interrupt can wait", "tlsf", "BASEPRI"),
        ("An interrupt can wait", "tlsf, primask", "PRIMASK"),
        ("A woken task can wait", "tlsf", "scheduler"),
    }


def test_a_board_without_control_and_dwt_says_so(tmp_path: Path) -> None:
    stimulus = run(tmp_path / "a").manifest.stimulus.model_dump()
    small = run(
        tmp_path / "b",
        locking="primask",
        stimulus={**stimulus, "control_period_ticks": 0},
        asked={"allocator": "tlsf", "board": "nucleo-f072rb"},
    )
    page = report_html([small])
    assert "every interrupt is masked while the heap works." in page
    assert "above BASEPRI" not in page
    assert "wire and TIM2 differ by 1 cycles at most" in page


def test_a_name_is_escaped_once_however_it_is_spelt(tmp_path: Path) -> None:
    page = report_html([run(tmp_path, allocator="<b>&", locking="primask")])
    assert "&lt;b&gt;&amp; with primask can keep an interrupt waiting" in page
    assert "&amp;lt;" not in page[: page.index("<main>")]
