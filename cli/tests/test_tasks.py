"""The invoke tasks: each calls its command with what stands behind --."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
from invoke.program import Program

from base.paths import ROOT
from cli.shell import start
from tests.tables import table

NAMES = {
    *("demo", "scenario", "dashboard", "app", "pulseview", "wiring", "build", "test", "site"),
    *("clean", "doctor"),
}


def invoke(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "invoke", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)


def test_the_tasks_are_listed() -> None:
    done = invoke("--list")
    listed = {
        line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line[2] != " "
    }
    assert (listed, done.returncode) == (NAMES, 0)


@table
def test_a_task_calls_its_command(line: str, called: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def main(words: Sequence[str]) -> int:
        lines.append(" ".join(words))
        return 7

    monkeypatch.setattr(start, "main", main)
    with pytest.raises(SystemExit) as left:
        Program().run(["invoke", "--search-root", str(ROOT), *line.split()])
    assert (lines, left.value.code) == ([called], 7)
