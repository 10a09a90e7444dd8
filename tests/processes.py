"""The processes that a test started, those that they started, and their ports.

Each carries the test's mark in its environment.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from base.paths import ROOT
from base.processes.children import marked
from simulator.desk import EmulatedDesk

MARKER = "TAILSCOPE_TEST_RUN"
WITHIN_S = 1_200.0
PATIENCE_S = 900.0
"""Only a test that fails waits so long, however loaded the machine is."""


def processes_of(mark: str) -> list[str]:
    """The command lines of all other live processes that carry `mark`."""
    return list(marked(f"{MARKER}={mark}"))


def sigrok_is_running(mark: str) -> bool:
    """Whether a capture of the test is under way."""
    return any("sigrok-cli" in command for command in processes_of(mark))


def seeing(desk: EmulatedDesk, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What came of a program that sees the USB devices of an emulated desk."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **desk.environment, **environment},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def wait_until(condition: Callable[[], bool]) -> bool:
    """Waits for `condition` for PATIENCE_S at most, and returns whether it came true."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as candidate:
        candidate.bind(("127.0.0.1", 0))
        return int(candidate.getsockname()[1])
