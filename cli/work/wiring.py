"""`./lab wiring plan` and `./lab wiring check`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from base.files.errors import TailscopeError
from base.files.whole import write_bytes
from capture.desk.bench import BoardResource, read_bench
from capture.wiring import drawing, plan
from capture.wiring.findings import Findings
from cli.work import where


class WiringError(TailscopeError):
    """The words ask for what there is not."""


@dataclass(frozen=True)
class Done:
    """What is to be printed. The exit status is 1 if a clip is not where it belongs."""

    text: str
    exit_status: int = 0


def run(what: str, board_name: str | None, picture: Path | None = None, as_json: bool = False) -> Done:
    """Does `plan` or `check` for a board of bench.toml; with plan, draws into the file `picture`.

    Raises TailscopeError.
    """
    board = read_bench().board(board_name)
    if picture and what != "plan":
        raise WiringError("Only the plan can be drawn: write ./lab wiring plan --svg FILE.")
    if picture:
        write_bytes(picture, drawing.svg(plan.clips(board)).encode())
    if what == "plan":
        return Done(json.dumps(plan.as_json(board), indent=2) if as_json else plan.as_text(board))
    return _check(board, board_name, as_json)


def _check(board: BoardResource, board_name: str | None, as_json: bool) -> Done:
    from capture.wiring.check import check  # loads what captures, which takes a while

    where.run(board_name)
    found = check(board, _tell)
    text = json.dumps(found.as_json(), indent=2) if as_json else _as_text(found)
    return Done(text, int(not found.right))


def _tell(step: str) -> None:
    print(f"{step} …", file=sys.stderr, flush=True)


def _as_text(found: Findings) -> str:
    """A line for each clip; what to do; a last word."""
    rows = [
        (verdict.clip.input, verdict.clip.place.channel, verdict.state, f"sees {_seen(verdict.sees)}")
        for verdict in found.verdicts
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    last = "All eight clips are where they belong." if found.right else ""
    return "\n".join([*lines, "", *(found.remedies or (last,))])


def _seen(channels: tuple[str, ...]) -> str:
    return " and ".join(channels) or "none"
