"""Every check of the project: what it runs, what must pass before it, and which rooms it is for: a
folder of the repository, or one allocator.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
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

    def touches(self, folder: Path) -> bool:
        """Whether `folder` lies within the room, or the room within it."""
        return self.contains(folder) or self.folder.is_relative_to(folder)

    def files(self, *patterns: str) -> list[Path]:
        """The files of the room whose names match a pattern: of the repository, sorted."""
        paths = (path for pattern in patterns for path in (ROOT / self.folder).rglob(pattern))
        return sorted(path.relative_to(ROOT) for path in paths)


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


Command = tuple[str, ...]

_PYTHON = (sys.executable, "-m")
_LINT_IMPORTS = "from importlinter.cli import lint_imports_command as lint; lint()"
"""import-linter has no `python -m`; its contracts are in pyproject.toml."""
_BUILD_SIMULATORS = "from simulator.build import DESK, build; build(); build(name=DESK)"
_SIMULATOR = Path("simulator")
_CI = Path("ci")
_RUST_HEAP = HEAP / "rust"
_EXAMPLES = Path("docs", "examples")
_C_FOLDERS = ("analysis", "firmware", "quality", "scenarios", "simulator/tests/fixtures", "tests")


@dataclass(frozen=True)
class Check:
    """Commands that run one after another, and must all exit with 0.

    `needs` names the checks that must pass before it, if they are among those that run. `tool` is a
    command of cli/tools.tsv that a user's machine may lack. `style` is true if it only looks at
    sources. A `long` one runs with `--all` only.

    `sources` names the rooms, separated by spaces, that decide alone whether it passes: with the
    same files and tools it need not run again.
    """

    name: str
    commands: tuple[Command, ...]
    folder: Path = ROOT
    needs: tuple[str, ...] = ()
    tool: str | None = None
    style: bool = False
    long: bool = False
    sources: str = ""


def checks_of(room: Room, everything: bool = False) -> list[Check]:
    """The checks of a room; long ones only with `everything`.

    First come those that others wait for, then those that take longest.
    """
    if room.allocator is not None:
        return [*_contracts(room), *_python_tests(room, everything)]
    checks = [
        *_builds(room, everything),
        *_python_style(room),
        *_python_tests(room, everything),
        *_other_style(room),
        *_rust(room),
        *_contracts(room),
    ]
    return [check for check in checks if everything or not check.long]


def _named(name: str, room: Room) -> str:
    """The name of a check that takes the room as its argument."""
    return name if room == WHOLE else f"{name} in {room}"


def _builds(room: Room, everything: bool) -> Iterator[Check]:
    """Builds what most tests run on, or `everything`. What is not built, the first test builds."""
    if room.contains(_SIMULATOR):
        yield Check("simulator: build", ((sys.executable, "-c", _BUILD_SIMULATORS),))
    if room.contains(HEAP.parent):
        of_most = () if everything else ("--allocator", "seglist,tlsf")
        build = (*_PYTHON, "cli", "dev", "build", *of_most)
        yield Check("firmware: build", (build,), needs=("simulator: build",))


def _python_style(room: Room) -> Iterator[Check]:
    # The examples are projects of their own, without types; the check of everything looks at them.
    if all(file.is_relative_to(_EXAMPLES) for file in room.files("*.py")):
        return
    folder = str(room.folder)
    # Without an argument, mypy takes what pyproject.toml lists.
    typed = () if room == WHOLE else (folder,)
    for name, command in (
        ("python: ruff", ("ruff", "check", "--no-cache", folder)),
        ("python: format", ("ruff", "format", "--no-cache", "--check", folder)),
        ("python: mypy", ("mypy", *typed)),
    ):
        yield Check(_named(name, room), ((*_PYTHON, *command),), style=True)
    layers = (sys.executable, "-c", _LINT_IMPORTS, "--no-cache", "--no-logo")
    yield Check("python: layers", (layers,), style=True)


def _python_tests(room: Room, everything: bool) -> Iterator[Check]:
    """Runs pytest in one process more than there are cores, since many tests wait for a board.

    conftest.py deals the tests out.
    """
    chosen: Command = (str(room.folder),)
    if room == WHOLE:
        chosen = ()
    elif room.folder == Path("docs"):
        chosen = ("-m", "docs")
    elif room.allocator is not None:
        chosen = (*chosen, "-k", room.allocator)
    elif not room.files("test_*.py"):
        return
    if everything or room.allocator is not None:  # of most allocators, all tests are marked long
        chosen = ("--all", *chosen)
    command = (*_PYTHON, "pytest", "-n", str((os.cpu_count() or 1) + 1), *chosen)
    yield Check(_named("python: pytest", room), (command,), needs=("simulator: build", "firmware: build"))


def _other_style(room: Room) -> Iterator[Check]:
    """Of C, and of the scripts that run on the machines of others."""
    files = [str(path) for path in room.files("*.c", "*.h") if any(map(path.is_relative_to, _C_FOLDERS))]
    if files:
        command = ("clang-format", "--dry-run", "--Werror", *files)
        yield Check(_named("c: format", room), (command,), tool="clang-format", style=True)
    if room.touches(_CI):
        command = ("shellcheck", *map(str, Room(_CI).files("*.sh")))
        yield Check("ci: shellcheck", (command,), tool="shellcheck", style=True)


def _rust(room: Room) -> Iterator[Check]:
    format_all = ("cargo", "fmt", "--all", "--check")
    if room.touches(_SIMULATOR):
        folder = ROOT / _SIMULATOR
        yield Check("simulator: format", (format_all,), folder, tool="cargo-fmt", style=True)
        # In the profile of the differential test one compilation serves that, clippy and the tests.
        tests = (*linted(), "cargo", "test", "--locked", "--profile", "differential", "--workspace")
        yield Check(
            "simulator: clippy",
            ((*tests, "--no-run"),),
            folder,
            tool="cargo-clippy",
            style=True,
            sources="simulator",
        )
        yield Check("simulator: tests", (tests,), folder, needs=("simulator: clippy",), sources="simulator")
    if room.touches(_RUST_HEAP):
        folder = ROOT / _RUST_HEAP
        yield Check("heap/rust: format", (format_all,), folder, tool="cargo-fmt", style=True)
        # Each allocator is a feature. What they do is tested with that of all other allocators.
        features = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))["features"]
        builds = ("--locked", "--profile", "firmware", "--target-dir", str(COMPILED / "rust-clippy"))
        commands = tuple(
            ("cargo", "clippy", *builds, "--features", feature, "--", "-D", "warnings")
            for feature in features
        )
        yield Check(
            "heap/rust: clippy", commands, folder, tool="cargo-clippy", style=True, sources="firmware"
        )


def _contracts(room: Room) -> Iterator[Check]:
    """The room's allocators held to their contract, on this machine and with sanitizers."""
    wanted = catalogue.allocators().values() if room.contains(HEAP) else ()
    for row in wanted:
        if room.allocator in (None, row.id) and not row.target_only and not row.missing_checkout():
            yield Check(
                f"heap/{row.id}: contract",
                ((*_PYTHON, "cli", "heap", "contract", "--allocator", row.id),),
                sources="firmware analysis/contract.py",
                long=row.id not in catalogue.EACH_KIND,
            )
