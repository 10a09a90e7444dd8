"""`./lab test`: every check of the project, side by side, as many at a time as there are cores."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from base.paths import CACHE, ROOT
from base.processes import tools
from cli.shell import under_way
from cli.shell.declare import argument, declare, option

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cli._checks import Check

STYLE = "style"
"""A word beside the names of rooms: only the checks that look at sources and run nothing."""
State = Literal["passed", "failed", "skipped"]


@declare("Set up", of_checkout=True)
@argument("room", "folders such as simulator, capture/verdict or heap/tlsf, or style; all without", nargs=-1)
@option("--all", "everything", "also the tests that take long")
def command(room: tuple[str, ...], everything: bool) -> int:
    """Run the checks of the project, or those of the given rooms."""
    outcomes = []
    for outcome in side_by_side(chosen(room, everything), again=everything or bool(room)):
        title = f"{outcome.check.name}: {outcome.state} ({outcome.seconds:.0f} s)"
        print(f"\n== {title}\n{outcome.output}".rstrip(), flush=True)
        outcomes.append(outcome)
    failed = [f"failed: {outcome.check.name}" for outcome in outcomes if outcome.state == "failed"]
    states = Counter(outcome.state for outcome in outcomes)
    counts = ", ".join(f"{number} {state}" for state, number in states.items())
    print("", *failed, f"checks: {counts}", sep="\n", flush=True)
    return int(bool(failed))


def chosen(words: Iterable[str], everything: bool = False) -> list[Check]:
    """The checks of the rooms with these names, or of all if there are none, each of them once.
    With `everything` those that are long, too. Raises RoomError.
    """
    from cli import _checks as checks

    wanted = list(words)
    checks_by_name: dict[str, Check] = {}
    for room in [checks.room_of(word) for word in wanted if word != STYLE] or [checks.WHOLE]:
        of_room = checks.checks_of(room, everything)
        if not of_room:
            raise checks.RoomError(f"Nothing is checked in {room}: choose {room.folder.parts[0]}.")
        checks_by_name.update((check.name, check) for check in of_room)
    return [check for check in checks_by_name.values() if check.style or STYLE not in wanted]


@dataclass(frozen=True)
class Outcome:
    """How a check ended, all that it printed, and how many seconds it took."""

    check: Check
    state: State
    output: str = ""
    seconds: float = 0.0


def side_by_side(checks: Sequence[Check], slots: int | None = None, again: bool = True) -> Iterator[Outcome]:
    """Yields the outcome of each check as it ends.

    If a check fails, those that need it fail without running; all others run. Of the checks that
    could begin, the first in the list does. `slots` is how many run at a time; None is as many as
    there are cores. Without `again`, what passed before with the same sources and tools has passed.
    """
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    slots = slots or os.cpu_count() or 1
    waiting = list(checks)
    names = {check.name for check in checks}
    states: dict[str, State] = {}
    running: set[Future[Outcome]] = set()
    with ThreadPoolExecutor(slots) as pool:
        while waiting or running:
            ready = [check for check in waiting if names & {*check.needs} <= {*states}]
            for check in ready[: slots - len(running)]:
                waiting.remove(check)
                lacking = [name for name in check.needs if states.get(name, "passed") != "passed"]
                under_way.tell_step(check.name)
                running.add(pool.submit(_outcome, check, lacking, again))
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                outcome = future.result()
                states[outcome.check.name] = outcome.state
                yield outcome


def _outcome(check: Check, lacking: Sequence[str], again: bool) -> Outcome:
    if lacking:
        return Outcome(check, "failed", f"Not run: it needs {' and '.join(lacking)}.\n")
    if check.tool is not None and not tools.is_installed(check.tool):
        return Outcome(check, "skipped", f"{check.tool} is not installed: ./lab doctor says how.\n")
    note = _note(check)
    if note and not again and note.exists():
        return Outcome(check, "passed", "With the same sources and tools before; --all runs it again.\n")
    environment = {
        **os.environ,
        # Also where somebody has turned that off: hundreds of processes would compile every module.
        "PYTHONDONTWRITEBYTECODE": "",
        # The allocators have most sources in common. With ccache their builds differ in no bit.
        **({"CMAKE_C_COMPILER_LAUNCHER": "ccache"} if tools.is_installed("ccache") else {}),
        "CCACHE_DIR": str(CACHE / "ccache"),
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
    }
    start_s = time.monotonic()
    with tempfile.TemporaryFile() as output:

        def succeeds(command: Sequence[str]) -> bool:
            try:
                done = subprocess.run(
                    command,
                    cwd=ROOT / check.folder,
                    check=False,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
                return done.returncode == 0
            except OSError as error:
                output.write(f"{command[0]} does not start: {error.strerror}.\n".encode())
                return False

        passed = all(map(succeeds, check.commands))
        output.seek(0)
        text = output.read().decode(errors="replace")
    if note and passed:
        with suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()
    return Outcome(check, "passed" if passed else "failed", text, time.monotonic() - start_s)


def _note(check: Check) -> Path | None:
    """The file that is there once the check passed with these sources and tools."""
    import hashlib

    from base import source_digest

    if not check.sources:
        return None
    words = [word for command in check.commands for word in command]
    states = source_digest.tools({"cc", "clippy-driver", *words})
    digests = (source_digest.digest(room, leave_out=(".md",)) for room in check.sources.split())
    note = "\0".join([check.name, *words, *states, *digests])
    return CACHE / "passed" / hashlib.sha256(note.replace(str(ROOT), "").encode()).hexdigest()
