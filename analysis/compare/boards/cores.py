"""What the manuals say of the cores (cores.toml)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import RootModel

from analysis.errors import CompareError
from base.files.documents import Table, open_toml
from base.run_folder.manifest import Manifest
from firmware.build import boards
from firmware.build.boards import Board, BoardError

_FILE = Path(__file__).with_name("cores.toml")


class Core(Table):
    """One core; cores.toml says what its keys mean."""

    title: str
    entry_cycles: int
    counter: bool
    clz: bool


class _Cores(RootModel[dict[str, Core]]):
    """The whole file."""


@cache
def _cores() -> dict[str, Core]:
    return open_toml(_FILE, CompareError).check(_Cores).root


def core_of(board: Board | None) -> Core | None:
    """The core of a board; None where the file has nothing of it."""
    return None if board is None else _cores().get(board.core)


def board_of(manifest: Manifest) -> Board | None:
    """The board of a run; None where its folder is here no more."""
    try:
        return boards.board_of(manifest.asked)
    except BoardError:
        return None
