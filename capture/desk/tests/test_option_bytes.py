"""The option bytes against the tables of RM0368, section 3.6."""

import pytest

from capture.desk.option_bytes import objection, read_from

AT_THE_FACTORY = 0x0FFF_AAED


@pytest.mark.parametrize(
    ("optcr", "says"),
    [
        (AT_THE_FACTORY, None),
        (AT_THE_FACTORY & ~(3 << 2) | 1 << 2, None),  # another level of the brown-out reset
        (0x0FFF_55ED, "RDP level 1"),
        (0x0FFF_00ED, "RDP level 1"),  # all but 0xAA and 0xCC
        (0x0FFF_CCED, "RDP level 2"),
        (0x0FFE_AAED, "(0)"),
        (0x0F3F_AAED, "(6, 7)"),
        (0x8F3F_AAED, None),  # SPRMOD: the bits are those of reading
    ],
)
def test_what_the_option_bytes_forbid(optcr: int, says: str | None) -> None:
    why = objection(optcr)
    assert why is None if says is None else why is not None and says in why and why.endswith(".")


def test_the_word_is_found_in_what_pyocd_prints() -> None:
    assert read_from("40023c14:  0fff55ed    |..U.|\n") == 0x0FFF_55ED
    assert read_from("40023c10:  0fff55ed\n") is None
    assert read_from("") is None
