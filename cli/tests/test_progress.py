"""Progress: n of m, and lines where there is no terminal."""

from __future__ import annotations

import io

from rich.console import Console

from cli.shell.under_way import Counted, Steps


def test_steps_are_counted() -> None:
    lines: list[str] = []
    counted = Counted(lines.append, 2)
    counted("a")
    counted("b")
    assert lines == ["1 of 2: a", "2 of 2: b"]


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
