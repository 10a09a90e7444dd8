"""Names of interrupts, against the vector table of a compiled start-up file's order."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from base.paths import ROOT
from simulator.build import SimulatorError
from simulator.chips import line_of
from simulator.interrupts import exception_of, name_of


# Vectors at these addresses: RM0368, table 38.
@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("WWDG", 0x40),
        ("EXTI9_5", 0x9C),
        ("TIM3_IRQHandler", 0xB4),
        ("EXTI15_10_IRQn", 0xE0),
        ("DMA2_Stream5", 0x150),
        ("FPU", 0x184),
        ("SPI4", 0x190),
        # RM0090, table 61, and RM0383, table 37.
        ("TIM8_BRK_TIM12", 0xEC),
        ("TIM8_CC", 0xF8),
        ("TIM6_DAC", 0x118),
        ("CAN2_SCE", 0x148),
        ("RNG", 0x180),
        ("TIM10", 0xA4),
        ("usart2", 0xD8),
        ("28", 0xB0),
        ("SysTick", 0x3C),
        ("PendSV_Handler", 0x38),
    ],
)
def test_a_name_is_a_vector(name: str, address: int) -> None:
    assert exception_of(name) == address // 4


CHIPS = sorted((ROOT / "simulator/crates/stm32/chips").glob("*.toml"))


@pytest.mark.parametrize("chip", CHIPS, ids=lambda path: path.stem)
def test_each_position_has_one_name(chip: Path) -> None:
    positions = line_of(chip.stem).positions
    assert len(set(positions.values())) == len(positions)
    for position in positions.values():
        assert exception_of(name_of(16 + position, chip.stem), chip.stem) == 16 + position


@pytest.mark.parametrize("chip", CHIPS, ids=lambda path: path.stem)
def test_a_peripherals_interrupt_is_called_by_its_name(chip: Path) -> None:
    """The simulator's tables, which are of the manuals too, say which position is whose."""
    line = line_of(chip.stem)
    document = tomllib.loads(chip.read_text(encoding="utf-8"))
    assert document.get("core", "cortex-m4") == line.core
    by_place = {n: name for name, n in line.positions.items()}
    for peripheral in document["peripherals"]:
        for place in peripheral.get("interrupts", []):
            kind = peripheral["name"].rstrip("0123456789")
            assert kind in by_place[place], f"{peripheral['name']} has {place}, {by_place[place]}"


# RM0008, table 63; RM0091, table 37; RM0351, table 58.
@pytest.mark.parametrize(
    ("chip", "name", "address"),
    [
        ("stm32f103rb", "TIM2", 0xB0),
        ("stm32f103rb", "DMA1_Channel1", 0x6C),
        ("stm32f103rb", "RTC_Alarm", 0xE4),
        ("f072rb", "TIM2", 0x7C),
        ("f072rb", "EXTI4_15", 0x5C),
        ("STM32F072RB", "USB", 0xBC),
        ("stm32l476rg", "LPTIM1", 0x144),
        ("stm32l476rg", "FPU", 0x184),
        ("stm32l476rg", "TIM15", 0xA0),
    ],
)
def test_each_line_has_its_own_vectors(chip: str, name: str, address: int) -> None:
    assert exception_of(name, chip) == address // 4


def test_a_table_of_a_chip_says_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('family = "F072"\n', encoding="utf-8")
    assert exception_of("TIM2", str(tmp_path / "mine.toml")) == 31
    assert exception_of("TIM2", str(tmp_path / "none.toml")) == 44


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("TIMM3", "did you mean TIM3"),
        ("USRAT2", "did you mean USART2"),
        ("200", "are 0 to 95"),
        ("potato", "give a name such as TIM3"),
        ("-1", "There is no interrupt -1"),
    ],
)
def test_what_is_none_is_told_with_near_names(name: str, words: str) -> None:
    with pytest.raises(SimulatorError, match=words):
        exception_of(name)


def test_what_one_line_has_another_has_not() -> None:
    with pytest.raises(SimulatorError, match=r"no interrupt 40: they are 0 to 31 \(RM0091, table 37\)"):
        exception_of("40", "stm32f072rb")
    with pytest.raises(SimulatorError, match="no interrupt TIM5: did you mean TIM"):
        exception_of("TIM5", "stm32f103rb")
    with pytest.raises(SimulatorError, match="EXTI4_15, a number from RM0091's table 37"):
        exception_of("potato", "stm32f072rb")
