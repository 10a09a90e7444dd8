"""`./lab doctor`: what is installed and plugged in, what is missing and how to get it."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from base.paths import INSTALLED
from base.processes.tools import is_installed, tools
from cli.shell import under_way
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.project import project
from cli.shell.values import BOARD

if TYPE_CHECKING:
    from capture.checks.findings import Finding, State

_VERSION_TIMEOUT_S = 10


@declare("Set up")
@option("--board", BOARD, "an entry of bench.toml: look at what is plugged in for it, too")
@json_option
def command(board: str | None, as_json: bool) -> int:
    """Show what is installed and, with --board, plugged in; what is missing and how to get it."""
    survey = report(board)
    answer(as_json, survey.as_json, survey.as_text)
    return int(not survey.can_run)


@dataclass(frozen=True)
class Report:
    """The findings of the first checks by the check's key, and the board that they are of."""

    findings: Mapping[str, tuple[Finding, ...]]
    board: str | None = None

    @property
    def can_run(self) -> bool:
        """Whether the bench could run, on that board if there is one."""
        return all(finding.state != "wrong" for findings in self.findings.values() for finding in findings)

    def as_json(self) -> dict[str, object]:
        """For --json."""
        rows = [
            {"check": key, "subject": finding.subject, "state": finding.state, "words": finding.words}
            for key, findings in self.findings.items()
            for finding in findings
        ]
        return {"can_run": self.can_run, "board": self.board, "findings": rows}

    def as_text(self) -> str:
        """One line for each tool: its name, then its version or what to do. Then the board."""
        installed = self.findings["tools"]
        width = max(len(finding.subject) for finding in installed)
        lines = [f"{finding.subject:<{width}}  {finding.words}" for finding in installed]
        missing = [finding.subject for finding in installed if finding.state == "wrong"]
        if not self.board:
            can = f"Install first: {', '.join(missing)}." if missing else "The virtual board can run."
            lines += ["", f"{can} What a board on the desk needs, ./lab doctor --board NAME says."]
        else:
            lines += ["", f"board {self.board}"]
            findings = (finding for key in self.findings if key != "tools" for finding in self.findings[key])
            for finding in dict.fromkeys(findings):  # a virtual board gives each check the same answer
                state = finding.state.upper() if finding.state == "wrong" else finding.state
                lines.append(f"  {finding.subject:<8}  {state:<7}  {finding.words}")
            last = "can run" if self.can_run else "cannot run yet"
            lines += ["", f"The bench {last} with the board {self.board}."]
        return "\n".join(lines)


def report(board: str | None = None) -> Report:
    """What is installed, and what is plugged in for a board. Raises TailscopeError for a board that
    bench.toml does not have.
    """
    findings = {"tools": tuple(tool_findings())}
    if board is None:
        return Report(findings)
    from capture.checks.captures import Desk
    from capture.desk.bench import read_bench
    from cli._desk import DEVICES

    desk = Desk(read_bench().board(board))
    if not desk.is_virtual:
        under_way.on_desk(board)
    return Report(findings | {check.key: check.findings(desk) for check in DEVICES}, desk.board.name)


def tool_findings() -> Iterator[Finding]:
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
            timeout=_VERSION_TIMEOUT_S,
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
