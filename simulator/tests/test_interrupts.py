"""Names of interrupts, against the vector table of a compiled start-up file's order."""

from __future__ import annotations

import pytest

from simulator.build import SimulatorError
from simulator.interrupts import POSITIONS, exception_of, name_of


# Vectors at these addresses: RM0368, table 38.
@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("WWDG", 0x40),
        ("EXTI0", 0x58),
        ("DMA1_Stream0", 0x6C),
        ("ADC", 0x88),
        ("EXTI9_5", 0x9C),
        ("TIM2", 0xB0),
        ("TIM3_IRQHandler", 0xB4),
        ("usart2", 0xD8),
        ("EXTI15_10_IRQn", 0xE0),
        ("DMA1_Stream7", 0xFC),
        ("SDIO", 0x104),
        ("TIM5", 0x108),
        ("DMA2_Stream4", 0x130),
        ("OTG_FS", 0x14C),
        ("DMA2_Stream5", 0x150),
        ("USART6", 0x15C),
        ("FPU", 0x184),
        ("SPI4", 0x190),
        # RM0090, table 61, and RM0383, table 37.
        ("USART3", 0xDC),
        ("TIM8_BRK_TIM12", 0xEC),
        ("TIM14", 0xF4),
        ("TIM8_CC", 0xF8),
        ("UART4", 0x110),
        ("UART5", 0x114),
        ("TIM6_DAC", 0x118),
        ("TIM7", 0x11C),
        ("CAN2_SCE", 0x148),
        ("RNG", 0x180),
        ("SPI5", 0x194),
        ("TIM10", 0xA4),
        ("28", 0xB0),
        ("SysTick", 0x3C),
        ("PendSV_Handler", 0x38),
    ],
)
def test_a_name_is_a_vector(name: str, address: int) -> None:
    assert exception_of(name) == address // 4


def test_each_position_has_one_name() -> None:
    assert len(set(POSITIONS.values())) == len(POSITIONS)
    assert all(exception_of(name_of(16 + position)) == 16 + position for position in POSITIONS.values())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("TIMM3", "did you mean TIM3"),
        ("USRAT2", "did you mean USART2"),
        ("200", "are 0 to 85"),
        ("potato", "give a name such as TIM3"),
        ("-1", "There is no interrupt -1"),
    ],
)
def test_what_is_none_is_told_with_near_names(name: str, words: str) -> None:
    with pytest.raises(SimulatorError, match=words):
        exception_of(name)
