"""The clock tree of a board, as its family has it: what a table may say, and that it adds up."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from base.files.complaints import WrongValueError
from base.files.documents import Table

Divider = Literal[1, 2, 4, 8, 16]

AtOscIn = Literal["clock", "crystal", "nothing"]
"""What a board has at OSC_IN."""


class Pll(Table):
    """What makes the core's clock of `input_hz`, to which each source is divided."""

    input_hz: PositiveInt

    @property
    def made_hz(self) -> float:
        """The core's clock."""
        raise NotImplementedError


class ClockTree(Table):
    """What the trees have in common: the core's clock, what is at OSC_IN, two slower buses.

    `INTERNAL_HZ` is the HSI's, from which the PLL runs where nothing is at OSC_IN, and
    `INTERNAL_TOLERANCE` by which part of it that may be off. `at_osc_in` is what the board has
    there as it is sold.
    `MOST_APB1_DIVIDER` is that up to which the timers of APB1 count the core's clock.
    """

    INTERNAL_HZ: ClassVar[int]
    INTERNAL_TOLERANCE: ClassVar[float]
    MOST_APB1_DIVIDER: ClassVar[int] = 2
    ACCELERATOR: ClassVar[int] = 0x700
    """PRFTEN, ICEN and DCEN of FLASH_ACR (RM0368, section 3.8.1)."""

    core_hz: PositiveInt
    """The clock of the core and of the timers; it must be what `pll` makes."""
    hse_hz: PositiveInt
    """What is at OSC_IN."""
    at_osc_in: AtOscIn = "clock"
    """What is there as the board is sold, and so on the virtual board; with `nothing` the firmware
    falls back to the HSI.
    """
    pll: Pll
    """By family."""
    apb1_divider: Divider
    """1, 2 or 4; the timers of APB1 count the core's clock, so of an STM32L4 1 or 2."""
    apb2_divider: Divider
    wait_states: Annotated[int, Field(ge=0, le=15)]
    """Of the flash at that clock and 2.7 V or more."""

    @property
    def internal_core_hz(self) -> int:
        """The core's clock where it is made of the HSI."""
        return self.core_hz

    @model_validator(mode="after")
    def _adds_up(self) -> ClockTree:
        made_hz, input_hz = self.pll.made_hz, self.pll.input_hz
        if made_hz != self.core_hz:
            raise WrongValueError(
                f"must be the {made_hz:,.0f} that pll makes, not {self.core_hz:,}", "core_hz"
            )
        for name, hz in (("hse_hz", self.hse_hz), ("pll.input_hz", self.INTERNAL_HZ)):
            if hz % input_hz:
                raise WrongValueError(f"does not divide into {hz:,}", *name.split("."))
        if self.apb1_divider > self.MOST_APB1_DIVIDER:
            words = f"must be {self.MOST_APB1_DIVIDER} or less: the timers count the core's clock"
            raise WrongValueError(words, "apb1_divider")
        return self


class PllF4(Pll):
    """`input_hz` x `n` / `p`; `q` is of the domain of 48 MHz, `r` of a second output, which not
    every chip has (RM0390, section 6.3.2).
    """

    n: PositiveInt
    p: Literal[2, 4, 6, 8]
    q: PositiveInt
    r: Annotated[int, Field(ge=0, le=7)] = 0

    @property
    def made_hz(self) -> float:
        return self.input_hz * self.n / self.p


class ClockF4(ClockTree):
    """That of the STM32F4. `voltage_scale` is PWR_CR's VOS. Behind a divider of 4 the timers count
    the core's clock by TIMPRE (RM0390, section 6.3.25). The HSI is as it comes from the factory,
    from -10 to 85 degrees Celsius (DS10086, "HSI oscillator characteristics").
    """

    INTERNAL_HZ = 16_000_000
    INTERNAL_TOLERANCE = 0.04
    MOST_APB1_DIVIDER = 4

    pll: PllF4
    voltage_scale: Annotated[int, Field(ge=0, le=3)]
    over_drive: bool


class PllL4(Pll):
    """`input_hz` x `n` / `r` (RM0351, section 6.4.4)."""

    input_hz: Annotated[int, Field(ge=4_000_000, le=16_000_000)]
    n: Annotated[int, Field(ge=8, le=86)]
    r: Literal[2, 4, 6, 8]

    @property
    def made_hz(self) -> float:
        return self.input_hz * self.n / self.r


class ClockL4(ClockTree):
    """That of the STM32L4. `voltage_range` is PWR_CR1's VOS (RM0351, section 5.4.1). The HSI16 is
    off by 0.75 per cent at most as it comes from the factory, and by one more from 0 to 85 degrees
    Celsius (DS10198, "HSI16 oscillator characteristics").
    """

    INTERNAL_HZ = 16_000_000
    INTERNAL_TOLERANCE = 0.02

    pll: PllL4
    voltage_range: Literal[1, 2]


