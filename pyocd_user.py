"""pyOCD reads this by itself when it is started in this folder: it defines the targets of the
boards' chips, which pyOCD does not know, alike for a Nucleo on USB and for the virtual one.

The F412 of the STM32F4 has the same flash controller and the same sectors, so its flash algorithm
serves; it has 256 KiB of SRAM, and these have less (DS10086, DS10314 and DS10693, memory maps). The
L475 is the L476 without the LCD (DS10198 and DS10969): flash and SRAM are the same.

Of the STM32F103 pyOCD knows the RC. Its flash algorithm serves the RB too, but the pages of the
RB's smaller flash have 1 KiB (PM0075, section 2.1).

Of the STM32F0 it knows the F051. Its flash algorithm serves the F072 too, whose pages have 2 KiB
(RM0091, section 3.2.1).

Of the STM32G0 and G4 it knows none, and no other line's algorithm numbers their pages right. Their
flash is driven by its registers here, without code in the SRAM.
"""

from collections.abc import Sequence

from pyocd.core.exceptions import FlashEraseFailure, FlashFailure, FlashProgramFailure
from pyocd.core.memory_map import FlashRegion, MemoryMap, RamRegion
from pyocd.coresight.coresight_target import CoreSightTarget
from pyocd.flash.flash import Flash
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


FLASH_START, PAGE_BYTES = 0x0800_0000, 2 << 10
FLASH_KEYR, FLASH_SR, FLASH_CR = 0x4002_2008, 0x4002_2010, 0x4002_2014
KEYS = (0x4567_0123, 0xCDEF_89AB)
BSY, ERRORS = 1 << 16, 0x3FA
PG, PER, MER1, BKER, MER2, STRT, LOCK = 1 << 0, 1 << 1, 1 << 2, 1 << 11, 1 << 15, 1 << 16, 1 << 31
PNB_SHIFT = 3
POLLS = 10_000
"""An erasure takes 40 ms at the most, and a poll over USB 0.1 ms or more."""


class DoubleWordFlash(Flash):
    """A flash of pages of 2 KiB that is programmed by double words (RM0444 and RM0440, sections
    3.3.6 to 3.3.8), in `BANKS` banks.
    """

    BANKS = 1

    def __init__(self, target: CoreSightTarget) -> None:
        super().__init__(target, None)
        self.is_valid = True
        self.min_program_length = 8

    @property
    def is_erase_all_supported(self) -> bool:
        return True

    def init(
        self, operation: Flash.Operation, address: int | None = None, clock: int = 0, reset: bool = False
    ) -> None:
        """Halts the core, and opens the flash, for whatever comes."""
        del operation, address, clock
        if reset:
            self.target.reset_and_halt()
        else:
            self.target.halt()
        if self.target.read32(FLASH_CR) & LOCK:
            for key in KEYS:
                self.target.write32(FLASH_KEYR, key)
        if self.target.read32(FLASH_CR) & LOCK:
            raise FlashFailure("the flash stays locked: reset the chip")
        self.target.write32(FLASH_SR, ERRORS)

    def uninit(self) -> None:
        """Locks the flash."""
        self.target.write32(FLASH_CR, LOCK)

    def cleanup(self) -> None:
        """Nothing was left in the SRAM."""

    def erase_all(self) -> None:
        """Erases every bank."""
        self._erase(MER1 | (MER2 if self.BANKS > 1 else 0), FLASH_START)

    def erase_sector(self, address: int) -> None:
        """Erases the page at an address."""
        offset, bank_bytes = address - FLASH_START, self.region.length // self.BANKS
        page = offset % bank_bytes // PAGE_BYTES
        self._erase(PER | page << PNB_SHIFT | (BKER if offset >= bank_bytes else 0), address)

    def program_page(self, address: int, bytes: Sequence[int]) -> None:
        """Programs double words."""
        content = [*bytes, *[0xFF] * (-len(bytes) % 8)]
        words = [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content), 4)]
        self.target.write32(FLASH_CR, PG)
        self.target.write_memory_block32(address, words)
        status = self._wait()
        self.target.write32(FLASH_CR, 0)
        if status & ERRORS:
            raise FlashProgramFailure("flash program page failure", address=address, result_code=status)

    def _erase(self, what: int, address: int) -> None:
        self.target.write32(FLASH_CR, what)
        self.target.write32(FLASH_CR, what | STRT)
        status = self._wait()
        self.target.write32(FLASH_CR, 0)
        if status & ERRORS:
            raise FlashEraseFailure("flash erase failure", address=address, result_code=status)

    def _wait(self) -> int:
        """FLASH_SR once it is no longer busy."""
        for _ in range(POLLS):
            status = int(self.target.read32(FLASH_SR))
            if not status & BSY:
                return status
        raise FlashFailure("the flash stays busy: reset the chip")


class TwoBanks(DoubleWordFlash):
    """The same in two banks."""

    BANKS = 2


def _double_words(flash: type[DoubleWordFlash], flash_bytes: int, sram_bytes: int) -> MemoryMap:
    return MemoryMap(
        FlashRegion(
            start=FLASH_START,
            length=flash_bytes,
            sector_size=PAGE_BYTES,
            page_size=PAGE_BYTES,
            is_boot_memory=True,
            flash_class=flash,
        ),
        RamRegion(start=SRAM_START, length=sram_bytes),
    )


class STM32G071RB(CoreSightTarget):
    """128 KiB of flash and 36 KiB of SRAM (RM0444, section 2.2)."""

    MEMORY_MAP = _double_words(DoubleWordFlash, 128 << 10, 36 << 10)

    def __init__(self, session: object) -> None:
        super().__init__(session, self.MEMORY_MAP)


class STM32G474RE(CoreSightTarget):
    """512 KiB of flash in two banks, and 128 KiB of SRAM (RM0440, section 2.2)."""

    MEMORY_MAP = _double_words(TwoBanks, 512 << 10, 128 << 10)

    def __init__(self, session: object) -> None:
        super().__init__(session, self.MEMORY_MAP)

    def post_connect_hook(self) -> None:
        """Debuggers read while the core sleeps (RM0440, section 47.16)."""
        self.write32(0xE004_2004, 0b111)


TARGET.setdefault("stm32g071rbtx", STM32G071RB)
TARGET.setdefault("stm32g474retx", STM32G474RE)
