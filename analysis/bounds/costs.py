"""What instructions and memories cost in the timing model.

docs/reference/timing.md has the model. caches.py says when instructions come, pipeline.py how they
follow each other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from analysis.bounds.graph import Instruction
from analysis.bounds.values import SRAM, SRAM_ADDRESS, STACK, Value, signed, unsigned
from simulator.chips import line_of

# The memories of a chip: the lines of its flash, the caches before it, and SRAM that lets wait.
#
# Chips are told apart here as the simulator does it (simulator/crates/stm32/chips).


_OPTION = "--chip"
_MOST_BYTES = 1 << 20
_SRAM_START, _KIB = 0x2000_0000, 1024
_FILE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("costs.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class FlashLines:
    """A line has `bytes` bytes. The caches have `code` and `data` places, each for `together` lines
    that follow each other. `keeps_data`: the line that was read last for data answers at once.
    `latency` and `prefetch` are fields of FLASH_ACR. Chips of the `families` have them.
    """

    bytes: int
    code: int = 0
    data: int = 0
    together: int = 1
    keeps_data: bool = True
    latency: int = 0xF
    prefetch: int = 1 << 8
    families: Sequence[str] = field(default=(), compare=False)


FLASHES = {port: FlashLines(**row) for port, row in _FILE["flashes"].items()}
"""By the port that a chip's own table names."""
_OF_F4 = FLASHES["art"]


@dataclass(frozen=True)
class Memories:
    """Those of a chip. `core` is as in `cortex-m4`. A load from `waiting`, a part of the SRAM,
    takes a cycle more.
    """

    core: str = "cortex-m4"
    lines: FlashLines = _OF_F4
    waiting: range = range(0)


OF_F401 = Memories()
_F407_WAITING = range(_SRAM_START + 112 * _KIB, _SRAM_START + 128 * _KIB)
"""SRAM2 (RM0090 §2.3.1); docs/reference/timing.md says by whom the cycle was measured."""


def of_options(options: Sequence[str]) -> Memories:
    """The memories of the chip that words of the simulator's command line name; those of the
    STM32F401 where they name none.
    """
    words = [part for word in options for part in word.split("=", 1)]
    chip = words[words.index(_OPTION) + 1] if _OPTION in words[:-1] else ""
    line = line_of(chip)
    if not chip.endswith(".toml"):
        waiting = _F407_WAITING if "F407" in chip.upper() else range(0)
        lines = next(lines for lines in FLASHES.values() if line.name in lines.families)
        return Memories(line.core, lines, waiting)
    # What a chip's own table says of it; the simulator has read it already.
    document: dict[str, Any] = {}
    with suppress(OSError, ValueError, RecursionError), Path(chip).open("rb") as file:
        document = tomllib.loads(file.read(_MOST_BYTES).decode("utf-8-sig"))
    waiting = range(0)
    for row in document.get("chips", ()):
        end = _SRAM_START + row.get("sram_kib", 0) * _KIB
        second = range(end - row.get("second_sram_kib", 0) * _KIB, end)
        waiting = range(min(waiting.start or second.start, second.start), max(waiting.stop, end))
        waiting = waiting if second else range(0)
    lines = FLASHES.get(str(document.get("flash_port")), _OF_F4)
    return Memories(str(document.get("core", line.core)), lines, waiting)


WAIT_STATES = 2
"""Wait states of the flash at 84 MHz (RM0368 §3.4.1), where nobody tells FLASH_ACR."""
APB_DIVIDER = 2
"""Cycles of the core in one of the slower bus of the peripherals, at 84 MHz (RM0368 §6.2), where
nobody tells the board.
"""
CODE_CACHE, DATA_CACHE = 1 << 9, 1 << 10
"""Fields of FLASH_ACR (RM0368 §3.8.1)."""

_LONGEST_DIVISION: int = _FILE["cycles"]["divide"]
_CORES: dict[str, dict[str, Any]] = _FILE["cores"]
_ENTRY_READS = 4
"""The vector's and the handler's first line, each perhaps behind a read that is under way."""


class Memory(Enum):
    """What an access may go to."""

    SRAM = "sram"
    """Also the stack, and the peripherals that answer at once."""
    FLASH = "flash"
    PERIPHERAL = "peripheral"
    """One behind APB."""
    ANY = "any"


_REGIONS = [(range(*span), Memory(name)) for name, spans in _FILE["regions"].items() for span in spans]
_ALIAS = range(0x2200_0000, 0x2400_0000)
"""The bit-band alias of the SRAM."""
_ALIAS_OF_DEVICES = range(0x4200_0000, 0x4400_0000)
_DEVICES = 0x4000_0000
"""From here on an access that is not aligned faults (ARM DDI 0403E, A3.2.1)."""


