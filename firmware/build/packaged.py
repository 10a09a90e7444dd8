"""What an installed package brings built, so that no compiler is needed at the usual settings.

An image has a folder with the name of its build, and in it `image.json`: the definitions that CMake
was given, the digest of the firmware, and what else only the build's folder tells. The ELF files
are in one archive, the heaps' builds for a PC in another, since they have nearly all bytes in
common: what is wanted is unpacked to the user's cache. `./lab dev package` puts them there.
"""

from __future__ import annotations

import json
import lzma
import platform
import tarfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError
from base.files.locks import taking_turns
from base.files.whole import WriteError, write_bytes
from base.paths import BUILD, INSTALLED, ROOT

ROOM = ROOT / "firmware"
"""Where an installed package has what it brings."""
IMAGES, ELF_FILES, HOST_PROGRAMS = "images", "elf_files.tar.xz", "host_programs.tar.xz"
HOST_FILES = ("trace_replay", "footprint")
_HOST_MACHINE = "x86_64"
_UNPACKED = "packaged"
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
        image: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
        if image["definitions"] != _as_words(definitions):
            return None
        described = {"sha256": image["sha256"], "kernel": image["kernel"], "looks": tuple(image["looks"])}
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        raise PackagedError(f"{note} is damaged: install the package again.") from None
    folder = _unpacked(ELF_FILES, name, (ELF, FOOTPRINT))
    return {"elf": folder / ELF, **described} if folder else None


def holds(elf: Path) -> bool:
    """Whether the ELF file is one of the package, made of the sources in ROOM."""
    return INSTALLED and elf.is_relative_to(BUILD / _UNPACKED / ELF_FILES)


def write(
    place: Path, definitions: Mapping[str, object], sha256: str, kernel: str, looks: tuple[int, ...]
) -> None:
    """Puts what is said of an image into `place`, whose name below IMAGES `find` takes."""
    place.mkdir(parents=True)
    image = {"definitions": _as_words(definitions), "sha256": sha256, "kernel": kernel, "looks": looks}
    (place / _NOTE).write_text(json.dumps(image, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def host_program(name: str) -> Path | None:
    """The folder with the build of a heap for a PC that has this name, unpacked; None where the
    package has none for this machine. Raises PackagedError.
    """
    if not INSTALLED or platform.machine() != _HOST_MACHINE or not (ROOM / HOST_PROGRAMS).is_file():
        return None
    return _unpacked(HOST_PROGRAMS, name, HOST_FILES)


def _unpacked(archive_name: str, name: str, files: Collection[str]) -> Path | None:
    """The folder with these files of `name`; None where the archive has not all of them."""
    packed, folder = ROOM / archive_name, BUILD / _UNPACKED / archive_name / name
    try:
        with taking_turns(folder):
            if all((folder / file).exists() for file in files):
                return folder
            wanted = {f"{name}/{file}" for file in files}
            with tarfile.open(packed, "r:xz") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.name in wanted else None
                    if content is not None:
                        folder.mkdir(parents=True, exist_ok=True)
                        place = folder / Path(member.name).name
                        write_bytes(place, content.read())
                        place.chmod(0o755)
                        wanted.discard(member.name)
                        if not wanted:
                            return folder
    except WriteError as error:
        said = str(error).rstrip(".")
        raise PackagedError(f"{said}; set TAILSCOPE_CACHE to a folder that can be.") from None
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise PackagedError(f"{packed} cannot be unpacked ({error}): install the package again.") from None
    return None


def pack(file: Path, folders: Mapping[str, Path], files: Collection[str]) -> None:
    """Puts these files of the build folders, by name, into the archive `file`: the same bytes for
    the same files.
    """
    with tarfile.open(file, "w:xz", preset=9) as archive:
        for name in sorted(folders):
            for content in files:
                archive.add(folders[name] / content, f"{name}/{content}", filter=without_owner)


def without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member of an archive, less whose file it was and when it was written."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def _as_words(definitions: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in definitions.items()}
