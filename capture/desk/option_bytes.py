"""What the option bytes of an STM32F4 forbid a loader, in words."""

from __future__ import annotations

import re

FLASH_OPTCR = 0x4002_3C14
"""RM0368, section 3.8.6, and alike in the other chips of the line."""

_RDP_SHIFT, _NWRP_SHIFT = 8, 16
_OPEN, _CLOSED_FOR_EVER = 0xAA, 0xCC
_SECTORS = 8
_SPRMOD = 1 << 31

_READ = re.compile(r"^\s*40023c14:\s+([0-9a-f]{8})\b", re.IGNORECASE | re.MULTILINE)
_TOOL = "STM32CubeProgrammer"


def read_from(said: str) -> int | None:
    """FLASH_OPTCR in what pyOCD prints of it; None if it is not there."""
    found = _READ.search(said)
    return int(found[1], 16) if found else None


def objection(optcr: int) -> str | None:
    """Why nothing can be loaded, and what to do; None if the option bytes allow it.

    Begins in the middle of a sentence whose subject is the board.
    """
    level = optcr >> _RDP_SHIFT & 0xFF
    if level == _CLOSED_FOR_EVER:
        return "its flash is read-protected for ever (RDP level 2 in the option bytes); take another board."
    if level != _OPEN:
        return (
            f"its flash is read-protected (RDP level 1 in the option bytes); set level 0 with {_TOOL}, "
            "which erases the flash."
        )
    closed = [sector for sector in range(_SECTORS) if not optcr >> _NWRP_SHIFT + sector & 1]
    if closed and not optcr & _SPRMOD:
        listed = ", ".join(map(str, closed))
        return (
            f"the option bytes protect sectors of its flash from being written ({listed}); set their nWRP "
            f"bits with {_TOOL}."
        )
    return None
