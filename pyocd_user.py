"""pyOCD reads this by itself when it is started in this folder: it defines the targets of the
boards' chips, which pyOCD does not know, alike for a Nucleo on USB and for the virtual one.

The F412 of the STM32F4 has the same flash controller and the same sectors, so its flash algorithm
serves; it has 256 KiB of SRAM, and these have less (DS10086, DS10314 and DS10693, memory maps). The
L475 is the L476 without the LCD (DS10198 and DS10969): flash and SRAM are the same.
"""

from pyocd.core.memory_map import MemoryMap, RamRegion
from pyocd.target import TARGET
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
TARGET.setdefault("stm32l476rgtx", type("stm32l476rgtx", (STM32L475xG,), {}))