class PllF1(Pll):
    """`input_hz` x `n` (RM0008, section 7.3.2). `input_hz` is the HSE's; the HSI is halved."""

    input_hz: Annotated[int, Field(ge=1_000_000, le=25_000_000)]
    n: Annotated[int, Field(ge=2, le=16)]

    @property
    def made_hz(self) -> float:
        return self.input_hz * self.n


class ClockF1(ClockTree):
    """That of the STM32F1. Of the HSI, which it halves, the PLL makes 64 MHz at most. The HSI is as
    it comes from the factory (DS5319, "HSI oscillator characteristics").
    """

    INTERNAL_HZ = 8_000_000
    INTERNAL_TOLERANCE = 0.025
    MOST_MULTIPLIER: ClassVar[int] = 16
    ACCELERATOR = 0x10
    """PRFTBE of FLASH_ACR (PM0075, section 3.1)."""

    pll: PllF1

    @property
    def internal_core_hz(self) -> int:
        return self.INTERNAL_HZ // 2 * self.MOST_MULTIPLIER


class PllF0(PllF1):
    """`input_hz` x `n`; either source is divided to `input_hz` (RM0091, sections 6.4.2, 6.4.12)."""


class ClockF0(ClockTree):
    """That of the STM32F07x. One divider serves both buses. The HSI is as it comes from the
    factory, from -10 to 85 degrees Celsius (DS9826, "HSI oscillator characteristics"; from memory:
    of documents at hand AN4067 has 1 per cent at 25 degrees, and no figure for a range).
    """

    INTERNAL_HZ = 8_000_000
    INTERNAL_TOLERANCE = 0.023
    ACCELERATOR = 0x10
    """PRFTBE of FLASH_ACR (RM0091, section 3.5.1)."""

    pll: PllF0

    @model_validator(mode="after")
    def _has_one_divider(self) -> ClockF0:
        if self.apb2_divider != self.apb1_divider:
            raise WrongValueError("must be what apb1_divider is: one divider serves both", "apb2_divider")
        return self


class PllG0(Pll):
    """`input_hz` x `n` / `r` (RM0444, section 5.4.4)."""

    input_hz: Annotated[int, Field(ge=2_660_000, le=16_000_000)]
    n: Annotated[int, Field(ge=8, le=86)]
    r: Annotated[int, Field(ge=2, le=8)]

    @property
    def made_hz(self) -> float:
        return self.input_hz * self.n / self.r


class ClockG0(ClockTree):
    """That of the STM32G0. One divider serves all of its bus. The HSI16 is off by 0.75 per cent at
    most as it comes from the factory, and by one more from 0 to 85 degrees Celsius, as the
    STM32L4's (DS12232, "HSI16 oscillator characteristics", as ST's community reads that table).
    """

    INTERNAL_HZ = 16_000_000
    INTERNAL_TOLERANCE = 0.02
    ACCELERATOR = 0x300
    """PRFTEN and ICEN of FLASH_ACR (RM0444, section 3.7.1)."""

    pll: PllG0

    @model_validator(mode="after")
    def _has_one_divider(self) -> ClockG0:
        if self.apb2_divider != self.apb1_divider:
            raise WrongValueError("must be what apb1_divider is: one divider serves both", "apb2_divider")
        return self


class PllG4(PllL4):
    """`input_hz` x `n` / `r` (RM0440, section 7.4.4)."""

    input_hz: Annotated[int, Field(ge=2_660_000, le=16_000_000)]
    n: Annotated[int, Field(ge=8, le=127)]


class ClockG4(ClockTree):
    """That of the STM32G4. `boost` is that R1MODE of PWR_CR5 is 0, as more than 150 MHz needs it
    (RM0440, section 6.1.5). The HSI16 is trimmed to 1 per cent (section 7.4.2, HSITRIM). What a
    range of temperatures adds is taken as the STM32L4's, one more: DS12288 was not at hand.
    """

    INTERNAL_HZ = 16_000_000
    INTERNAL_TOLERANCE = 0.02

    pll: PllG4
    boost: bool


TREES: Mapping[str, type[ClockTree]] = MappingProxyType(
    {
        "stm32f4": ClockF4,
        "stm32l4": ClockL4,
        "stm32f1": ClockF1,
        "stm32f0": ClockF0,
        "stm32g0": ClockG0,
        "stm32g4": ClockG4,
    }
)
"""By family."""


def tree_of(family: str) -> type[ClockTree]:
    """The tree of a family; that of the STM32F4 where a folder brings a family of its own."""
    return TREES.get(family, ClockF4)
