"""The same objects at other places in the flash: what moves, how far, and what does not change."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from cli.shell.values import MOST_PLACEMENTS
from firmware.build import image as firmware
from firmware.build import placement as module
from firmware.build.placement import Placement, placed, placement
from firmware.heap.tests.host_build import of_each_kind

# What follows an instruction's mnemonic and is an address of the flash, or the words that name one.
_ADDRESS = re.compile(r"\b(0x0?)?80[0-9a-f]{5}\b|<[^>]*>|@ \(.*|;.*")


def functions(elf: Path) -> dict[str, range]:
    """The addresses of each function in the flash."""
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = [
            symbol
            for symbol in table.iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]
        ]
        begins = {symbol.name: symbol["st_value"] & ~1 for symbol in symbols}
        return {
            symbol.name: range(begins[symbol.name], begins[symbol.name] + symbol["st_size"])
            for symbol in symbols
        }


def begins(elf: Path) -> dict[str, int]:
    return {name: addresses.start for name, addresses in functions(elf).items()}


def code(elf: Path) -> dict[str, list[str]]:
    """The instructions of each function, without their addresses and those that they name."""
    places = functions(elf)
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", str(elf)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    rows = (re.match(r" *([0-9a-f]+):\t(.*)", line) for line in listing.splitlines())
    at = {int(row[1], 16): _ADDRESS.sub("", row[2]) for row in rows if row}
    return {
        name: [at[address] for address in addresses if address in at] for name, addresses in places.items()
    }


def test_sixteen_placements_have_each_pair_of_places_in_a_line_once() -> None:
    for first in (0, 16, 83):
        places = [placement(number) for number in range(first, first + 16)]
        pairs = {(place.rest_bytes % 16, place.heap_bytes % 16) for place in places}
        assert pairs == {(rest, heap) for rest in (0, 4, 8, 12) for heap in (0, 4, 8, 12)}
    assert placement(0) == Placement(0, 0)
    assert {placement(number).heap_bytes // 16 for number in range(module.MOST)} == set(range(64))
    assert all(placement(n).rest_bytes <= placement(n).heap_bytes for n in range(module.MOST))
    assert module.MOST == MOST_PLACEMENTS


@pytest.mark.parametrize("allocator", of_each_kind(["tlsf", "heap_4", "buddy_system_allocator"]))
def test_code_moves_as_the_placement_says(allocator: str) -> None:
    built = firmware.build(allocator)
    before = begins(built.elf)
    heap = before["pvPortMalloc"]
    assert heap % 16 == 0
    for number in (1, 6, 15):
        at = placement(number)
        moved = begins(placed(built, at).elf)
        assert moved.keys() == before.keys()
        by = Counter(
            ("heap" if address >= heap else "rest", moved[name] - address) for name, address in before.items()
        )
        markers = by.pop(("rest", 0), 0) if at.rest_bytes else 0
        assert set(by) == {("heap", at.heap_bytes), ("rest", at.rest_bytes)}
        for marker in ("heap_port_critical_begin", "heap_port_critical_end", "TIM2_IRQHandler"):
            assert moved[marker] == before[marker]
        assert markers in (0, 10)


@pytest.mark.parametrize("allocator", of_each_kind(["tlsf", "newlib", "rlsf"]))
def test_a_placement_has_the_same_code(allocator: str) -> None:
    built = firmware.build(allocator)
    moved = placed(built, placement(7))
    assert moved.elf != built.elf and moved.sha256 != built.sha256
    before = code(built.elf)
    assert len(before) > 50
    assert code(moved.elf) == before
