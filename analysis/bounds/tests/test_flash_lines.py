"""The lines of RM0368, section 3.4.2, and RM0351, section 3.3.4."""

from pathlib import Path

import pytest

from analysis.bounds.caches import Lines
from analysis.bounds.costs import Costs, Memory
from analysis.bounds.flash_lines import OF_F4, OF_L4, FlashLines, of_options


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ((), OF_F4),
        (("--chip=stm32f411re", "--strict"), OF_F4),
        (("--chip=l476rg",), OF_L4),
        (("--chip", "stm32l476rg", "--hse", "none"), OF_L4),
        (("--strict", "--chip"), OF_F4),
    ],
)
def test_a_chip_has_the_lines_of_its_family(options: tuple[str, ...], lines: FlashLines) -> None:
    assert of_options(options) == lines


@pytest.mark.parametrize(("port", "lines"), [("art-64", OF_L4), ("art", OF_F4)])
def test_a_chip_of_ones_own_says_it(port: str, lines: FlashLines, tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text(f'family = "L476"\nflash_port = "{port}"\n', encoding="utf-8")
    assert of_options((f"--chip={table}",)) == lines
    assert of_options((f"--chip={tmp_path}/none.toml",)) == OF_F4


def test_what_fits_on_an_l4_fits_even_if_four_lines_share_a_place() -> None:
    costs = Costs.of_flash(0x704, Memory.SRAM, OF_L4)
    assert Lines(frozenset(range(128))).fit(costs).code
    assert not Lines(frozenset(range(0, 4 * 33, 4))).fit(costs).code
    assert Lines(frozenset(range(0, 4 * 33, 4))).fit(Costs.of_flash(0x704, Memory.SRAM)).code
