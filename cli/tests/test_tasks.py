"""The invoke tasks: each calls its command, with the options that the command declares."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence

import pytest
from invoke.program import Program

import tasks
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
        ("demo --full", "demo --full"),
        ("scenario mem_frag --allocator tlsf", "scenario --allocator=tlsf mem_frag"),
        (
            "scenario mem_frag --knob A=1 --knob B=2 --json -- --art off",
            "scenario --knob=A=1 --knob=B=2 --json mem_frag --art off",
        ),
        ("dashboard --all", "dashboard --all"),
        ("dashboard -- a b", "dashboard a b"),
        ("app --port 0", "app --port=0"),
        ("pulseview run --worst", "pulseview --worst run"),
        ("wiring plan --board nucleo", "wiring --board=nucleo plan"),
        ("build --allocator tlsf", "dev build --allocator=tlsf"),
        ("test", "test"),
        ("test --room cli --room base", "test cli base"),
        ("bench capture --repeats 1", "dev bench --repeats=1 capture"),
        ("site --output x", "dev site --output=x"),
        ("clean", "dev clean"),
        ("doctor --json", "doctor --json"),
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


def test_a_task_does_what_its_command_does() -> None:
    done = invoke("wiring", "plan", "--board", "nucleo")
    assert ("nucleo, Nucleo-F401RE: fx2lafw" in done.stdout, done.returncode) == (True, 0), done.stderr


def test_a_refusal_is_that_of_the_command() -> None:
    done = invoke("scenario", "mem_frga")
    assert (done.returncode, done.stderr) == (
        2,
        "There is no scenario 'mem_frga'. Did you mean mem_frag?\n",
    )


def test_a_task_is_a_docstring_alone() -> None:
    tree = ast.parse((ROOT / "tasks.py").read_text(encoding="utf-8"))
    bodies = {node.name: node.body for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(bodies) == NAMES and all(len(body) == 1 for body in bodies.values())
    assert all(ast.get_docstring(node) for node in tree.body if isinstance(node, ast.FunctionDef))
    assert tasks.__doc__
