"""`./lab wiring`: which clip goes where."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from cli.shell import shared, under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT, OptionError, choice


@declare("Set up")
@argument(
    "what",
    choice("plan", "check"),
    "plan: which clip goes where; check: move each pin in turn and say which clip is on it",
    default="plan",
)
@shared.board
@option("--svg", OUTPUT, "with plan: draw it into this file, too")
@json_option
def command(what: str, board: str | None, svg: Path | None, as_json: bool) -> int:
    """Show which clip goes where, or check it."""
    from base.files.whole import write_bytes
    from base.text_table import columns
    from capture.checks import wiring
    from capture.desk.bench import read_bench

    resource = read_bench().board(board)
    if what == "plan":
        if svg:
            write_bytes(svg, wiring.svg(wiring.clips(resource), resource.board.title).encode())
        answer(as_json, lambda: wiring.as_json(resource), lambda: wiring.as_text(resource))
        return 0
    if svg:
        raise OptionError("Only the plan can be drawn: write ./lab wiring plan --svg FILE.")
    from capture.checks.captures import Desk
    from cli._desk import WIRING

    under_way.on_desk(board)
    (finding,) = WIRING.findings(Desk(resource, shown=under_way.tell_step))
    # A line for each clip; what to do, or that nothing is.
    rows = [
        (clip.input, clip.channel, clip.state, f"sees {' and '.join(clip.sees) or 'none'}")
        for clip in finding.clips
    ]
    right = finding.state == "right"
    answer(
        as_json,
        lambda: {
            "right": right,
            "clips": list(map(asdict, finding.clips)),
            "remedies": list(finding.remedies),
        },
        lambda: "\n".join([*columns(rows), "", *(finding.remedies or (finding.words,))]),
    )
    return int(not right)
