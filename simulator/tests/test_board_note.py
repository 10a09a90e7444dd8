from pathlib import Path

from firmware.build import image as firmware
from simulator.board_note import chip_of, pins_of
from simulator.outputs import PINS


def test_an_image_names_the_chip_that_it_is_for() -> None:
    assert chip_of(firmware.build("tlsf").elf) == ()
    assert chip_of(firmware.build("tlsf", board="nucleo-f411re").elf) == ("--chip", "stm32f411re")
    assert chip_of(firmware.build("tlsf", board="nucleo-l476rg").elf) == (
        *("--chip", "stm32l476rg"),
        *("--hse", "none"),  # UM1724, "OSC clock supply": the ST-Link's clock is not connected
    )


def test_an_image_names_the_channels_that_lie_elsewhere() -> None:
    assert pins_of(firmware.build("tlsf").elf) == PINS
    moved = pins_of(firmware.build("tlsf", board="nucleo-f072rb").elf)
    assert {channel for channel, pin in moved.items() if pin != PINS[channel]} == {"STIM"}
    assert moved["STIM"] == "PA7"


def test_what_is_no_image_names_none(tmp_path: Path) -> None:
    file = tmp_path / "x.elf"
    assert chip_of(file) == ()
    file.write_bytes(b"\x7fELF and no more")
    assert chip_of(file) == ()
