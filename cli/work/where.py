"""Where a command runs: here, or on the emulated desk of the board that it is to use."""

from __future__ import annotations

from collections.abc import Sequence

from base.processes import children
from capture.desk import emulated
from capture.desk.bench import read_bench
from simulator.run import STRICT


def run(board: str | None, clips: str = "", options: Sequence[str] = STRICT) -> None:
    """Returns where the command sees the devices of `board` (None: the default).

    `clips` goes behind those that bench.toml has for the inputs of an emulated desk's analyzer, and
    `options` are those of somebody's own program there.
    Otherwise the whole command runs again on the board's emulated desk, and SystemExit carries its
    exit status. Raises TailscopeError where there is no such board, or no desk can be.
    """
    children.keep()
    resource = read_bench().board(board)
    if not emulated.is_seen(resource):
        raise SystemExit(emulated.run_again(emulated.clipped(resource, clips), options))
