"""A shell may close the command's streams, fill the disk behind them, stop reading, or end it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from base.paths import ROOT

LIST, WRONG = "list", "redecode /nonexistent"


def shell(command: str, after: str) -> subprocess.CompletedProcess[str]:
    line = f"{sys.executable} -m cli {command} {after}"
    return subprocess.run(
        ["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize(
    ("command", "after", "status", "sentence"),
    [
        (LIST, "<&- >&- 2>&-", 0, ""),
        (LIST, ">/dev/full", 1, "The output cannot be written: the disk is full, make room and run again."),
        (WRONG, "2>/dev/full", 2, ""),
    ],
)
def test_a_stream_that_fails_is_one_sentence_at_most(
    command: str, after: str, status: int, sentence: str
) -> None:
    done = shell(command, after)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == bool(sentence)


def test_a_reader_that_leaves_ends_the_command_in_silence() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "cli", LIST]
    done = subprocess.run(
        command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_while_the_first_modules_load_is_one_sentence() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "cli", LIST]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if line.endswith("base.files.errors\n"):  # long before main() runs
                run.send_signal(signal.SIGINT)
                break
        said, complaints = run.communicate(timeout=300)
    assert (run.returncode, said) == (130, "")
    assert complaints.splitlines()[-1] == "Stopped by Ctrl-C."
    assert "Traceback" not in complaints
