"""The option bytes against the tables of RM0368, section 3.6, and RM0351, section 3.4."""

import pytest

from capture.desk.option_bytes import of_target

F4_AT_THE_FACTORY = 0x0FFF_AAED
# RM0351, section 3.4.1: an area begins behind its end until somebody sets it.
L4_AT_THE_FACTORY = (0xFFEF_F8AA, 0x0000_00FF, 0x0000_00FF, 0x0000_00FF, 0x0000_00FF)


@pytest.mark.parametrize(
    ("optcr", "says"),
    [
        (F4_AT_THE_FACTORY, None),
        (0x0FFF_55ED, "RDP level 1"),
        (0x0FFF_CCED, "RDP level 2"),
        (0x0F3F_AAED, "(6, 7)"),
        (0x8F3F_AAED, None),  # SPRMOD: the bits are those of reading
    ],
)
def test_what_the_option_bytes_of_an_f4_forbid(optcr: int, says: str | None) -> None:
    option_bytes = of_target("stm32f401retx")
    assert option_bytes is not None
    objects(option_bytes.objection((optcr,)), says)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (L4_AT_THE_FACTORY, None),
        ((0xFFEF_F855, *L4_AT_THE_FACTORY[1:]), "RDP level 1"),
        ((L4_AT_THE_FACTORY[0], 0x0003_0000, *L4_AT_THE_FACTORY[2:]), "(0 to 3)"),
        ((*L4_AT_THE_FACTORY[:4], 0x0010_0010), "(16 to 16)"),
    ],
)
def test_what_the_option_bytes_of_an_l4_forbid(values: tuple[int, ...], says: str | None) -> None:
    option_bytes = of_target("STM32L476RGTx")
    assert option_bytes is not None
    objects(option_bytes.objection(values), says)


@pytest.mark.parametrize(
    ("target", "values", "says"),
    [
        ("stm32f103rb", (0x03FF_FFFC, 0xFFFF_FFFF), None),
        ("stm32f103rb", (0x03FF_FFFE, 0xFFFF_FFFF), "RDP level 1"),
        ("stm32f103rb", (0x03FF_FFFC, 0xFFFF_FFFA), "(bits 0, 2 of FLASH_WRPR)"),
        ("stm32f072rb", (0x00FF_7700, 0xFFFF_FFFF), None),
        ("stm32f072rb", (0x00FF_7706, 0xFFFF_FFFF), "RDP level 2"),
        ("stm32f072rb", (0x00FF_7700, 0x7FFF_FFFF), "(bits 31 of FLASH_WRPR)"),
    ],
)
def test_what_the_option_bytes_of_an_f1_and_an_f0_forbid(
    target: str, values: tuple[int, ...], says: str | None
) -> None:
    """FLASH_OBR (PM0075, section 3.7: RDPRT is bit 1; RM0091, section 3.5.7: RDPRT is bits 2:1)."""
    option_bytes = of_target(target)
    assert option_bytes is not None
    objects(option_bytes.objection(values), says)


def objects(why: str | None, says: str | None) -> None:
    assert why is None if says is None else why is not None and says in why and why.endswith(".")


def test_the_words_are_found_in_what_pyocd_prints() -> None:
    option_bytes = of_target("stm32f401retx")
    assert option_bytes is not None
    assert "RDP level 1" in str(option_bytes.why_not("40023c14:  0fff55ed    |..U.|\n"))
    assert option_bytes.why_not("40023c10:  0fff55ed\n") is None
    assert option_bytes.why_not("") is None
