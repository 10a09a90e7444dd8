"""What instructions and memories cost in the timing model.

docs/reference/timing.md has the model. fetch.py says when instructions come, pipeline.py how they
follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from analysis.bounds.flash_lines import OF_F4, FlashLines
from analysis.bounds.graph import Instruction
from analysis.bounds.values import SRAM, STACK, Value, signed, unsigned

WAIT_STATES = 2
"""Wait states of the flash at 84 MHz (RM0368 §3.4.1), where nobody tells FLASH_ACR."""
APB_DIVIDER = 2
"""Cycles of the core in one of the slower bus of the peripherals, at 84 MHz (RM0368 §6.2), where
nobody tells the board.
"""
LATENCY, PREFETCH, CODE_CACHE, DATA_CACHE = 0xF, 1 << 8, 1 << 9, 1 << 10
"""Fields of FLASH_ACR (RM0368 §3.8.1)."""

_LONGEST_DIVISION = 12
# ARM DDI 0439, tables 3-1 and 7-1. A load or store of several registers takes one more for each.
_TABLE = {
    "processing": 1,
    "pair_move": 2,
    "float_accumulate": 3,
    "divide": _LONGEST_DIVISION,
    "float_divide": 14,
    "branch": 1,
    "late_branch": 1,
    "table_branch": 2,
    "load": 2,
    "store": 2,
    "multiple": 1,
    "special": 2,
}


OTHER_CORE = (
    "It was compiled for {}, and bounds know the timing of the Cortex-M4 alone: it has no bound. `lab masks` "
    "tells what a run takes."
)


class Memory(Enum):
    """What an access may go to."""

    SRAM = "sram"
    """Also the stack, and the peripherals that answer at once."""
    FLASH = "flash"
    PERIPHERAL = "peripheral"
    """One behind APB."""
    ANY = "any"


# RM0368, section 2.3; ARM DDI 0403E, B3.1.
_REGIONS = (
    (range(0x2000_0000), Memory.FLASH),
    (range(0x2000_0000, 0x4000_0000), Memory.SRAM),
    (range(0x4000_0000, 0x4002_0000), Memory.PERIPHERAL),
    (range(0x4002_0000, 0x6000_0000), Memory.SRAM),
    (range(0xE000_0000, 0xE010_0000), Memory.SRAM),
)


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

    `unknown` is what a pointer goes to of which nothing is known. `prefetch`: the flash may be
    reading ahead, so that any other read waits for that one. `code_cache` and `data_cache`: lines
    of code, and of data, that were read once can stay (RM0368 §3.4.2); `hot_code` and `hot_data`:
    all of them are there.
    """

    wait_states: int = WAIT_STATES
    apb_divider: int = APB_DIVIDER
    unknown: Memory = Memory.ANY
    prefetch: bool = True
    code_cache: bool = False
    data_cache: bool = False
    hot_code: bool = False
    hot_data: bool = False
    lines: FlashLines = OF_F4

    @classmethod
    def of_flash(cls, flash_acr: int, unknown: Memory, lines: FlashLines = OF_F4) -> Costs:
        """The costs where the flash is set so."""
        return cls(
            flash_acr & LATENCY,
            unknown=unknown,
            prefetch=bool(flash_acr & PREFETCH),
            code_cache=bool(flash_acr & CODE_CACHE),
            data_cache=bool(flash_acr & DATA_CACHE),
            lines=lines,
        )

    def memory(self, address: Value) -> Memory:
        """What an access to an address goes to."""
        if address is not None and address[0] in (STACK, SRAM):
            return Memory.SRAM
        if address is not None and not address[0]:
            for region, memory in _REGIONS:
                if address[1] in region and address[2] in region:
                    return memory
        return self.unknown

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
        """Whether it is known of each read of the flash how long it takes."""
        return not (self.prefetch or self.code_cache or self.data_cache or self.reads_on)

    @property
    def reads_on(self) -> bool:
        """Whether the prefetch unit, whose buffer has three words, may read two lines ahead."""
        return self.lines.bytes < 3 * 4

    def own(self, instruction: Instruction) -> int:
        """Cycles of an instruction whose words are there, and whose memory answers at once."""
        return _TABLE[instruction.kind] + instruction.registers
