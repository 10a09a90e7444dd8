"""What reset a board, in words, by the flags of RCC_CSR as its family has them.

The pin's flag is left out, since every reset pulls the pin; and that of a reset by software, which
a loader may ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

POWER_UP = "a power-up"
_BROWN_OUT = "a brown-out"
_INDEPENDENT, _WINDOW = "the independent watchdog", "the window watchdog"
_OPTION_BYTES = "a load of its option bytes"
_LOW_POWER = "an entry into a low-power mode"


@dataclass(frozen=True)
class _Flags:
    """The causes by their bit. `implied` are bits that mean nothing beside another one."""

    causes: Mapping[int, str]
    implied: Mapping[int, int]


_WATCHDOGS = {29: _INDEPENDENT, 30: _WINDOW, 31: _LOW_POWER}
_F4 = _Flags({25: _BROWN_OUT, 27: POWER_UP, **_WATCHDOGS}, {25: 27})
"""RM0368, section 6.3.18. A power-up sets the flag of the brown-out too."""
_L4 = _Flags({24: "the firewall", 25: _OPTION_BYTES, 27: POWER_UP, **_WATCHDOGS}, {})
"""RM0351, section 6.4.29. One flag tells of a power-up or a brown-out."""

_F1 = _Flags({27: POWER_UP, **_WATCHDOGS}, {})
"""RM0008, section 7.3.10."""

_F0 = _Flags({25: _OPTION_BYTES, 27: POWER_UP, **_WATCHDOGS}, {})
"""RM0091, section 6.4.10. One flag tells of a power-up or a brown-out."""

_G = _Flags({25: _OPTION_BYTES, 27: POWER_UP, **_WATCHDOGS}, {})
"""RM0444, section 5.4.22; RM0440, section 7.4.28. One flag tells of a power-up or a brown-out."""

FAMILIES: Mapping[str, _Flags] = MappingProxyType(
    {"stm32f4": _F4, "stm32l4": _L4, "stm32f1": _F1, "stm32f0": _F0, "stm32g0": _G, "stm32g4": _G}
)


def causes(flags: int | None, family: str) -> tuple[str, ...]:
    """The causes of the resets that `flags` tell of, in words. A family that is not known has the
    flags of the STM32F4.
    """
    reset_names, given = FAMILIES.get(family, _F4), flags or 0
    return tuple(
        words
        for bit, words in reset_names.causes.items()
        if given >> bit & 1 and not (bit in reset_names.implied and given >> reset_names.implied[bit] & 1)
    )