def divide_cycles(dividend: Value, divisor: Value, is_signed: bool) -> int:
    """The most that a division takes, by the widths that its operands can have
    (docs/reference/timing.md, "SDIV, UDIV").
    """
    if is_signed:
        low, high = signed(divisor)
        most = max(map(abs, signed(dividend)))
        least = 1 if low <= 0 <= high else min(abs(low), abs(high))
    else:
        most, least = unsigned(dividend)[1], max(unsigned(divisor)[0], 1)
    difference = most.bit_length() - least.bit_length()
    return 3 if difference < 0 else min(5 + difference // 4, _LONGEST_DIVISION)


@dataclass(frozen=True)
class Costs:
    """The costs on a chip with so many wait states, and so many core cycles in one of APB.

    `unknown` is what a pointer goes to of which nothing is known. `aligned`: all accesses are,
    also where the code does not show it. `prefetch`: the flash may be
    reading ahead, so that any other read waits for that one. `code_cache` and `data_cache`: lines
    of code, and of data, that were read once can stay (RM0368 §3.4.2); `hot_code` and `hot_data`:
    all of them are there. `counts`: an instruction costs 1, whatever it is, and nothing else does.
    """

    wait_states: int = WAIT_STATES
    apb_divider: int = APB_DIVIDER
    unknown: Memory = Memory.ANY
    prefetch: bool = True
    code_cache: bool = False
    data_cache: bool = False
    hot_code: bool = False
    hot_data: bool = False
    memories: Memories = OF_F401
    aligned: bool = False
    counts: bool = False

    @classmethod
    def of_flash(cls, flash_acr: int, unknown: Memory, memories: Memories = OF_F401) -> Costs:
        """The costs where the flash is set so."""
        lines = memories.lines
        return cls(
            flash_acr & lines.latency,
            unknown=unknown,
            prefetch=bool(flash_acr & lines.prefetch),
            code_cache=bool(lines.code and flash_acr & CODE_CACHE),
            data_cache=bool(lines.data and flash_acr & DATA_CACHE),
            memories=memories,
        )

    @property
    def lines(self) -> FlashLines:
        return self.memories.lines

    @property
    def core(self) -> str:
        return self.memories.core

    @property
    def one_bus(self) -> bool:
        """Whether the core fetches and loads over one bus: that of ARMv6-M."""
        return bool(self.refill_cycles)

    @property
    def refill_cycles(self) -> int:
        """What a branch takes on such a core, besides its own cycles; 0 on others."""
        return int(_CORES[self.core].get("refill", 0))

    def memory(self, address: Value) -> Memory:
        """What an access to an address goes to."""
        if address is not None and address[0] in (STACK, SRAM):
            return Memory.SRAM
        if address is not None and not address[0]:
            for region, memory in _REGIONS:
                if address[1] in region and address[2] in region:
                    return memory
        return self.unknown

    def load_waits(self, address: Value) -> int:
        """Cycles that a load from the SRAM at an address waits at the most."""
        waiting = self.memories.waiting
        if not waiting or address is None or address[0] not in ("", SRAM):
            return int(bool(waiting))
        low, high = (offset + (SRAM_ADDRESS if address[0] else 0) for offset in address[1:])
        if low in _ALIAS or high in _ALIAS:
            return 1
        return int(low < waiting.stop and high >= waiting.start)

    def store_reads(self, address: Value) -> int:
        """Cycles that a store waits for the word of which it changes a bit (ARM DDI 0439, 3.7):
        where it goes through a bit-band alias, or where nobody knows.
        """
        exact = address is not None and not address[0]
        aliases = (_ALIAS, _ALIAS_OF_DEVICES)
        if address and exact and not any(end in alias for end in address[1:] for alias in aliases):
            return 0
        memory = self.memory(address)
        if memory is Memory.SRAM:
            return self.load_waits(address) if exact else 0
        return 0 if memory is Memory.FLASH or self.one_bus else self.peripheral_cycles

    def may_be_unaligned(self, address: Value) -> bool:
        """Whether an access there may be served that is not aligned: devices take none, and no core
        of ARMv6-M does (ARM DDI 0419C, A3.2.1).
        """
        is_device = address is not None and not address[0] and _DEVICES <= address[1] <= address[2]
        return not self.aligned and not is_device and not self.one_bus

    @property
    def read_cycles(self) -> int:
        """A read of one line of the flash."""
        return 1 + self.wait_states

    def other_line(self, at: int) -> int:
        """The cycle in which a line arrives that is asked for in cycle `at`. A read under way comes
        first (RM0368 §3.4.2).
        """
        return at + self.read_cycles + self.prefetch * (self.read_cycles - 1)

    @property
    def peripheral_cycles(self) -> int:
        """What a transfer waits: two cycles of APB, from the next one on (ARM IHI 0024, chapter
        3).
        """
        return 3 * self.apb_divider - 2

    @property
    def certain(self) -> bool:
        """True if the duration of each read of the flash is known."""
        return self.counts or not (self.prefetch or self.code_cache or self.data_cache or self.reads_on)

    @property
    def reads_on(self) -> bool:
        """Whether the prefetch unit, whose buffer has three words, may read two lines ahead."""
        return self.lines.bytes < 3 * 4

    @property
    def float_frame_cycles(self) -> int:
        """Saving the floating-point registers of a frame."""
        return int(_CORES[self.core].get("float_frame", 0))

    @property
    def entry_cycles(self) -> int:
        """From an exception to its handler's first word at the most. The frame is written behind a
        store that is under way.
        """
        into: int = _CORES[self.core]["entry"]
        return into + self.float_frame_cycles + 2 * self.read_cycles + self.late_store_cycles

    @property
    def exception_cycles(self) -> int:
        """What entering a handler and returning from it takes, besides its instructions."""
        back: int = _CORES[self.core]["exit"]
        reads = (_ENTRY_READS - 2) * self.read_cycles
        return self.entry_cycles + back + self.float_frame_cycles + reads

    @property
    def late_store_cycles(self) -> int:
        """How long the write buffer may still hold a store that is not known (ARM DDI 0439, 3.3.3);
        a core with one bus has none.
        """
        return 0 if self.one_bus else self.peripheral_cycles

    def own(self, instruction: Instruction) -> int:
        """Cycles of an instruction whose words are there, and whose memory answers at once."""
        if self.counts:
            return 1
        cycles: int = {**_FILE["cycles"], **_CORES[self.core].get("cycles", {})}[instruction.kind]
        name = instruction.text.partition(" ")[0]
        if self.one_bus and name in ("bl", "wfi", "wfe", "cpsid", "cpsie"):
            return 1 if name.startswith("cps") else 2
        pops_pc = self.one_bus and name == "pop" and "pc" in instruction.text
        return cycles + instruction.words + pops_pc
