"""Progress: n of m, what time is left, and lines where there is no terminal."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from cli.shell.under_way import Counted, Steps


def test_the_time_left_is_that_of_the_steps_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    lines: list[str] = []
    counted, done = Counted(lines.append, 3), Counted(lines.append, 20)
    for step in ("a", "b", "c"):
        counted(step)
        now_s += 10.0
    done("d", over=1)
    assert lines[:3] == ["1 of 3: a", "2 of 3, about 20 s left: b", "3 of 3, about 10 s left: c"]
    assert lines[3:] == ["1 of 20, about 10 min left: d"]


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
