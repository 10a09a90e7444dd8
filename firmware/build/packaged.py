"""What an installed package brings built, so that no compiler is needed at the usual settings.

An image is a folder with the name that its build has, and in it the ELF files and `image.json`: the
definitions that CMake was given, the digest of the firmware, and what else only the build's folder
tells. The heaps' builds for a PC are in one archive, since they have nearly all bytes in common.
`./lab dev package` puts them there.
"""

from __future__ import annotations

import json
import lzma
import platform
import shutil
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError
from base.files.turns import taking_turns
from base.files.whole import write_bytes
from base.paths import BUILD, INSTALLED, ROOT

ROOM = ROOT / "firmware"
"""Where an installed package has what it brings."""
IMAGES, HOST_PROGRAMS = "images", "host_programs.tar.xz"
HOST_FILES = ("trace_replay", "footprint")
_HOST_MACHINE = "x86_64"
_UNPACKED = "packaged-heap-host"
ELF, FOOTPRINT = "tailscope.elf", "tailscope_footprint.elf"
_NOTE = "image.json"


class PackagedError(TailscopeError):
    """An image of the package is damaged. The message names it."""


def find(name: str, definitions: Mapping[str, object]) -> Mapping[str, Any] | None:
    """What the package says of the image `name`; None where it has none of these definitions, and
    in a checkout.

    Its keys: elf, a path; sha256; kernel, the version; looks, addresses. Raises PackagedError.
    """
    if not INSTALLED:
        return None
    note = ROOM / IMAGES / name / _NOTE
    try:
        text = note.read_text(encoding="utf-8")
    except OSError:
        return None
    try:
        image: dict[str, Any] = json.loads(text)
        if image["definitions"] != _as_words(definitions):
            return None
        return {"elf": note.with_name(ELF), **{key: image[key] for key in ("sha256", "kernel", "looks")}}
    except (ValueError, KeyError, TypeError):
        raise PackagedError(f"{note} is damaged: install the package again.") from None


def holds(elf: Path) -> bool:
    """Whether the ELF file is one of the package, made of the sources in ROOM."""
    return INSTALLED and elf.is_relative_to(ROOM / IMAGES)


def write(
    place: Path,
    definitions: Mapping[str, object],
    built: Path,
    sha256: str,
    kernel: str,
    looks: tuple[int, ...],
) -> None:
    """Puts the image in the folder `built` into `place`, whose name below IMAGES `find` takes."""
    place.mkdir(parents=True)
    for file in (ELF, FOOTPRINT):
        shutil.copyfile(built / file, place / file)
    image = {"definitions": _as_words(definitions), "sha256": sha256, "kernel": kernel, "looks": looks}
    (place / _NOTE).write_text(json.dumps(image, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def host_program(name: str) -> Path | None:
    """The folder with the build of a heap for a PC that has this name, unpacked; None where the
    package has none for this machine. Raises PackagedError, and WriteError.
    """
    programs = ROOM / HOST_PROGRAMS
    if not INSTALLED or platform.machine() != _HOST_MACHINE or not programs.is_file():
        return None
    folder = BUILD / _UNPACKED / name
    with taking_turns(folder):
        if not all((folder / file).exists() for file in HOST_FILES):
            return folder if _unpacked(programs, name, folder) else None
    return folder


def _unpacked(programs: Path, name: str, folder: Path) -> bool:
    """Whether the archive had it."""
    wanted = {f"{name}/{file}" for file in HOST_FILES}
    try:
        with tarfile.open(programs, "r:xz") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.name in wanted else None
                if content is not None:
                    folder.mkdir(parents=True, exist_ok=True)
                    place = folder / Path(member.name).name
                    write_bytes(place, content.read())
                    place.chmod(0o755)
                    wanted.discard(member.name)
                    if not wanted:
                        return True
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise PackagedError(f"{programs} cannot be unpacked ({error}): install the package again.") from None
    return False


def write_host_programs(file: Path, folders: Iterable[Path]) -> None:
    """Puts the programs of these build folders into the archive `file`; equal ones, equal bytes."""
    with tarfile.open(file, "w:xz", preset=9) as archive:
        for folder in folders:
            for name in HOST_FILES:
                archive.add(folder / name, f"{folder.name}/{name}", filter=without_owner)


def without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member of an archive, less whose file it was and when it was written."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def _as_words(definitions: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in definitions.items()}
