"""What `./lab test` can be limited to: a folder of the repository, or one allocator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from base.files.errors import TailscopeError, near_miss
from base.paths import ROOT
from firmware.build import catalogue

HEAP = Path("firmware", "heap")
_NO_ROOMS = {"build", "dist", "runs"}


class RoomError(TailscopeError):
    """There is no such room. The message says which there are."""


@dataclass(frozen=True)
class Room:
    """A folder, relative to the repository, and the one allocator that is meant, if one is."""

    folder: Path
    allocator: str | None = None

    def __str__(self) -> str:
        return f"{self.folder.name}/{self.allocator}" if self.allocator else str(self.folder)

    def contains(self, folder: Path) -> bool:
        """Whether `folder` lies within the room."""
        return folder.is_relative_to(self.folder)

    def touches(self, folder: Path) -> bool:
        """Whether `folder` lies within the room, or the room within it."""
        return self.contains(folder) or self.folder.is_relative_to(folder)

    def files(self, *patterns: str) -> list[Path]:
        """The files of the room whose names match a pattern: absolute paths, sorted."""
        return sorted(path for pattern in patterns for path in (ROOT / self.folder).rglob(pattern))


WHOLE = Room(Path())


def of(word: str) -> Room:
    """The room of this name: `capture`, `capture/verdict`, `heap` (firmware/heap) or `heap/tlsf`.

    Raises RoomError.
    """
    first, _, rest = word.strip("/").partition("/")
    if first == HEAP.name:
        return Room(HEAP, rest) if rest in catalogue.allocators() else _folder(HEAP / rest, word)
    return _folder(Path(first, rest), word)


def names() -> list[str]:
    """The names of the folders at the top of the repository that are rooms, sorted."""
    return sorted(
        folder.name
        for folder in ROOT.iterdir()
        if folder.is_dir() and not folder.name.startswith((".", "_")) and folder.name not in _NO_ROOMS
    )


def _folder(folder: Path, word: str) -> Room:
    if folder.parts and folder.parts[0] in names() and ".." not in folder.parts and (ROOT / folder).is_dir():
        return Room(folder)
    folders = names()
    raise RoomError(
        f"There is no room {word!r}: choose {', '.join(folders)}, a folder in one such as capture/verdict, "
        f"or heap/ALLOCATOR.{near_miss(word, folders)}"
    )
