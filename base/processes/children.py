"""Programs that are run to their end, or ended: none is
waited for without a bound, none is left behind.

Each has a session of its own, so that Ctrl-C at the terminal does not reach it: who started it ends
it. And the kernel kills it if this program is killed.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from . import signals

PRELOAD = "LD_PRELOAD"
KEPT = "TAILSCOPE_PRELOAD"
"""In the environment of a program that sees emulated devices: what its children would inherit."""


def seen_by(preload: str) -> dict[str, str]:
    """The environment variables by which a program sees devices of the library `preload`."""
    return {PRELOAD: preload, KEPT: preload}


def keep() -> None:
    """Takes the library out of the environment: children see devices only by with_devices()."""
    if KEPT in os.environ:
        os.environ.pop(PRELOAD, None)


def with_devices() -> tuple[str, ...]:
    """The words before the command of a child that talks to devices; none if they are real."""
    return ("env", f"{PRELOAD}={os.environ[KEPT]}") if KEPT in os.environ else ()


def marked(word: str) -> tuple[str, ...]:
    """The command lines of all other live processes with `word`, NAME=VALUE, in the environment."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        try:
            if word.encode() in (process / "environ").read_bytes().split(b"\0"):
                lines.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended, or is another user's
    return tuple(lines)


DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
"""What stands before a command so that it is killed when the thread that started it is gone."""

GRACE_S = 2.0
"""The patience with a process that is to end, before it is killed."""


def run(
    command: Sequence[str | Path],
    *,
    within_s: float,
    folder: Path | None = None,
    stdin: IO[str] | int = subprocess.DEVNULL,
) -> subprocess.CompletedProcess[str]:
    """Runs `command` in `folder` with `stdin` as its input, by itself none, and returns its exit
    status and what it said.

    It is ended with all that it started where it takes longer than `within_s`, or a signal comes.
    A process that it left behind and that still holds its output is not waited for.

    Raises subprocess.TimeoutExpired, signals.Stopped, and OSError where it does not start.
    """
    with signals.orderly():
        signals.check()
        with _memory("stdout") as stdout, _memory("stderr") as stderr:
            process = subprocess.Popen(
                [*DIES_WITH_US, *command],
                cwd=folder,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            ended = False
            try:
                ended = _wait(process, within_s)
            finally:
                if not ended:
                    end(process)
            signals.check()
            if not ended:
                raise subprocess.TimeoutExpired(process.args, within_s)
            return subprocess.CompletedProcess(process.args, process.returncode, _text(stdout), _text(stderr))


def last_words(said: str) -> str:
    """The last line of what a program said: there most give their reason."""
    return (said.strip() or "it does not say why").splitlines()[-1]


def attend(command: Sequence[str | Path]) -> int:
    """Runs a user's `command` as a shell would, and returns its exit status, 128 + n for a signal.

    It has this program's terminal, input and output, and is waited for without a bound. What would
    end this program is passed on to it: a Ctrl-C at the terminal reaches both anyway. It is killed
    if this program is killed. Raises OSError where it does not start.
    """
    process = subprocess.Popen([*DIES_WITH_US, *command])

    def pass_on(number: int) -> None:
        if number != signal.SIGINT or not _in_the_foreground():
            process.send_signal(number)

    with signals.passed_on(pass_on):
        status = process.wait()
    return 128 - status if status < 0 else status


def _in_the_foreground() -> bool:
    """True if a Ctrl-C typed at the terminal comes to this program, and so to its children."""
    with suppress(OSError), Path("/dev/tty").open("rb", buffering=0) as terminal:
        return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    return False


def end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Ends a process that has a session of its own, and all of its group, within twice GRACE_S."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)


def _wait(process: subprocess.Popen[bytes], within_s: float) -> bool:
    """Waits for the end of `process`; False where `within_s` passed or a signal came before."""
    deadline_s = time.monotonic() + within_s
    descriptor = os.pidfd_open(process.pid)
    try:
        while not select.select([descriptor], [], [], signals.POLL_S)[0]:
            if signals.asked() is not None or time.monotonic() >= deadline_s:
                return False
    finally:
        os.close(descriptor)
    process.wait()
    return True


def _memory(name: str) -> IO[bytes]:
    return os.fdopen(os.memfd_create(name), "w+b")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return str(file.read().decode(errors="replace"))
