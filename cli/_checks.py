"""Every check of the project: what it runs, what must pass before it, and which rooms it is for: a
folder of the repository, or one allocator.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from base.files.errors import TailscopeError, near_miss
from base.paths import COMPILED, ROOT
from firmware.build import catalogue
from simulator.build import linted

HEAP = Path("firmware", "heap")
_NO_ROOMS = {"build", "dist", "runs"}


class RoomError(TailscopeError):
    """There is no such room. The message says which there are."""


@dataclass(frozen=True)
class Room:
    """A folder, relative to the repository, and the one allocator that is meant, if one is."""

    folder: Path
    allocator: str | None = None

    def __str__(self) -> str:
        return f"{self.folder.name}/{self.allocator}" if self.allocator else str(self.folder)

    def contains(self, folder: Path) -> bool:
        """Whether `folder` lies within the room."""
        return folder.is_relative_to(self.folder)

    def files(self, *patterns: str) -> list[Path]:
        """The files of the room whose names match a pattern: of the repository, sorted."""
        return sorted(path for pattern in patterns for path in _files(self.folder, pattern))


@cache
def _files(folder: Path, pattern: str) -> list[Path]:
    return [path.relative_to(ROOT) for path in (ROOT / folder).rglob(pattern)]


WHOLE = Room(Path())


def room_of(word: str) -> Room:
    """The room of this name: `capture`, `capture/verdict`, `heap` (firmware/heap) or `heap/tlsf`.

    Raises RoomError.
    """
    first, _, rest = word.strip("/").partition("/")
    if first == HEAP.name and rest in catalogue.allocators():
        return Room(HEAP, rest)
    folder = (HEAP if first == HEAP.name else Path(first)) / rest
    names = sorted(
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and not path.name.startswith((".", "_")) and path.name not in _NO_ROOMS
    )
    if folder.parts and folder.parts[0] in names and ".." not in folder.parts and (ROOT / folder).is_dir():
        return Room(folder)
    raise RoomError(
        f"There is no room {word!r}: choose {', '.join(names)}, a folder in one such as capture/verdict, "
        f"or heap/ALLOCATOR.{near_miss(word, names)}"
    )


_FILE = Path(__file__).with_name("checks.toml")


@dataclass(frozen=True)
class Check:
    """A check as checks.toml has it, which says what its fields mean. A `long` one runs with
    `--all` only.
    """

    name: str
    commands: Sequence[Sequence[str]]
    of: str = "."
    whole: bool = False
    files: Sequence[str] = ()
    among: Sequence[str] = (".",)
    but: str = "/"
    folder: str = "."
    needs: Sequence[str] = ()
    tool: str | None = None
    style: bool = False
    long: bool = False
    sources: str = ""
    allocators: bool = False


def checks_of(room: Room, everything: bool = False) -> list[Check]:
    """The checks of a room; long ones only with `everything`.

    First come those that others wait for, then those that take longest.
    """
    folder, allocator = str(room.folder), room.allocator
    part = [] if room == WHOLE else [folder]
    tests = ["-m", "docs"] if folder == "docs" else part
    if allocator:
        tests = [*tests, "-k", allocator]
    if everything or allocator:  # of most allocators, all tests are marked long
        tests = ["--all", *tests]
    words: dict[str, Sequence[str]] = {
        "{python}": [sys.executable],
        "{room}": [folder],
        "{part}": part,
        "{tests}": tests,
        "{processes}": [str((os.cpu_count() or 1) + 1)],
        "{most}": [] if everything else ["--allocator", "seglist,tlsf"],
        "{linted}": linted(),
        "{compiled}": [str(COMPILED / "rust-clippy")],
    }
    crates = tomllib.loads((ROOT / HEAP / "rust" / "Cargo.toml").read_text(encoding="utf-8"))["features"]
    checks = []
    for row in tomllib.loads(_FILE.read_text(encoding="utf-8"))["check"]:
        check = Check(**row)
        files = [
            str(file)
            for file in room.files(*check.files)
            if any(map(file.is_relative_to, check.among)) and not file.is_relative_to(check.but)
        ]
        has_part = room.folder.is_relative_to(check.of) and not check.whole
        if bool(check.files) > bool(files) or not (room.contains(Path(check.of)) or has_part):
            continue
        name = check.name.format(in_room=f" in {room}" if part else "")
        commands = [
            [
                it
                for word in command
                for it in (words | {"{crate}": [crate], "{files}": files}).get(word, [word])
            ]
            for command in check.commands
            for crate in (crates if "{crate}" in command else [""])
        ]
        checks.append(replace(check, name=name, commands=commands))
    if allocator:
        return [*_contracts(room), *(check for check in checks if check.allocators)]
    return [check for check in (*checks, *_contracts(room)) if everything or not check.long]


def _contracts(room: Room) -> Iterator[Check]:
    """The room's allocators held to their contract, on this machine and with sanitizers."""
    wanted = catalogue.allocators().values() if room.contains(HEAP) else ()
    for row in wanted:
        if room.allocator in (None, row.id) and not row.target_only and not row.missing_checkout():
            yield Check(
                f"heap/{row.id}: contract",
                [[sys.executable, "-m", "cli", "heap", "contract", "--allocator", row.id]],
                sources="firmware analysis/contract.py",
                long=row.id not in catalogue.EACH_KIND,
            )
