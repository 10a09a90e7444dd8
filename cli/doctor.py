"""`./lab doctor`: what is installed and plugged in, what is missing and how to get it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import BOARD
from cli.work import tools

if TYPE_CHECKING:
    from capture.checks.findings import Finding


@declare(section="Set up")
@option("--board", type=BOARD, help="an entry of bench.toml: look at what is plugged in for it, too")
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
            lines += ["", f"board {self.board}", *self._device_lines()]
            last = "can run" if self.can_run else "cannot run yet"
            lines += ["", f"The bench {last} with the board {self.board}."]
        return "\n".join(lines)

    def _device_lines(self) -> Iterator[str]:
        findings = (finding for key in self.findings if key != "tools" for finding in self.findings[key])
        for finding in dict.fromkeys(findings):  # a virtual board gives each check the same answer
            first, *rest = finding.words.splitlines()
            state = finding.state.upper() if finding.state == "wrong" else finding.state
            yield f"  {finding.subject:<8}  {state:<7}  {first}"
            yield from (f"    {line}" for line in rest)


def report(board: str | None = None) -> Report:
    """What is installed, and what is plugged in for a board. Raises TailscopeError for a board that
    bench.toml does not have.
    """
    findings = {"tools": tuple(tools.findings())}
    if board is None:
        return Report(findings)
    from capture.checks.captures import Desk
    from capture.desk.bench import read_bench
    from cli.shell import under_way
    from cli.work.desk_checks import DEVICES

    desk = Desk(read_bench().board(board))
    if not desk.is_virtual:
        under_way.on_desk(board)
    return Report(findings | {check.key: check.findings(desk) for check in DEVICES}, desk.board.name)
