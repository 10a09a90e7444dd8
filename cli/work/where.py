"""Where a command runs: here, or on the emulated desk of the board that it is to use."""

from __future__ import annotations

from collections.abc import Sequence

from base.files.errors import CaptureError
from base.processes import children
from capture.desk import emulated
from capture.desk.bench import BoardResource, read_bench
from simulator.run import STRICT


def run(board: str | None, clips: str = "", options: Sequence[str] = STRICT) -> None:
    """Returns where the command sees the devices of `board` (None: the default).

    `clips` goes behind those that bench.toml has for the inputs of an emulated desk's analyzer, and
    `options` are those of somebody's own program there.
    Otherwise the whole command runs again on the board's emulated desk, and SystemExit carries its
    exit status. Raises TailscopeError where there is no such board, or no desk can be.
    """
    children.keep()
    _run(read_bench().board(board), clips, options)


def run_each(boards: Sequence[str | None]) -> None:
    """The same of several boards. Raises CaptureError where one is named twice, or where a desk is
    emulated for one of several: only one can be.
    """
    children.keep()
    bench = read_bench()
    resources = [bench.board(board) for board in boards]
    names = [resource.name for resource in resources]
    for resource in resources:
        if names.count(resource.name) > 1:
            raise CaptureError(
                f"--board names {resource.name} twice: name each board once, by folders of different names."
            )
        if len(resources) > 1 and resource.emulated is not None:
            raise CaptureError(
                f"The desk of {resource.name} is emulated for one command alone: give it a --board by itself."
            )
    for resource in resources:
        _run(resource)


def _run(resource: BoardResource, clips: str = "", options: Sequence[str] = STRICT) -> None:
    if not emulated.is_seen(resource):
        raise SystemExit(emulated.run_again(emulated.clipped(resource, clips), options))
