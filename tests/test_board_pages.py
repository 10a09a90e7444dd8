"""docs/boards: each board that comes with the bench has a section; its results are made anew."""

import re

import pytest

from analysis.bounds.image import code_bounds
from base.files import results
from base.paths import ROOT
from firmware.build import boards, fit
from firmware.build import image as firmware
from studies.tables.boards import facts

pytestmark = pytest.mark.docs

NAMES = boards.names()
PAGE = (ROOT / "docs" / "boards" / "README.md").read_text(encoding="utf-8")


def test_the_facts_are_those_of_the_tables_of_the_boards() -> None:
    assert results.read("boards") == [[str(cell) for cell in row] for row in facts()]


def words_of(name: str) -> str:
    """What the page says of a board, in one line."""
    section = PAGE.partition(f"\n## {boards.board(name).title}\n")[2].partition("\n## ")[0]
    return " ".join(section.split())


def test_every_board_has_a_section() -> None:
    assert all(words_of(name) for name in NAMES)


def test_the_page_on_the_clock_has_what_each_board_makes_of_its_hsi() -> None:
    page = (ROOT / "docs" / "reference" / "wiring.md").read_text(encoding="utf-8")
    on_page = {
        f"Nucleo-{chip}": (float(mhz), float(percent))
        for titles, cores, percent in re.findall(
            r"^\| (Nucleo-[^|]+) \| ([\d, ]+) MHz[^|]* \| ([\d.]+) % \(", page, re.MULTILINE
        )
        for chip, mhz in zip(re.findall(r"[FGL]\d{3}R\w", titles), cores.split(","), strict=True)
    }
    assert on_page == {
        board.title: (
            board.clock.internal_core_hz / 1e6,
            round(100 * board.clock.family.internal_tolerance, 1),
        )
        for board in map(boards.board, boards.names())
    }


@pytest.mark.parametrize("name", ["nucleo-f072rb", "nucleo-f103rb", "nucleo-f411re"])
def test_a_page_has_the_largest_heap(name: str) -> None:
    (on_page,) = re.findall(r"up to ([\d,]+) bytes", words_of(name))
    largest = fit.largest_heap_bytes(1, boards.board(name).memory.sram_bytes)
    assert on_page == f"{largest:,}"


@pytest.mark.parametrize("name", ["nucleo-f072rb", "nucleo-f103rb"])
def test_a_page_has_what_a_small_board_has_less(name: str) -> None:
    page, board = words_of(name), boards.board(name)
    heap_bytes, sram_bytes = board.memory.heap_bytes, board.memory.sram_bytes
    slots = fit.slots_beside(heap_bytes, sram_bytes)
    assert f"A heap of {heap_bytes >> 10} KiB.** The bench takes {fit.BENCH_BYTES / 1024} KiB" in page
    assert f"of the SRAM and {slots} slots the rest" in page
    assert f"65,536 ticks at the most, {65_536 / board.core_hz * 1e3:.2f} ms" in page
    assert f"`FLASH_ACR` is {board.flash_acr(True):x} (hexadecimal), and {board.flash_acr(False)} " in page


def test_the_page_of_the_f072_says_what_a_wait_state_costs_a_bound() -> None:
    (least, most) = re.findall(r"([\d.]+) to ([\d.]+) times as long", words_of("nucleo-f072rb"))[0]
    for allocator in ("tlsf", "heap_4"):
        image = firmware.build(allocator, board="nucleo-f072rb")
        without, at_one = (
            code_bounds(image.elf, allocator, image.configuration.knobs, acr) for acr in (0, 0x11)
        )
        for name, bound in without.items():
            assert bound.cycles is not None and (longer := at_one[name].cycles) is not None
            assert float(least) < longer / bound.cycles < float(most)
