"""What the doctor says of the tools that the bench calls."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from base.paths import INSTALLED
from base.processes.tools import is_installed, tools
from cli.shell.project import project

if TYPE_CHECKING:
    from capture.checks.findings import Finding, State

VERSION_TIMEOUT_S = 10


def findings() -> Iterator[Finding]:
    """Everything that the bench calls, in the order in which a reader looks for it. What is missing
    is wrong where the bench cannot run without it.
    """
    yield _finding("python", ".".join(map(str, sys.version_info[:3])), "always", "runs the bench", "")
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
    from capture.checks.findings import Finding

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
