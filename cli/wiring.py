"""`./lab wiring`: which clip goes where."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.shell import shared
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import FILE, Choice, OptionError

if TYPE_CHECKING:
    from capture.wiring.findings import Findings


@declare(section="Set up")
@argument(
    "what",
    type=Choice("plan", "check"),
    help="plan: which clip goes where; check: move each pin in turn and say which clip is on it",
)
@shared.board
@option("--svg", type=FILE, help="with plan: draw it into this file, too")
@json_option
def command(what: str, board: str | None, svg: Path | None, as_json: bool) -> int:
    """Show which clip goes where, or check it."""
    from base.files.whole import write_bytes
    from capture.desk.bench import read_bench
    from capture.wiring import drawing, plan

    resource = read_bench().board(board)
    if what == "plan":
        if svg:
            write_bytes(svg, drawing.svg(plan.clips(resource), resource.board.title).encode())
        answer(as_json, lambda: plan.as_json(resource), lambda: plan.as_text(resource))
        return 0
    if svg:
        raise OptionError("Only the plan can be drawn: write ./lab wiring plan --svg FILE.")
    from capture.wiring.check import check
    from cli.work import where

    where.run(board)
    findings = check(resource, lambda step: print(f"{step} …", file=sys.stderr, flush=True))
    answer(as_json, findings.as_json, lambda: as_text(findings))
    return int(not findings.right)


def as_text(findings: Findings) -> str:
    """A line for each clip; what to do; a last word."""
    rows = [
        (
            verdict.clip.input,
            verdict.clip.place.channel,
            verdict.state,
            f"sees {' and '.join(verdict.sees) or 'none'}",
        )
        for verdict in findings.verdicts
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    last = "All eight clips are where they belong." if findings.right else ""
    return "\n".join([*lines, "", *(findings.remedies or (last,))])
