"""The interrupts by name: positions of the vector table (RM0368, table 38; RM0090, table 61).

No two chips of the line give one position to different interrupts, so one table serves all.
"""

from __future__ import annotations

from base.files.errors import nearest
from simulator.build import SimulatorError

FIRST_IRQ = 16
"""The exception number of interrupt 0."""
LINES = 96
"""Interrupts that the core of the virtual board has; no chip uses more."""
VECTORS = FIRST_IRQ + LINES
"""Words of the longest vector table, with the stack pointer's."""

# Names as in ST's stm32f401xe.h, stm32f411xe.h and stm32f407xx.h.
POSITIONS = {
    "WWDG": 0,
    "PVD": 1,
    "TAMP_STAMP": 2,
    "RTC_WKUP": 3,
    "FLASH": 4,
    "RCC": 5,
    **{f"EXTI{n}": 6 + n for n in range(5)},
    **{f"DMA1_Stream{n}": 11 + n for n in range(7)},
    "ADC": 18,
    "CAN1_TX": 19,
    "CAN1_RX0": 20,
    "CAN1_RX1": 21,
    "CAN1_SCE": 22,
    "EXTI9_5": 23,
    "TIM1_BRK_TIM9": 24,
    "TIM1_UP_TIM10": 25,
    "TIM1_TRG_COM_TIM11": 26,
    "TIM1_CC": 27,
    "TIM2": 28,
    "TIM3": 29,
    "TIM4": 30,
    "I2C1_EV": 31,
    "I2C1_ER": 32,
    "I2C2_EV": 33,
    "I2C2_ER": 34,
    "SPI1": 35,
    "SPI2": 36,
    "USART1": 37,
    "USART2": 38,
    "USART3": 39,
    "EXTI15_10": 40,
    "RTC_Alarm": 41,
    "OTG_FS_WKUP": 42,
    "TIM8_BRK_TIM12": 43,
    "TIM8_UP_TIM13": 44,
    "TIM8_TRG_COM_TIM14": 45,
    "TIM8_CC": 46,
    "DMA1_Stream7": 47,
    "FSMC": 48,
    "SDIO": 49,
    "TIM5": 50,
    "SPI3": 51,
    "UART4": 52,
    "UART5": 53,
    "TIM6_DAC": 54,
    "TIM7": 55,
    **{f"DMA2_Stream{n}": 56 + n for n in range(5)},
    "ETH": 61,
    "ETH_WKUP": 62,
    "CAN2_TX": 63,
    "CAN2_RX0": 64,
    "CAN2_RX1": 65,
    "CAN2_SCE": 66,
    "OTG_FS": 67,
    **{f"DMA2_Stream{n}": 63 + n for n in range(5, 8)},
    "USART6": 71,
    "I2C3_EV": 72,
    "I2C3_ER": 73,
    "OTG_HS_EP1_OUT": 74,
    "OTG_HS_EP1_IN": 75,
    "OTG_HS_WKUP": 76,
    "OTG_HS": 77,
    "DCMI": 78,
    "RNG": 80,
    "FPU": 81,
    "SPI4": 84,
    "SPI5": 85,
}
_OF_CORE = {"PendSV": 14, "SysTick": 15}
# Parts of a shared vector that people name it by.
_PARTS = {
    **{f"TIM{9 + n}": 24 + n for n in range(3)},
    **{f"TIM{12 + n}": 43 + n for n in range(3)},
    "TIM6": 54,
    "DAC": 54,
    "HASH_RNG": 80,
}
_ENDINGS = ("_IRQHANDLER", "_IRQN", "_HANDLER")


def exception_of(name: str) -> int:
    """The exception number of an interrupt: `TIM3`, `TIM3_IRQHandler`, `29`, `SysTick`.

    Raises SimulatorError with a sentence that suggests names.
    """
    if name.isdecimal():
        return _of_number(int(name))
    word = name.upper()
    for ending in _ENDINGS:
        word = word.removesuffix(ending)
    known = {known.upper(): FIRST_IRQ + n for known, n in (POSITIONS | _PARTS).items()}
    known |= {known_name.upper(): n for known_name, n in _OF_CORE.items()}
    if word in known:
        return known[word]
    raise SimulatorError(f"There is no interrupt {name}: {_advice(word)}")


def name_of(exception: int) -> str:
    """`TIM3`, `SysTick`, or `IRQ 19` where the table has no name."""
    names = {n: name for name, n in _OF_CORE.items()}
    names |= {FIRST_IRQ + n: name for name, n in POSITIONS.items()}
    return names.get(exception) or f"IRQ {exception - FIRST_IRQ}"


def _of_number(number: int) -> int:
    if number >= LINES:
        raise SimulatorError(
            f"There is no interrupt {number}: they are 0 to {max(POSITIONS.values())} "
            "(RM0368, table 38; RM0090, table 61)."
        )
    return FIRST_IRQ + number


def _advice(word: str) -> str:
    if near := nearest(word, (*POSITIONS, *_OF_CORE)):
        return f"did you mean {' or '.join(near)}?"
    return "give a name such as TIM3, USART2 or EXTI15_10, a number from RM0368's table 38, or SysTick."
