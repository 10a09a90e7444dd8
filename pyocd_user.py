"""pyOCD reads this by itself when it is started in this folder: it defines the targets of the
boards' chips, which pyOCD does not know, alike for a Nucleo on USB and for the virtual one.

The F412 of the STM32F4 has the same flash controller and the same sectors, so its flash algorithm
serves; it has 256 KiB of SRAM, and these have less (DS10086, DS10314 and DS10693, memory maps). The
L475 is the L476 without the LCD (DS10198 and DS10969): flash and SRAM are the same.

Of the STM32F103 pyOCD knows the RC. Its flash algorithm serves the RB too, but the pages of the
RB's smaller flash have 1 KiB (PM0075, section 2.1).

Of the STM32F0 it knows the F051. Its flash algorithm serves the F072 too, whose pages have 2 KiB
(RM0091, section 3.2.1).
"""

from pyocd.core.memory_map import FlashRegion, MemoryMap, RamRegion
from pyocd.target import TARGET
from pyocd.target.builtin import target_STM32F051T8 as low_density
from pyocd.target.builtin import target_STM32F103RC as high_density
from pyocd.target.builtin.target_STM32F412xx import STM32F412xE
from pyocd.target.builtin.target_STM32L475xx import STM32L475xG

SRAM_START = 0x2000_0000
SRAM_BYTES = {"stm32f401retx": 96 << 10, "stm32f411retx": 128 << 10, "stm32f446retx": 128 << 10}


def _memory_map(sram_bytes: int) -> MemoryMap:
    """The F412's, with other SRAM."""
    regions = (region for region in STM32F412xE.MEMORY_MAP if not region.is_ram)
    return MemoryMap(*regions, RamRegion(start=SRAM_START, length=sram_bytes))


for name, size in SRAM_BYTES.items():
    target = type(name, (STM32F412xE,), {"MEMORY_MAP": _memory_map(size)})
    TARGET.setdefault(name, target)


class STM32F103RB(high_density.STM32F103RC):
    """128 KiB of flash and 20 KiB of SRAM (RM0008, section 3.3)."""

    MEMORY_MAP = MemoryMap(
        FlashRegion(
            start=0x0800_0000,
            length=128 << 10,
            blocksize=1 << 10,
            is_boot_memory=True,
            algo=high_density.FLASH_ALGO,
        ),
        RamRegion(start=SRAM_START, length=20 << 10),
    )


TARGET.setdefault("stm32f103rb", STM32F103RB)


class STM32F072RB(low_density.STM32F051):
    """128 KiB of flash and 16 KiB of SRAM (RM0091, section 2.2)."""

    MEMORY_MAP = MemoryMap(
        FlashRegion(
            start=0x0800_0000,
            length=128 << 10,
            sector_size=2 << 10,
            page_size=1 << 10,  # the algorithm's two buffers have no more
            is_boot_memory=True,
            algo=low_density.FLASH_ALGO,
        ),
        RamRegion(start=SRAM_START, length=16 << 10),
    )


TARGET.setdefault("stm32f072rb", STM32F072RB)
TARGET.setdefault("stm32l476rgtx", type("stm32l476rgtx", (STM32L475xG,), {}))
