"""The tools that the bench calls, as cli/tools.tsv lists them."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from base.paths import INSTALLED, ROOT
from cli.shell.project import project

if TYPE_CHECKING:
    from capture.desk.finding import Finding, State

VERSION_TIMEOUT_S = 10
_FILE = ROOT / "cli/tools.tsv"


@dataclass(frozen=True)
class Tool:
    """One line of cli/tools.tsv.

    `command` is a name on the PATH, or the places of a file, which | separates: one must exist.
    `needed` is "always", "optional", "builds" for what compiles, or the words of a command line
    that need it, with commas: "test,desk".
    """

    command: str
    packages: str
    needed: str
    purpose: str


@cache
def tools() -> tuple[Tool, ...]:
    """Every tool, in the order of the file."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(Tool(*line.split("\t")) for line in lines if line and not line.startswith("#"))


def is_installed(command: str) -> bool:
    """Whether the command is on the PATH, or one of the files exists."""
    if command.startswith("/"):
        return any(any(Path("/").glob(place[1:])) for place in command.split("|"))
    return shutil.which(command) is not None


def findings() -> Iterator[Finding]:
    """Everything that the bench calls, in the order in which a reader looks for it. What is missing
    is wrong where the bench cannot run without it.
    """
    yield _finding("python", ".".join(map(str, sys.version_info[:3])), "always", "runs the bench", "")
    if not INSTALLED:
        get = "apt-get install cargo-web rustc-web, or any cargo of 1.85 or later"
        yield _finding("cargo", _version("cargo"), "always", "builds the virtual Nucleo", get)
    for tool in tools():
        # A package brings what is compiled, and captures the virtual board without sigrok-cli.
        needed = tool.needed
        if needed == ("always" if INSTALLED else "builds"):
            needed = "optional" if INSTALLED else "always"
        get = f"apt-get install {tool.packages}"
        yield _finding(tool.packages, _version(tool.command), needed, tool.purpose, get)
    metadata = project()
    for needed, lock, requirements in (
        ("always", "requirements.lock", metadata["dependencies"]),
        ("test", "requirements-test.lock", metadata["optional-dependencies"].get("test", [])),
    ):
        for requirement in requirements:
            name = requirement.split(">=")[0]
            get = f"./lab installs it from {lock}"
            yield _finding(name, _package_version(name), needed, "Python package", get)


def _finding(name: str, version: str | None, needed: str, purpose: str, get: str) -> Finding:
    from capture.desk.finding import Finding

    if version is not None:
        return Finding(name, "right", version)
    state: State = "wrong" if needed == "always" else "skipped"
    return Finding(name, state, f"MISSING ({needed}; {purpose}): {get}")


def _version(command: str) -> str | None:
    """The first line that the tool prints for --version; "present" if it prints none."""
    if not is_installed(command):
        return None
    if command.startswith("/"):
        return "present"
    try:
        done = subprocess.run(
            [command, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "present, but does not answer"
    return next(iter(done.stdout.splitlines()), "present").strip()


def _package_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
