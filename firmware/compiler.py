"""Which compilers made an ELF file, as they wrote it there themselves."""

from __future__ import annotations

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile


def compilers_of(elf: Path) -> str | None:
    """What the section `.comment` says, such as `GCC: (15:12.2.rel1-1) 12.2.1 20221205`.

    Several are joined by commas, in the order of the file. None where it says nothing.
    """
    try:
        with elf.open("rb") as file:
            section = ELFFile(file).get_section_by_name(".comment")
            content = section.data() if section else b""
    except (OSError, ELFError):
        return None
    words = (word.decode(errors="replace").strip() for word in content.split(b"\0"))
    return ", ".join(dict.fromkeys(word for word in words if word)) or None
