"""The option bytes against the tables of RM0368, section 3.6, and RM0351, section 3.4."""

from capture.desk.option_bytes import of_target
from tests.tables import table


@table
def test_what_the_option_bytes_forbid(target: str, values: tuple[int, ...], says: str | None) -> None:
    option_bytes = of_target(target)
    assert option_bytes is not None
    why = option_bytes.objection(values)
    assert why is None if says is None else why is not None and says in why and why.endswith(".")


def test_the_words_are_found_in_what_pyocd_prints() -> None:
    option_bytes = of_target("stm32f401retx")
    assert option_bytes is not None
    assert "RDP level 1" in str(option_bytes.why_not("40023c14:  0fff55ed    |..U.|\n"))
    assert option_bytes.why_not("40023c10:  0fff55ed\n") is None
    assert option_bytes.why_not("") is None
