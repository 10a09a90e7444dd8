"""Progress: n of m, what time is left, and lines where there is no terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from base.run_folder.progress_file import Section, SoFar
from cli.work import progress, so_far_words
from cli.work.progress import Counted, Steps


def test_the_time_left_is_that_of_the_steps_so_far() -> None:
    now_s = [0.0]
    lines: list[str] = []
    counted = Counted(lines.append, 3, lambda: now_s[0])
    for step in ("a", "b", "c"):
        counted(step)
        now_s[0] += 10.0
    assert lines == ["1 of 3: a", "2 of 3, about 20 s left: b", "3 of 3, about 10 s left: c"]


def test_where_more_follows_the_time_says_until_what() -> None:
    now_s = [0.0]
    lines: list[str] = []
    counted = Counted(lines.append, 2, lambda: now_s[0], until="to build, then 54 runs")
    for step in ("a", "b"):
        counted(step)
        now_s[0] += 10.0
    assert lines == ["1 of 2: a", "2 of 2, about 10 s to build, then 54 runs: b"]


def test_steps_side_by_side_are_told_as_they_end() -> None:
    now_s = [0.0]
    lines: list[str] = []
    counted = Counted(lines.append, 2, lambda: now_s[0])
    now_s[0] = 300.0
    counted.done("a")
    assert lines == ["1 of 2, about 5 min left: a: done"]


def test_a_single_step_has_no_number() -> None:
    lines: list[str] = []
    Counted(lines.append, 1)("alone")
    assert lines == ["alone"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "1 s"), (41.4, "41 s"), (99.0, "99 s"), (120.0, "2 min"), (7500.0, "2 h 5 min")],
)
def test_a_duration_is_as_exact_as_an_estimate(seconds: float, words: str) -> None:
    assert progress.duration(seconds) == words


def shown(steps: list[str], every_s: float) -> list[str]:
    console = Console(file=io.StringIO(), width=40, force_terminal=False)
    with console.status("") as status:
        tell = Steps(status, every_s)
        for step in steps:
            tell(step)
        tell.line("[stays]")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_without_a_terminal_steps_are_lines_but_not_too_many() -> None:
    steps = [f"step {number} of a length that would not fit" for number in range(3)]
    assert shown(steps, every_s=0.0) == [*steps, "[stays]"]
    assert shown(steps, every_s=60.0) == [steps[0], "[stays]"]


def test_what_a_run_has_shown_is_a_line() -> None:
    so_far = SoFar(
        scenario="mem_frag",
        allocator="tlsf",
        board="virtual",
        run=1,
        runs=1,
        left_s=None,
        began="",
        elapsed_s=1.0,
        step="capturing",
        operations=1659,
        planned_operations=2304,
        operations_per_s=8565.9,
        samples=250,
        asked_samples=1000,
        critical=Section(seq=664, size=120, cycles=534, ns=6357.1),
        free=None,
    )
    assert so_far_words.of(so_far) == (
        "1,659 of 2,304 operations, 8,566 a second, 25% of the samples; "
        "longest critical section so far 6.36 µs by DWT, operation 664"
    )
    nothing = so_far.model_copy(update={"operations": None, "critical": None, "samples": None})
    assert so_far_words.of(nothing) == ""
