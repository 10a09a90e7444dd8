"""What Tab completes: the candidates, and a real bash, zsh and fish that ask for them."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete

from base.paths import ROOT
from cli.shell import start, values
from firmware.build import boards

WITHIN_S = 240.0
NUCLEOS = sorted(boards.names())


def completions(line: str) -> list[CompletionItem[str]]:
    *words, incomplete = line.split(" ")
    return ShellComplete(start.lab(), {}, "lab", "").get_completions(words, incomplete)


def candidates(line: str) -> list[str]:
    return [item.value for item in completions(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("scen", ["scenario"]),
        ("d", ["dashboard", "demo", "dev", "doctor"]),
        ("scenario mem_f", ["mem_frag"]),
        ("scenario mem_frag --allocator tlsf_c", ["tlsf_compact", "tlsf_conte", "tlsf_crate"]),
        ("scenario mem_frag --allocator seglist,o1", ["seglist,o1heap"]),
        ("scenario mem_frag --art on,", ["on,off"]),
        ("scenario mem_frag --full --board virtual:", [f"virtual:{name}" for name in NUCLEOS]),
        ("heap fragmentation x --no-s", ["--no-search"]),
        ("wiring ", ["plan", "check"]),
    ],
)
def test_candidates(line: str, expected: list[str]) -> None:
    assert candidates(line) == expected


def test_runs_are_completed_the_latest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["20260101T000000Z-mem_frag-tlsf-virtual", "20260102T000000Z-mem_frag-tlsf-virtual"]
    for name in names:
        (tmp_path / "runs" / name).mkdir(parents=True)
    monkeypatch.setattr(values, "RUNS", tmp_path / "runs")
    assert candidates("explain runs/2026") == [f"runs/{name}" for name in reversed(names)]
    assert candidates("dashboard x --output y runs/20260101") == [f"runs/{names[0]}"]
    assert candidates("observe f.sr --run runs/20260102") == [f"runs/{names[1]}"]
    (item,) = completions("redecode elsewhere/")
    assert (item.value, item.type) == ("elsewhere/", "dir")


class Typed:
    """A shell on a terminal of its own."""

    def __init__(self, *command: str) -> None:
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            words = {"PS1": "$ ", "TERM": "dumb", "INPUTRC": "/dev/null", "COLUMNS": "300"}
            os.execvpe(command[0], list(command), {**os.environ, **words})

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def shown(self, pattern: str) -> str:
        """What is shown until the pattern is; all of it if that takes too long."""
        text, deadline_s = "", time.monotonic() + WITHIN_S
        while not re.search(pattern, text) and time.monotonic() < deadline_s:
            if select.select([self.terminal], [], [], 0.1)[0]:
                text += os.read(self.terminal, 65_536).decode(errors="replace")
        return text


TYPED = [
    ("./lab scenario mem_frag --allocator seglist,o1", "seglist,o1heap "),
    ("./lab masks bench.to", "./lab masks bench.toml "),
]


@pytest.fixture(scope="module")
def bash() -> Iterator[Typed]:
    shell = Typed("bash", "--norc", "--noprofile", "-i")
    shell.type(f'eval "$({sys.executable} -m cli completion bash)"; echo re""ady\n')
    assert "ready" in shell.shown(r"ready\r?\n")
    yield shell
    os.kill(shell.pid, signal.SIGKILL)
    os.waitpid(shell.pid, 0)
    os.close(shell.terminal)


@pytest.mark.parametrize(("text", "expected"), TYPED)
def test_a_real_bash_completes(bash: Typed, text: str, expected: str) -> None:
    bash.type(f"{text}\t")
    shown = bash.shown(re.escape(expected))
    bash.type("\x15")  # the line is dropped
    assert expected in shown, shown
