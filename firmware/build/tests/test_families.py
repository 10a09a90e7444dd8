"""The flags of RCC_CSR against RM0368, 6.3.18, RM0351, 6.4.29, and RM0008, 7.3.10."""

from firmware.build.families import causes
from tests.tables import table


@table
def test_the_causes_of_a_reset_are_those_of_the_manual(
    family: str, flags: int, says: tuple[str, ...]
) -> None:
    assert causes(flags, family) == says
