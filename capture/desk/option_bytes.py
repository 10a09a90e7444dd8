"""What a chip's option bytes forbid a loader, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_OPEN, _CLOSED, _CLOSED_FOR_EVER = 0xAA, 0x55, 0xCC
_TOOL = "STM32CubeProgrammer"
_READ = re.compile(r"^\s*([0-9a-f]{8}):\s+([0-9a-f]{8})\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class OptionBytes:
    """Those of a line of chips: the registers that tell of them, and what their values forbid.

    `objection` says why nothing can be loaded, and what to do; None if the option bytes allow it.
    It begins in the middle of a sentence whose subject is the board.
    """

    registers: tuple[int, ...]
    objection: Callable[[tuple[int, ...]], str | None]

    def why_not(self, said: str) -> str | None:
        """The objection by what pyOCD prints of the registers; None also where one is not there."""
        values = {int(match[1], 16): int(match[2], 16) for match in _READ.finditer(said)}
        if not all(register in values for register in self.registers):
            return None
        return self.objection(tuple(values[register] for register in self.registers))


def of_target(target: str) -> OptionBytes | None:
    """Those of the chip that pyOCD calls so; None where they are not known."""
    return _LINES.get(target.lower()[: len("stm32f4")])


def _read_protected(level: int) -> str | None:
    if level == _CLOSED_FOR_EVER:
        return "its flash is read-protected for ever (RDP level 2 in the option bytes); take another board."
    if level != _OPEN:
        return (
            f"its flash is read-protected (RDP level 1 in the option bytes); set level 0 with {_TOOL}, "
            "which erases the flash."
        )
    return None


_RDP_SHIFT, _NWRP_SHIFT = 8, 16
_SECTORS = 8
_SPRMOD = 1 << 31


def _of_f4(values: tuple[int, ...]) -> str | None:
    (optcr,) = values
    if why := _read_protected(optcr >> _RDP_SHIFT & 0xFF):
        return why
    closed = [sector for sector in range(_SECTORS) if not optcr >> _NWRP_SHIFT + sector & 1]
    if closed and not optcr & _SPRMOD:
        listed = ", ".join(map(str, closed))
        return (
            f"the option bytes protect sectors of its flash from being written ({listed}); set their nWRP "
            f"bits with {_TOOL}."
        )
    return None


def _of_l4(values: tuple[int, ...]) -> str | None:
    optr, *areas = values
    if why := _read_protected(optr & 0xFF):
        return why
    closed = [(area & 0xFF, area >> 16 & 0xFF) for area in areas if area & 0xFF <= area >> 16 & 0xFF]
    if closed:
        first, last = closed[0]
        return (
            f"the option bytes protect pages of its flash from being written ({first} to {last}); take the "
            f"areas WRP1A to WRP2B out with {_TOOL}."
        )
    return None


_RDPRT, _LEVEL_2 = 1 << 1, 3 << 1


def _of_f1(values: tuple[int, ...]) -> str | None:
    obr, wrpr = values
    return _of_f0((_RDPRT if obr & _RDPRT else 0, wrpr))


def _of_f0(values: tuple[int, ...]) -> str | None:
    obr, wrpr = values
    level = {0: _OPEN, _LEVEL_2: _CLOSED_FOR_EVER}.get(obr & _LEVEL_2, _CLOSED)
    closed = [bit for bit in range(32) if not wrpr >> bit & 1]
    if (why := _read_protected(level)) or not closed:
        return why
    listed = ", ".join(map(str, closed))
    return (
        f"the option bytes protect pages of its flash from being written (bits {listed} of FLASH_WRPR); set "
        f"the bytes WRP with {_TOOL}."
    )


# FLASH_OPTR, WRP1AR, WRP1BR, WRP2AR and WRP2BR: RM0351, sections 3.7.8 to 3.7.16.
_AT_L4 = (0x4002_2020, 0x4002_202C, 0x4002_2030, 0x4002_204C, 0x4002_2050)

_LINES: Mapping[str, OptionBytes] = {
    # FLASH_OPTCR: RM0368, section 3.8.6, and alike in the other chips of the line.
    "stm32f4": OptionBytes((0x4002_3C14,), _of_f4),
    # FLASH_OBR and FLASH_WRPR: PM0075, sections 3.7 and 3.8; RM0091, sections 3.5.7 and 3.5.8.
    "stm32f1": OptionBytes((0x4002_201C, 0x4002_2020), _of_f1),
    "stm32f0": OptionBytes((0x4002_201C, 0x4002_2020), _of_f0),
    "stm32l4": OptionBytes(_AT_L4, _of_l4),
    # The same of the STM32G0, with one bank, and of the STM32G4: RM0444, sections 3.7.8 to 3.7.12;
    # RM0440, sections 3.7.8 to 3.7.16.
    "stm32g0": OptionBytes(_AT_L4[:3], _of_l4),
    "stm32g4": OptionBytes(_AT_L4, _of_l4),
}
