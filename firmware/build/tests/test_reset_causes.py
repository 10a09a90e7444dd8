"""The flags of RCC_CSR against RM0368, 6.3.18, RM0351, 6.4.29, and RM0008, 7.3.10."""

import pytest

from firmware.build.reset_causes import causes


@pytest.mark.parametrize(
    ("family", "flags", "says"),
    [
        ("stm32f4", 0x0400_0000, ()),  # the pin
        ("stm32f4", 0x1400_0000, ()),  # the pin, and the loader by software
        ("stm32f4", 0x0E00_0000, ("a power-up",)),
        ("stm32f4", 0x0600_0000, ("a brown-out",)),
        ("stm32f4", 0x4600_0000, ("a brown-out", "the window watchdog")),
        ("stm32l4", 0x0C00_0000, ("a power-up",)),  # the value of RCC_CSR behind one
        ("stm32l4", 0x0500_0000, ("the firewall",)),
        ("stm32f1", 0x0C00_0000, ("a power-up",)),
        ("stm32f1", 0x2600_0000, ("the independent watchdog",)),  # bit 25 is reserved
        ("stm32f0", 0x0C00_0000, ("a power-up",)),
        ("stm32f0", 0x0600_0000, ("a load of its option bytes",)),
        ("somebodys-own", 0x0600_0000, ("a brown-out",)),
    ],
)
def test_the_causes_of_a_reset_are_those_of_the_manual(
    family: str, flags: int, says: tuple[str, ...]
) -> None:
    assert causes(flags, family) == says
