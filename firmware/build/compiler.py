"""Which compiler made an image: its own words, which it leaves in every object file."""

from __future__ import annotations

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from base.files.errors import TailscopeError

_MOST_CHARACTERS = 200


class CompilerError(TailscopeError):
    """An image does not tell; the message says why."""


def of_image(elf: Path) -> str:
    """`GCC: (15:12.2.rel1-1) 12.2.1 20221205`, from the section .comment.

    Several compilers are separated by `; `. Raises CompilerError.
    """
    try:
        with elf.open("rb") as file:
            section = ELFFile(file).get_section_by_name(".comment")
            words = section.data().split(b"\0") if section else []
    except (OSError, ELFError) as error:
        raise CompilerError(f"{elf} could not be read: {error}.") from None
    told = dict.fromkeys(word.decode("ascii", "replace") for word in words if word)
    return "; ".join(told)[:_MOST_CHARACTERS] or "unknown"
