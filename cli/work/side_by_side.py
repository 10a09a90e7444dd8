"""Runs checks side by side, as many at a time as there are cores."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from base import source_digest
from base.paths import CACHE, ROOT
from base.processes import tools
from cli.work.checks import Check

_COMPILED_ONCE = {
    # Also where somebody has turned that off: hundreds of processes would compile every module.
    "PYTHONDONTWRITEBYTECODE": "",
    # The allocators have most sources in common. With ccache their builds differ in no bit.
    **({"CMAKE_C_COMPILER_LAUNCHER": "ccache"} if tools.is_installed("ccache") else {}),
    "CCACHE_DIR": str(CACHE / "ccache"),
    "CCACHE_BASEDIR": str(ROOT),
    "CCACHE_NOHASHDIR": "1",
}

State = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Outcome:
    """How a check ended, all that it printed, and how many seconds it took."""

    check: Check
    state: State
    output: str = ""
    seconds: float = 0.0


def run(
    checks: Sequence[Check],
    tell: Callable[[list[str]], None] = lambda _: None,
    slots: int | None = None,
    again: bool = True,
) -> Iterator[Outcome]:
    """Yields the outcome of each check as it ends.

    If a check fails, those that need it fail without running; all others run. Of the checks that
    could begin, the first in the list does. `tell` gets the names of those under way each time that
    this changes. `slots` is how many run at a time; None is as many as there are cores. Without
    `again`, what passed before with the same sources and tools has passed.
    """
    slots = slots or os.cpu_count() or 1
    waiting = list(checks)
    needed = {
        check.name: [name for name in check.needs if name in {c.name for c in checks}] for check in checks
    }
    states: dict[str, State] = {}
    under_way: dict[Future[Outcome], Check] = {}
    with ThreadPoolExecutor(slots) as pool:
        while waiting or under_way:
            ready = [check for check in waiting if all(name in states for name in needed[check.name])]
            for check in ready[: slots - len(under_way)]:
                waiting.remove(check)
                lacking = [name for name in needed[check.name] if states[name] != "passed"]
                under_way[pool.submit(_outcome, check, lacking, again)] = check
            tell([check.name for check in under_way.values()])
            ended, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in ended:
                states[under_way.pop(future).name] = future.result().state
                yield future.result()


def _outcome(check: Check, lacking: Sequence[str], again: bool) -> Outcome:
    if lacking:
        return Outcome(check, "failed", f"Not run: it needs {' and '.join(lacking)}.\n")
    if check.tool is not None and not tools.is_installed(check.tool):
        return Outcome(check, "skipped")
    note = _note(check)
    if note and not again and note.exists():
        return Outcome(check, "passed", "With the same sources and tools before; --all runs it again.\n")
    start_s = time.monotonic()
    with tempfile.TemporaryFile() as output:
        passed = all(_succeeds(command, check.folder, output) for command in check.commands)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if note and passed:
        with suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()
    return Outcome(check, "passed" if passed else "failed", text, time.monotonic() - start_s)


def _note(check: Check) -> Path | None:
    """The file that is there once the check passed with these sources and tools."""
    if not check.sources:
        return None
    words = sum(check.commands, ())
    states = source_digest.tools({"cc", "clippy-driver", *words})
    digests = (source_digest.digest(room, leave_out=(".md",)) for room in check.sources.split())
    words = (check.name, *words, *states, *digests)
    digest = hashlib.sha256("\0".join(words).replace(str(ROOT), "").encode()).hexdigest()
    return CACHE / "passed" / digest


def _succeeds(command: Sequence[str], folder: Path, output: IO[bytes]) -> bool:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            check=False,
            env={**os.environ, **_COMPILED_ONCE},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        output.write(f"{command[0]} does not start: {error.strerror}.\n".encode())
        return False
    return done.returncode == 0
