"""pyOCD reads this by itself when it is started in this folder: it defines the target
`stm32f401retx`, which pyOCD does not know, alike for a Nucleo on USB and for the virtual one.

The F412 of the same family has the same flash controller and the same sectors, so its flash
algorithm serves; the F401xE has 96 KiB of SRAM where the F412 has 256 (DS10086, section 3.5).
"""

from pyocd.core.memory_map import MemoryMap, RamRegion
from pyocd.target import TARGET
from pyocd.target.builtin.target_STM32F412xx import STM32F412xE

SRAM_START = 0x2000_0000
SRAM_BYTES = 0x1_8000


class STM32F401xE(STM32F412xE):  # type: ignore[misc]  # pyOCD has no type information
    """The F412's target with the F401's memory."""

    MEMORY_MAP = MemoryMap(
        *(region for region in STM32F412xE.MEMORY_MAP if not region.is_ram),
        RamRegion(start=SRAM_START, length=SRAM_BYTES),
    )


TARGET.setdefault("stm32f401retx", STM32F401xE)
