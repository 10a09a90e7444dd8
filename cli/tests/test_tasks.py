"""The invoke tasks: each calls its command, with the options that the command declares."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
from invoke.program import Program

from base.paths import ROOT
from cli.shell import start

NAMES = {
    *("demo", "scenario", "dashboard", "app", "pulseview", "wiring", "build", "test", "bench", "site"),
    *("clean", "doctor"),
}


def invoke(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "invoke", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)


def test_a_dozen_tasks_are_listed() -> None:
    done = invoke("--list")
    listed = {
        line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line[2] != " "
    }
    assert (listed, done.returncode) == (NAMES, 0)


@pytest.mark.parametrize(
    ("line", "called"),
    [
        (
            "scenario mem_frag --knob A=1 --knob B=2 --json -- --art off",
            "scenario --knob=A=1 --knob=B=2 --json mem_frag --art off",
        ),
        ("dashboard -- a b", "dashboard a b"),
        ("pulseview run --worst", "pulseview --worst run"),
        ("wiring plan --board nucleo", "wiring --board=nucleo plan"),
        ("test --room cli --room base", "test cli base"),
        ("bench capture --repeats 1", "dev bench --repeats=1 capture"),
        ("clean", "dev clean"),
    ],
)
def test_a_task_calls_its_command(line: str, called: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def main(words: Sequence[str]) -> int:
        lines.append(" ".join(words))
        return 7

    monkeypatch.setattr(start, "main", main)
    with pytest.raises(SystemExit) as left:
        Program().run(["invoke", "--search-root", str(ROOT), *line.split()])
    assert (lines, left.value.code) == ([called], 7)
