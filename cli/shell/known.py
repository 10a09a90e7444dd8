"""The names that a user can give, read from the files that define them: nothing is imported.

Commands refuse a wrong name here before they load what does the work. What passes is checked again
by who uses it: a file that cannot be read here is not refused here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError, nearest, no_such
from base.files.printable import printable
from base.paths import BENCH, ROOT

_CATALOGUE = ROOT / "firmware" / "heap" / "catalogue.toml"
_SCENARIOS = ROOT / "scenarios"
_ENTRIES = ROOT / "capture" / "desk" / "boards"
_BOARDS = ROOT / "firmware" / "boards"
_NUCLEO = re.compile(r"nucleo-([a-z][0-9]{3})")
_ENDS_A_FILE = (".c", ".C", ".h", ".cpp", ".cc", ".S", ".s", ".o", ".a")


class UnknownNameError(TailscopeError):
    """A name that nothing has. The message says what was probably meant, or what there is."""


def scenarios() -> list[str]:
    """The scenarios that come with the bench, sorted."""
    return sorted(path.stem for path in _SCENARIOS.glob("*.toml"))


def allocators() -> list[str]:
    """The allocators of the catalogue, in its order."""
    return [name for name, row in _tables(_CATALOGUE).items() if isinstance(row, dict)]


def boards() -> list[str]:
    """The boards of bench.toml, in its order, and those that come with the bench; then the folders
    of firmware/boards, as they are named and simulated.
    """
    boards_table = _tables(BENCH).get("boards", {})
    own = list(boards_table) if isinstance(boards_table, dict) else []
    along = sorted((path.stem for path in _ENTRIES.glob("*.toml")), reverse=True)
    entries = [*own, *(name for name in along if name not in own)]
    return [*entries, *chips(), *(f"virtual:{name}" for name in chips())]


def chips() -> list[str]:
    """The boards that come with the bench, whatever the entries of bench.toml are called."""
    return sorted(path.parent.name for path in _BOARDS.glob("*/board.toml"))


def parameters(scenario: str) -> list[str]:
    """The parameters of a scenario that comes with the bench."""
    return list(_tables(_SCENARIOS / f"{scenario}.toml").get("parameters", {}))


def scenario(name: str) -> dict[str, Any]:
    """Name, description and parameters of a scenario that comes with the bench; paths lead on from
    the folder where the user stands.
    """
    tables = _tables(_SCENARIOS / f"{name}.toml")
    given = tables.get("parameters", {})
    files = {key: _SCENARIOS / value for key, value in given.items() if str(value).endswith(".csv")}
    here = Path.cwd()
    shown = {
        key: str(path.relative_to(here) if path.is_relative_to(here) else path) for key, path in files.items()
    }
    return {"name": name, "description": tables.get("description"), "parameters": {**given, **shown}}


def knobs(names: Iterable[str]) -> list[str]:
    """The knobs that any of the allocators has."""
    rows = _tables(_CATALOGUE)
    return list(dict.fromkeys(knob for name in names for knob in rows.get(name, {}).get("knobs", {})))


def runs(folder: Path) -> list[str]:
    """The run folders in `folder`, the latest first."""
    return sorted((path.name for path in folder.glob("*Z-*") if path.is_dir()), reverse=True)


def check(
    *,
    scenario: str = "",
    allocators_: Sequence[str] = (),
    board: str | None = None,
    parameters_: Iterable[str] = (),
    knobs_: Iterable[str] = (),
) -> None:
    """Raises UnknownNameError for the first name that nothing has.

    `scenario`, `board` and `allocators_` may be paths, whose files only their readers can judge.
    """
    # As in firmware/build/outside.py, which cannot be asked at no cost.
    named = [n for n in allocators_ if n != "all" and "/" not in n and not n.endswith(_ENDS_A_FILE)]
    wanted: list[tuple[str, Iterable[str], list[str], str]] = [("allocator", named, allocators(), "")]
    if scenario and not scenario.endswith(".toml"):
        wanted += [("scenario", [scenario], scenarios(), "")]
        wanted += [("parameter", parameters_, parameters(scenario), scenario)]
    # A board elsewhere is the path of a file or of a folder, perhaps behind an entry of bench.toml;
    # or another entry than `virtual` with a board in its place.
    at_home = board and not board.endswith(".toml") and "/" not in board
    if board and at_home and (":" not in board or board.startswith("virtual:")):
        # A Nucleo that the bench does not have is no slip of the hand for one that it has.
        model = _NUCLEO.match(board.removeprefix("virtual:").lower())
        if model and not any(chip.startswith(model[0]) for chip in chips()):
            raise UnknownNameError(
                f"The bench has no board {board[:80]!r}, and ./lab list shows those that it has. For your "
                f"own program give ./lab masks --chip stm32{model[1]}; docs/boards/README.md adds a board."
            )
        wanted += [("board", [board], boards(), "bench.toml")]
    if len(named) == len(allocators_):
        wanted += [("knob", knobs_, knobs(named), " or ".join(named))]
    for what, given, names, of in wanted:
        for name in given:
            if names and name not in names:
                raise UnknownNameError(no_such(what, name, names, of))


def run_folder(word: str) -> Path:
    """The folder. Raises UnknownNameError if it is none, or has a name not to be shown."""
    path = Path(word)
    if printable(word) != word:
        raise UnknownNameError(f"{printable(word)[:200]} has control characters in it; rename it.")
    with suppress(OSError, ValueError):  # a name that is too long, or one that no system can have
        if path.is_dir():
            return path
    near = nearest(path.name, runs(path.parent), 1)
    question = f" Did you mean {path.parent / near[0]}?" if near else " ls runs/ shows what there is."
    raise UnknownNameError(f"There is no run folder {word[:200]}.{question}")


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # its reader says what is wrong with it
        return {}
