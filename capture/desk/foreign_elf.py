"""ELF files that the bench did not build: may they be loaded?"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.files.errors import CaptureError
from base.files.whole import open_regular, why

MOST_BYTES = 256 << 20
"""Far above a program of this line with all its debug information."""


def checked_digest(path: Path) -> str:
    """The SHA-256 of an executable for a Cortex-M. Raises CaptureError for anything else."""
    try:
        with open_regular(path, MOST_BYTES) as file:
            content = file.read()
        refused = _refusal(content[:4], path) or _refusal_of(ELFFile(io.BytesIO(content)))
    except OSError as error:
        raise CaptureError(f"{path} cannot be read as an ELF file: {why(error)}.") from None
    except DAMAGED:
        raise CaptureError(f"{path} is a damaged ELF file; link it again.") from None
    if refused:
        raise CaptureError(f"{path} {refused}")
    return hashlib.sha256(content).hexdigest()


def _refusal(magic: bytes, path: Path) -> str:
    if magic == b"\x7fELF":
        return ""
    return f"is no ELF file: give what the linker wrote, not a {path.suffix or 'raw'} image made of it."


def _refusal_of(elf: ELFFile) -> str:
    """What is wrong with it, as a predicate; empty if nothing is."""
    machine = elf.get_machine_arch()
    if elf["e_machine"] == "EM_ARM" and not elf.little_endian:
        return "is a big-endian program, and a Cortex-M is little-endian: link it without -mbig-endian."
    if elf["e_machine"] != "EM_ARM":
        return f"is for {machine}, and the board has an Arm Cortex-M: build it for that."
    if elf["e_type"] != "ET_EXEC":
        return "is not linked to run at fixed addresses: give the executable, not an object or a library."
    loaded = [part for part in elf.iter_segments() if part["p_type"] == "PT_LOAD"]
    if any(len(part.data()) < part["p_filesz"] for part in loaded):
        return "ends before what is to be loaded does: it is damaged; link it again."
    return "" if loaded else "has nothing in it to be loaded; give what the linker wrote."
