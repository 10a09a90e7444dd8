"""What a wheel of the same sources has built, so that a checkout need not compile it.

A wheel tells by a digest which sources its simulator and its images were made of; `./lab dev
package` writes it. The wheel is looked for in dist/, or where TAILSCOPE_WHEEL says. One file of
simulator/ or firmware/ that is another, and that room is compiled as ever.

`lab` runs this module before there is a virtual environment: Python's own library has to do.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from base.files.errors import TailscopeError
from base.files.turns import taking_turns
from base.paths import BUILD, INSTALLED, ROOT

VARIABLE = "TAILSCOPE_WHEEL"
NONE = "no"
NOTE = "SOURCES"
"""The file in the private folder of the package with a line for each room: its name, its digest."""
BROUGHT = {
    "simulator": ("simulator/virtual-nucleo",),
    "firmware": ("firmware/images/", "firmware/host_programs.tar.xz"),
}
"""By room what a package has built of it."""
_FOLDER = BUILD / "at-hand"
_PROGRAM = "tailscope/_program/"
_NOTHING = 3
"""The exit status, for `lab`."""
_MADE = {"target", "__pycache__"}


class AtHandError(TailscopeError):
    """What TAILSCOPE_WHEEL names cannot be used. The message says why and what to do."""


@cache
def digest(room: str, root: Path = ROOT) -> str:
    """Of every file in the room of a checkout, by name and content, in hexadecimal.

    Left out is what builds make, and what begins with a dot.
    """
    return digest_of(_files(root / room), root)


def digest_of(files: Iterable[Path], root: Path) -> str:
    """Of these files by their names below `root` and their content, in that order."""
    found = hashlib.sha256()
    for path in files:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{content} {path.relative_to(root).as_posix()}\n".encode())
    return found.hexdigest()


def made_of(room: str) -> str:
    """The digest of a room's sources: those here, or those that an installed package is of."""
    if not INSTALLED:
        return digest(room)
    return dict(line.split(" ") for line in (ROOT / NOTE).read_text("ascii").splitlines())[room]


def note() -> str:
    """The text of NOTE for this checkout."""
    return "".join(f"{room} {digest(room)}\n" for room in BROUGHT)


@cache
def brought(room: str) -> Path | None:
    """The folder of a room as a package of these sources has it built; None where none is at hand,
    and in an installed package. The first time a sentence on standard error says which it is.

    It holds what BROUGHT has, below the room. Raises AtHandError, WriteError.
    """
    package = None if INSTALLED else _at_hand(room)
    if package is None:
        if not INSTALLED and os.environ.get(VARIABLE, NONE) not in ("", NONE):
            _say(f"What {VARIABLE} names was made of another {room}/: this one is compiled.")
        return None
    place = _place(room)
    with taking_turns(place):
        if not place.is_dir():
            _unpack(package, room, place)
            _say(
                f"{_shown(package)} was made of the same {room}/: what it has built is taken "
                f"({VARIABLE}={NONE} compiles)."
            )
    return place / room


def everything() -> bool:
    """Whether all that a package has built is at hand, of these sources. Raises AtHandError."""
    return all(_at_hand(room) is not None for room in BROUGHT)


def holds(path: Path, room: str) -> bool:
    """Whether a file is one of brought(), of the sources that are here now."""
    return path.is_relative_to(_FOLDER) and path.is_relative_to(_place(room))


def _place(room: str) -> Path:
    return _FOLDER / f"{room}-{digest(room)}"


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _MADE or path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path


def _at_hand(room: str) -> Path | None:
    """A wheel, or the folder of an installed package, with this room of the same sources."""
    named = os.environ.get(VARIABLE, "")
    if named == NONE:
        return None
    if not named:
        wheels = (ROOT / "dist").glob(f"tailscope-*_{platform.machine()}.whl")
        return next((one for one in sorted(wheels) if (_told(one) or {}).get(room) == digest(room)), None)
    path = Path(named).expanduser().absolute()
    told = _told(path)
    if told is None:
        raise AtHandError(
            f"{VARIABLE} names {_shown(path)}, which is no wheel of the bench and no folder of an installed "
            f"one: name another, or say {VARIABLE}={NONE}."
        )
    if path.suffix == ".whl" and not path.stem.endswith(f"_{platform.machine()}"):
        raise AtHandError(f"{VARIABLE} names {_shown(path)}, which is not for {platform.machine()}.")
    return path if told.get(room) == digest(room) else None


def _told(package: Path) -> dict[str, str] | None:
    """The digests of a package by room; None where it is none, or tells none."""
    try:
        if package.is_dir():
            text = (_program_of(package) / NOTE).read_text(encoding="ascii")
        else:
            with zipfile.ZipFile(package) as archive:
                text = archive.read(_PROGRAM + NOTE).decode("ascii")
        return dict(line.split(" ") for line in text.splitlines())
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def _program_of(package: Path) -> Path:
    """The private folder of an installed package, or of the folder that it is installed in."""
    inner = package / PurePosixPath(_PROGRAM).name
    return inner if inner.is_dir() else package / _PROGRAM


def _unpack(package: Path, room: str, place: Path) -> None:
    """Puts what is built of a room below `place`, whole or not at all."""
    with tempfile.TemporaryDirectory(prefix=".at-hand-", dir=place.parent) as beside:
        try:
            made = _copied(package, room, Path(beside))
            made.rename(place)
        except (OSError, zipfile.BadZipFile) as error:
            raise AtHandError(
                f"{_shown(package)} cannot be unpacked ({error}): restore it, or say {VARIABLE}={NONE}."
            ) from None


def _copied(package: Path, room: str, folder: Path) -> Path:
    """The folder that now holds the room's parts."""
    if package.is_dir():
        for part in BROUGHT[room]:
            source, target = _program_of(package) / part, folder / _PROGRAM / part
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        return folder / _PROGRAM
    with zipfile.ZipFile(package) as archive:
        wanted = tuple(_PROGRAM + part for part in BROUGHT[room])
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(wanted)])
    for program in (folder / _PROGRAM).glob("simulator/*"):
        program.chmod(0o755)
    return folder / _PROGRAM


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


if __name__ == "__main__":
    try:
        sys.exit(0 if everything() else _NOTHING)
    except TailscopeError as error:
        sys.exit(str(error))
