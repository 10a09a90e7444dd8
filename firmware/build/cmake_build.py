"""Configures and compiles with CMake and Ninja, for the board or for this machine.

Which compiler made an image, its object files tell in its own words.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from base import source_digest
from base.files import build_cache
from base.files import elf as elf_files
from base.files.errors import TailscopeError
from base.files.locks import taking_turns
from base.paths import COMPILED, INSTALLED, ROOT
from base.processes import children
from base.processes.tools import is_installed, tools

_EACH_BUILD = ("cmake", "ninja-build")
"""Debian packages, as cli/tools.tsv has them. A compiler comes on top."""
CARGO = "cargo-web rustc-web"
"""What brings cargo, which gets the pinned sources."""
_RUST = (CARGO, "rustc-web rust-web-src")

_SHARED = (
    f"-DTAILSCOPE_RUST_BUILDS={COMPILED / 'rust'}",
    f"-DTAILSCOPE_TEST_PARTS={COMPILED / 'heap-tests' / 'parts'}",
)
"""What builds share lies in a checkout's build/ by itself; beside installed code nothing may."""
_SOURCES = ROOT / "firmware"
_TOOLS = ("cmake", "ninja", "arm-none-eabi-gcc", "cc", "rustc", "/usr/bin/rustc", "cargo")
_TAIL_LINES = 20
_FAILED = "FAILED: "
"""How Ninja begins the lines on a command that failed."""
# From nothing an allocator takes some seconds, those of Rust a minute.
_WITHIN_S = 3600.0


_FOR_THIS_MACHINE = ("gcc", "gcc-multilib")
_MADE: set[Path] = set()
"""What this process has built for this machine: asking CMake again takes longer than most
replays.
"""


class BuildError(TailscopeError):
    """Something could not be built; the message says why and what to do."""


