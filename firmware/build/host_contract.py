"""The contract tests of one allocator on this machine, with sanitizers: builds and calls them.

`judge` runs a list of operations and says which rule the last one broke. The suites are those
that ./lab test runs on ours. Whatever the allocator does, each program ends: at its own limit, or
killed.
"""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from base.paths import COMPILED, ROOT
from base.processes import children
from firmware.build import host_heap
from firmware.build.cmake_build import Build
from firmware.build.host_heap import HostHeapError

_SOURCE = ROOT / "firmware" / "heap" / "tests"
_BUILDS = COMPILED / "heap-tests"
_SUITE_WITHIN_S = 120.0
_GRACE_S = 30.0
"""How much longer than its own limit the judge may take on a machine that does other things."""

_SANITIZER = 0
_DEATHS = {_SANITIZER: "sanitizer", signal.SIGALRM: "never_returns", signal.SIGKILL: "never_returns"}
_SAID = re.compile(
    r"(?:^|/)(?P<where>[^/\n:]+:[0-9]+:)(?:[0-9]+: runtime error:|(?= required:)) (?P<why>.*)$", re.MULTILINE
)
"""Of a sanitizer, and of heap/require.h."""
_ASAN = re.compile(r"ERROR: AddressSanitizer: (?P<why>[\w-]+)")
_FRAME = re.compile(r"^ *#[0-9]+ .* in (?P<where>\w+ \S+/[^/\s]+:[0-9]+)", re.MULTILINE)


class Judged(NamedTuple):
    """`places` says of each operation what judge.c prints. `outcome` is its last line."""

    places: Sequence[str]
    outcome: Sequence[str]
    reason: str = ""
    """What a sanitizer or a requirement (heap/require.h) said, in a line."""

    @property
    def holds(self) -> bool:
        """Whether no rule was broken."""
        return self.outcome[0] == "holds"

    @property
    def numbers(self) -> list[int]:
        """How it was broken (judge.c); of a crash the signal."""
        return [int(word) for word in self.outcome if word.isdecimal()]

    @property
    def rule(self) -> str:
        """What was broken: a rule of judge.c, `never_returns`, `crash` or `sanitizer`."""
        if self.outcome[0] != "died":
            return self.outcome[-1] if self.holds else self.outcome[1]
        return _DEATHS.get(int(self.outcome[1]), "crash")


class Suite(NamedTuple):
    """A suite of the contract tests: whether it passed, and all that it said."""

    name: str
    passed: bool
    said: str


def build(allocator: str, knobs: Mapping[str, int] = MappingProxyType({})) -> Path:
    """The folder of the built tests. Raises HostHeapError, BuildError, WriteError."""
    row = host_heap.able(allocator, 1 << 16)
    # No "=": env would take the program for a variable.
    words = [row.build_name, *(f"{name}-{value}" for name, value in knobs.items()), "sanitized"]
    folder = _BUILDS / "-".join(words)
    named = row.definitions({**knobs, "SANITIZE": "ON"})
    Build(f"The contract of {allocator}", _SOURCE, folder, named, "judge").make_once()
    return folder


def judge(folder: Path, operations: Sequence[str], within_s: int, passing: Sequence[str] = ()) -> Judged:
    """What comes of the operations, in the words of heap/tests/judge.c; the rules `passing` may be
    broken. Raises HostHeapError.
    """
    with tempfile.TemporaryFile("w+", prefix="tailscope-") as file:
        file.write("".join(f"{line}\n" for line in operations))
        file.seek(0)
        call = (str(folder / "judge"), str(within_s), *passing)
        try:
            done = children.run(call, within_s=within_s + _GRACE_S, stdin=file)
        except subprocess.TimeoutExpired:
            return Judged((), ("died", "9"))
        except OSError as error:
            raise HostHeapError(f"{folder / 'judge'} did not run: {error}.") from None
    said = [line for line in done.stdout.splitlines() if not line.startswith("left out")]
    *places, last = "\n".join(said).partition("begin")[2].split("\n")[1:] or [""]
    if last.startswith(("holds", "broken", "died")):
        return Judged(places, last.split(), _reason(done.stderr))
    died = ("died", str(max(_SANITIZER, -done.returncode)))
    return Judged([*places, last] if last else [], died, _reason(done.stderr))


def _reason(said: str) -> str:
    """Where and why a sanitizer or a requirement stopped the program; empty if none did."""
    if match := _SAID.search(said):
        return f"{match['where']} {match['why']}"
    if match := _ASAN.search(said):
        frame = _FRAME.search(said)
        function, _, place = frame["where"].partition(" ") if frame else ("", "", "")
        return f"{place.rpartition('/')[2]}: {match['why']} in {function}()" if frame else match["why"]
    return ""


def suites(folder: Path, alignment: int = 8, only: str = "") -> list[Suite]:
    """Runs every suite of the contract, or the one that is named, one after another. Payloads are
    held to `alignment`.
    """
    program = folder / "heap_tests"
    held_to = ("env", f"TAILSCOPE_ALIGNS_TO={alignment}")
    suites = []
    for name in children.run([program], within_s=_GRACE_S).stdout.split():
        if only in ("", name):
            try:
                done = children.run([*held_to, program, name], within_s=_SUITE_WITHIN_S)
                suites += [Suite(name, done.returncode == 0, done.stdout + done.stderr)]
            except subprocess.TimeoutExpired:
                suites += [Suite(name, False, f"it did not end within {_SUITE_WITHIN_S:g} s")]
    return suites
