"""`./lab doctor`: what is installed and plugged in, what is missing and how to get it."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from base.paths import INSTALLED
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.project import project
from cli.shell.values import BOARD

if TYPE_CHECKING:
    from capture.survey.advice import Finding as DeskFinding

VERSION_TIMEOUT_S = 10


@declare(section="Set up")
@option("--board", type=BOARD, help="an entry of bench.toml: look at what is plugged in for it, too")
@json_option
def command(board: str | None, as_json: bool) -> int:
    """Show what is installed and, with --board, plugged in; what is missing and how to get it."""
    survey = report(board)
    answer(as_json, survey.as_json, survey.as_text)
    return int(not survey.can_run)


@dataclass(frozen=True)
class Finding:
    """One tool or package. If it is missing, `version` is None and `remedy` says how to get it.

    `needed` is "always", "optional", "builds" where only what is unusual is compiled, or the words
    of a command line that need it, with commas.
    """

    name: str
    version: str | None
    needed: str
    purpose: str
    remedy: str

    @property
    def blocks(self) -> bool:
        """Whether it is missing and the bench cannot run without it."""
        return self.version is None and self.needed == "always"


def findings() -> tuple[Finding, ...]:
    """Everything that the bench calls, in the order in which a reader looks for it."""
    return (_python(), *(() if INSTALLED else (_cargo(),)), *_tools(), *_python_packages())


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", version, "always", "runs the bench", "")


def _cargo() -> Finding:
    remedy = "apt-get install cargo-web rustc-web, or any cargo of 1.85 or later"
    return Finding("cargo", _tool_version("cargo"), "always", "builds the virtual Nucleo", remedy)


def _needed(when: str) -> str:
    """When a tool of cli/tools.tsv is needed here: a package brings what is compiled, and without
    sigrok-cli it captures the virtual board directly.
    """
    if INSTALLED:
        return "optional" if when == "always" else when
    return "always" if when == "builds" else when


def _tools() -> Iterator[Finding]:
    from cli.work import tools

    for tool in tools.tools():
        remedy = f"apt-get install {tool.packages}"
        needed = _needed(tool.needed)
        yield Finding(tool.packages, _tool_version(tool.command), needed, tool.purpose, remedy)


def _tool_version(command: str) -> str | None:
    from cli.work import tools

    if not tools.is_installed(command):
        return None
    return "present" if command.startswith("/") else _first_line(command)


def _first_line(command: str) -> str:
    """The first line that the tool prints for --version; "present" if it prints none."""
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


def _python_packages() -> Iterator[Finding]:
    metadata = project()
    groups = {
        "always": metadata["dependencies"],
        "test": metadata["optional-dependencies"].get("test", []),
    }
    for needed, requirements in groups.items():
        lock = "requirements.lock" if needed == "always" else "requirements-test.lock"
        for requirement in requirements:
            name = requirement.split(">=")[0]
            remedy = f"./lab installs it from {lock}"
            yield Finding(name, _package_version(name), needed, "Python package", remedy)


def _package_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Report:
    """What is installed, and what is plugged in for the board of bench.toml that was asked for."""

    installed: tuple[Finding, ...]
    board: str | None = None
    desk: tuple[DeskFinding, ...] = ()

    @property
    def can_run(self) -> bool:
        """Whether the bench could run, on that board if there is one."""
        from capture.survey.advice import may_run

        return not any(finding.blocks for finding in self.installed) and may_run(self.desk)

    def as_json(self) -> dict[str, Any]:
        """For --json."""
        installed = list(map(asdict, self.installed))
        board = {"name": self.board, "findings": list(map(asdict, self.desk))}
        return {"can_run": self.can_run, "installed": installed, "board": board if self.board else None}

    def as_text(self) -> str:
        """One line for each finding: its name, then its version or what to do. Then the board."""
        width = max(len(finding.name) for finding in self.installed)
        lines = [f"{finding.name:<{width}}  {_state(finding)}" for finding in self.installed]
        if self.board:
            lines += ["", f"board {self.board}", *_desk_lines(self.desk)]
            last = "can run" if self.can_run else "cannot run yet"
            lines += ["", f"The bench {last} with the board {self.board}."]
        return "\n".join(lines)


def report(board: str | None = None) -> Report:
    """What is installed, and what is plugged in for a board. Raises TailscopeError for a board that
    bench.toml does not have.
    """
    if board is None:
        return Report(findings())
    from capture.desk.bench import read_bench
    from capture.survey.advice import Finding as DeskFinding
    from capture.survey.advice import advise
    from capture.survey.ask import ask
    from cli.work import where

    resource = read_bench().board(board)
    if resource.loader.kind == "virtual-nucleo":
        desk = (DeskFinding("board", "used", "a virtual Nucleo, which needs nothing on the desk"),)
        return Report(findings(), resource.name, desk)
    where.run(board)
    return Report(findings(), resource.name, advise(resource, ask(resource)))


def _desk_lines(findings: tuple[DeskFinding, ...]) -> Iterator[str]:
    for finding in findings:
        first, *rest = finding.words.splitlines()
        word = finding.state.upper() if finding.state == "wrong" else finding.state
        yield f"  {finding.subject:<8}  {word:<5}  {first}"
        yield from (f"    {line}" for line in rest)


def _state(finding: Finding) -> str:
    if finding.version is not None:
        return finding.version
    return f"MISSING ({finding.needed}; {finding.purpose}): {finding.remedy}"
