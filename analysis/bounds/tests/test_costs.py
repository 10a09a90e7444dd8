"""The lines of RM0368, section 3.4.2, and RM0351, section 3.3.4."""

import tomllib
from pathlib import Path

import pytest

from analysis.bounds.caches import Lines
from analysis.bounds.costs import FLASHES, Costs, Memories, Memory, of_options
from base.paths import ROOT
from tests.tables import table

FAMILIES = {family: lines for lines in FLASHES.values() for family in lines.families}


@table
def test_a_chip_has_the_lines_of_its_family(options: tuple[str, ...], family: str) -> None:
    assert of_options(options).lines == FAMILIES[family]


TABLES = sorted((ROOT / "simulator" / "crates" / "stm32" / "chips").glob("*.toml"))


@pytest.mark.parametrize("chips", TABLES, ids=lambda chips: chips.stem)
def test_a_chip_has_the_memories_that_the_simulator_gives_it(chips: Path) -> None:
    for chip in tomllib.loads(chips.read_text(encoding="utf-8"))["chips"]:
        of_name = of_options((f"--chip={chip['name']}",))
        assert of_name == of_options((f"--chip={chips}",)) or chips.stem == "stm32f401"
        end = 0x2000_0000 + chip["sram_kib"] * 1024
        waiting = range(end - chip.get("second_sram_kib", 0) * 1024, end)
        assert list(of_name.waiting[:1]) == list(waiting[:1]) and len(of_name.waiting) == len(waiting)


def test_an_address_of_the_second_sram_waits_and_others_do_not() -> None:
    costs = Costs.of_flash(0, Memory.SRAM, of_options(("--chip=stm32f407vg",)))
    waits = [
        costs.load_waits(place) for place in (("", 0x2001_BFFC, 0x2001_BFFC), ("sram", 0x1_C000, 0x1_C000))
    ]
    assert waits == [0, 1]
    assert costs.load_waits(("sp", 0, 0)) == costs.load_waits(None) == 1
    assert Costs().load_waits(None) == 0


# ARM DDI 0403E, B3.1, and ARM DDI 0439, 3.7: the alias of 0x4000_0024 is 0x4200_0000 + 32 * 0x24.
@table
def test_an_alias_costs_what_lies_behind_it(address: int, memory: str) -> None:
    assert Costs().memory(("", address, address)) is Memory[memory]


def test_what_fits_on_an_l4_fits_even_if_four_lines_share_a_place() -> None:
    costs = Costs.of_flash(0x704, Memory.SRAM, Memories(lines=FAMILIES["L4"]))
    assert Lines(frozenset(range(128))).fit(costs).code
    assert not Lines(frozenset(range(0, 4 * 33, 4))).fit(costs).code
    assert Lines(frozenset(range(0, 4 * 33, 4))).fit(Costs.of_flash(0x704, Memory.SRAM)).code