class Build(NamedTuple):
    """A folder in which `source` is built with these definitions, without their -D.

    `title` is what is built, as the beginning of a sentence, `product` a file that comes of it.
    """

    title: str
    source: Path
    folder: Path
    definitions: Mapping[str, object]
    product: str = "build.ninja"

    @property
    def _named(self) -> list[str]:
        return [f"-D{name}={value}" for name, value in self.definitions.items()]

    @property
    def _note(self) -> Path:
        return self.folder / "configured.txt"

    @property
    def _noted(self) -> str:
        """What was configured last, as _choices has it; empty if that failed."""
        try:
            return self._note.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    @property
    def _place(self) -> str:
        return f"{self.source}\n{self.folder}\n"

    @property
    def _choices(self) -> str:
        """What is configured, and what heap/rust/rust.cmake takes from the environment."""
        return "\n".join([self._place, *self._named, os.environ.get("CARGO_HOME", "")])

    def check_tools(self, *packages: str) -> None:
        """Raises BuildError if a command is not on the PATH that each build takes, or that is in
        these Debian packages, as cli/tools.tsv has them. It names all that is missing.

        Files count only beside a missing command: a toolchain of another origin has them elsewhere.
        """
        adapter = _SOURCES / "heap/allocators" / f"{self.definitions.get('TAILSCOPE_ALLOCATOR')}.cmake"
        of_rust = adapter.is_file() and "tailscope_rust_heap" in adapter.read_text(encoding="utf-8")
        needed = {*_EACH_BUILD, *packages, *(_RUST if of_rust else ())}
        missing = [tool for tool in tools() if tool.packages in needed and not is_installed(tool.command)]
        if not all(tool.is_file for tool in missing):
            names = dict.fromkeys(name for tool in missing for name in tool.packages.split())
            raise BuildError(
                f"{self.title} cannot be built without a tool that is missing: install the Debian "
                f"package{'s' if len(names) > 1 else ''} {', '.join(names)}."
            )

    def make_once(self) -> None:
        """Builds it for this machine, where this process has not. Raises BuildError, WriteError."""
        if self.folder not in _MADE:
            self.check_tools(*_FOR_THIS_MACHINE)
            with taking_turns(self.folder):
                self.make()
            _MADE.add(self.folder)

    def make(self) -> None:
        """Compiles, behind configuring where that is not done.

        What changes in the sources of the build itself, Ninja notices. But what CMake found may be
        gone since, such as a crate's sources: so it looks again before anything is called broken.
        Raises BuildError, with the last lines of what the tool said.
        """
        digest, note = self._digest, self.folder / "built-of.txt"
        there = digest and (self.folder / self.product).exists() and note.exists()
        if there and note.read_text(encoding="ascii") == digest:
            return
        if digest and build_cache.take(digest, self.folder):
            return
        note.unlink(missing_ok=True)
        command = ["cmake", "--build", str(self.folder)]
        try:
            if self._noted != self._choices:
                raise BuildError
            run_step(self.title, "compile", command)
        except BuildError:
            self.configure()
            run_step(self.title, "compile", command)
        if digest:
            note.write_text(digest, encoding="ascii")
            build_cache.keep(digest, self.folder)

    @property
    def _digest(self) -> str:
        """Of all that this is built of: sources, definitions and tools.

        Empty where somebody's own files are among them, and for an installed package.
        """
        definitions = [named.replace(f"={ROOT}/", "=") for named in self._named]
        own = any(re.search("[=;]/", text) for text in definitions)
        if INSTALLED or own or not self.source.is_relative_to(_SOURCES):
            return ""
        # The room without its pages, tests' tables, and its Python but for what CMake calls.
        left_out = (".py", ".md", "families.toml", "tests.toml")
        sources = source_digest.digest(_SOURCES.name, leave_out=left_out)
        words = [sources, str(self.source.relative_to(ROOT)), *definitions, *source_digest.tools(_TOOLS)]
        words += [(_SOURCES / "build" / f"{name}.py").read_text() for name in ("board_table", "promises")]
        words += [os.environ.get(name, "") for name in ("CARGO_HOME", "CC", "CFLAGS", "LDFLAGS")]
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    def configure(self) -> None:
        """Raises BuildError, with the last lines of what CMake said.

        It begins anew if the last attempt failed: CMake keeps what it looked for in vain, and a
        package may be there by now. Also if the checkout was moved or copied with its builds, or if
        the program is installed twice and shares the user's cache: CMake refuses such a folder.
        """
        command = [
            *("cmake", "-S", str(self.source), "-B", str(self.folder), "-G", "Ninja"),
            *([] if self._noted.startswith(self._place) else ["--fresh"]),
            *(["--no-warn-unused-cli", *_SHARED] if INSTALLED else []),
            *self._named,
        ]
        with suppress(OSError):
            self._note.unlink(missing_ok=True)
        run_step(self.title, "configure", command)
        with suppress(OSError):
            self._note.write_text(self._choices, encoding="utf-8")


def run_step(title: str, step: str, command: list[str], folder: Path | None = None) -> str:
    """Runs `command` in `folder`, which has `title` `step`, and returns what it printed.

    Raises BuildError with what failed first, where the tool names it: Ninja goes on with what is
    under way beside it. Otherwise with the tool's last words.
    """
    try:
        finished = children.run(command, within_s=_WITHIN_S, folder=folder)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{title} did not {step} within {_WITHIN_S:g} s.") from None
    if finished.returncode != 0:
        lines = (finished.stdout + finished.stderr).splitlines()
        first = next((n for n, line in enumerate(lines) if line.startswith(_FAILED)), -_TAIL_LINES)
        tail = lines[first:][:_TAIL_LINES]
        raise BuildError("\n".join([f"{title} did not {step}; the tool said:", *tail]))
    return finished.stdout


_MOST_CHARACTERS = 200


def of_image(elf: Path) -> str:
    """`GCC: (15:12.2.rel1-1) 12.2.1 20221205`, from the section .comment.

    Several compilers are separated by `; `. Raises BuildError.
    """
    with elf_files.opened(elf, BuildError) as image:
        section = image.get_section_by_name(".comment")
        words = section.data().split(b"\0") if section else []
    variables = dict.fromkeys(word.decode("ascii", "replace") for word in words if word)
    return "; ".join(variables)[:_MOST_CHARACTERS] or "unknown"
