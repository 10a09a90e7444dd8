"""What Tab completes: the candidates, and a real bash and zsh that ask for them."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from base.files.errors import TailscopeError
from base.paths import ROOT
from cli import known
from cli.commands import commands
from cli.completion import candidates, script
from firmware.build import catalogue as heaps

RUNS = Path("runs")
WITHIN_S = 20.0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("./lab scen", ["scenario"]),
        ("lab f", ["faults", "fragmentation", "footprint"]),
        ("./lab --v", ["--version"]),
        ("ZEPHYR_PATH=x ../lab scenario mem_f", ["mem_frag"]),
        ("./lab scenario mem_f", ["mem_frag"]),
        ("./lab scenario mem_frag --al", ["--allocator="]),
        ("./lab scenario mem_frag --allocator tlsf_c", ["tlsf_compact", "tlsf_conte", "tlsf_crate"]),
        ("./lab scenario mem_frag --allocator=tlsf_comp", ["--allocator=tlsf_compact"]),
        ("./lab scenario mem_frag --allocator seglist,o1", ["seglist,o1heap"]),
        ("./lab scenario mem_frag --art ", ["on", "off", "on,off"]),
        ("./lab scenario mem_frag --parameter de", ["depth="]),
        ("./lab scenario mem_frag --full --board nu", ["nucleo"]),
        ("./lab fragmentation x --no-s", ["--no-search"]),
        ("./lab soak --runs ", []),
        ("./lab wiring ", ["plan", "check"]),
        ("./lab completion z", ["zsh"]),
        ("./lab record -- ls --he", []),
        ("./lab nothing --al", []),
        ("", [*commands(), "--help", "--version"]),
    ],
)
def test_candidates(line: str, expected: list[str]) -> None:
    assert candidates(line, RUNS) == expected


def test_all_names_are_completed() -> None:
    assert candidates("./lab ", RUNS)[:-2] == list(commands())
    assert candidates("./lab scenario ", RUNS) == known.scenarios()
    assert candidates("./lab contract --allocator ", RUNS) == ["all", *heaps.allocators()]
    flags = candidates("./lab scenario mem_frag -", RUNS)
    assert {flag.rstrip("=") for flag in flags} == {*commands()["scenario"].flags, "--help"}


def test_runs_are_completed_the_latest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["20260101T000000Z-mem_frag-tlsf-virtual", "20260102T000000Z-mem_frag-tlsf-virtual"]
    for name in names:
        (tmp_path / "runs" / name).mkdir(parents=True)
    monkeypatch.setattr("cli.completion.ROOT", tmp_path)
    monkeypatch.setattr("cli.known.ROOT", tmp_path)
    assert candidates("./lab explain runs/2026", RUNS) == [f"runs/{name}" for name in reversed(names)]
    assert candidates("./lab dashboard x --output y runs/20260101", RUNS) == [f"runs/{names[0]}"]
    assert candidates("./lab decode f.sr --run runs/20260102", RUNS) == [f"runs/{names[1]}"]


def test_another_shell_is_a_sentence() -> None:
    with pytest.raises(TailscopeError, match=r"no completion for the shell 'bsah'\. Did you mean bash"):
        script("bsah")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_is_one_that_the_shell_reads(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    subprocess.run([shell, "-n"], input=script(shell), text=True, check=True)


class Typed:
    """A shell on a terminal of its own."""

    def __init__(self, *command: str) -> None:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(ROOT)
            words = {"PS1": "$ ", "TERM": "dumb", "INPUTRC": "/dev/null", "COLUMNS": "300"}
            os.execvpe(command[0], list(command), {**os.environ, **words})

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def shown(self, pattern: str) -> str:
        """What is shown until the pattern is; all of it if that takes too long."""
        text, deadline_s = "", time.monotonic() + WITHIN_S
        while not re.search(pattern, text) and time.monotonic() < deadline_s:
            if select.select([self._terminal], [], [], 0.1)[0]:
                text += os.read(self._terminal, 65_536).decode(errors="replace")
        return text

    def leave(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)


TYPED = [
    ("./lab scen", "./lab scenario "),
    ("./lab scenario mem_f", "./lab scenario mem_frag "),
    ("./lab scenario mem_frag --allo", "--allocator="),
    ("./lab scenario mem_frag --allocator=tlsf_comp", "--allocator=tlsf_compact "),
    ("./lab scenario mem_frag --allocator seglist,o1", "seglist,o1heap "),
    ("./lab scenario mem_frag --parameter=dep", "--parameter=depth="),
    ("./lab wiring pl", "./lab wiring plan "),
    ("true && ZEPHYR_PATH=x ./lab wiring pl", "./lab wiring plan "),
]


@pytest.fixture(scope="module")
def bash() -> Iterator[Typed]:
    shell = Typed("bash", "--norc", "--noprofile", "-i")
    shell.type(f'eval "$({sys.executable} -m cli completion bash)"; echo re""ady\n')
    assert "ready" in shell.shown(r"ready\r?\n")
    yield shell
    shell.leave()


@pytest.mark.parametrize(("text", "expected"), TYPED)
def test_a_real_bash_completes(bash: Typed, text: str, expected: str) -> None:
    bash.type(f"{text}\t")
    shown = bash.shown(re.escape(expected))
    bash.type("\x15")  # the line is dropped
    assert expected in shown, shown
    if expected.endswith("="):
        assert not shown.endswith("= ")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_a_real_zsh_completes(tmp_path: Path) -> None:
    shell = Typed("zsh", "-f", "-i")
    try:
        shell.type(f'HOME={tmp_path}; eval "$({sys.executable} -m cli completion zsh)"; echo re""ady\n')
        assert "ready" in shell.shown(r"ready\r?\n")
        shell.type("./lab scenario mem_f\t")
        assert "mem_frag" in shell.shown("mem_frag")
    finally:
        shell.leave()
