"""Footprints against figures derived by hand, and the published table against fresh ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from firmware import build as firmware
from firmware import catalogue, footprint

ROOT = Path(__file__).resolve().parents[2]
POINTER = WORD = 4
PUBLISHED = [name for name in firmware.allocators() if catalogue.allocators()[name].checkout is None]
"""What is compiled from a user's own checkout depends on its version."""


def rows() -> list[str]:
    """The rows of the published table."""
    lines = (ROOT / "docs" / "FOOTPRINT.md").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| allocator | flash |"))
    return [line for line in lines[start + 2 :] if line.startswith("| ")][: len(PUBLISHED)]


def test_ram_of_tlsf_is_its_lists_bitmaps_and_the_block_layer() -> None:
    lists = 14 * 16 * POINTER
    bitmaps = WORD + 14 * WORD
    layer = 5 * WORD
    assert footprint.measure("tlsf").static_ram == lists + bitmaps + WORD + layer == 956 + 24


def test_ram_of_the_crate_tlsf_is_what_its_page_says() -> None:
    header_size_of_fll_11 = 376  # the seed's table
    anchor, adapter = POINTER, 2 * WORD
    assert footprint.measure("tlsf_crate").static_ram == header_size_of_fll_11 + anchor + adapter


def test_ram_of_rlsf_is_its_lists_and_bitmaps() -> None:
    lists, bitmaps = 13 * 16 * POINTER, 2 + 13 * 2
    pool, adapter = 2 * WORD, 2 * WORD
    assert footprint.measure("rlsf").static_ram == lists + bitmaps + pool + adapter


def test_overhead_is_the_constant_of_the_allocator() -> None:
    tlsf = footprint.measure("tlsf")
    assert (tlsf.heap_overhead, tlsf.block_overhead, tlsf.smallest_block) == (0, 16, 24)


def test_flash_holds_the_functions_and_nothing_of_the_bench() -> None:
    found = footprint.measure("seglist")
    elf = firmware.build("seglist").elf.with_name("tailscope_footprint.elf")
    listing = subprocess.run(
        ["arm-none-eabi-nm", "-S", elf], capture_output=True, text=True, check=True
    ).stdout
    sizes = [int(words[1], 16) for words in map(str.split, listing.splitlines()) if words[-2] in "Tt"]
    # Each begins on a multiple of 4.
    assert sum(sizes) <= found.flash <= sum(sizes) + 3 * len(sizes)
    assert not {"heap_allocate", "interpret", "xTaskIncrementTick"} & set(listing.split())


def test_an_unreadable_image_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "no.elf").write_text("no image")
    with pytest.raises(footprint.FootprintError, match="could not read"):
        footprint.section_bytes(tmp_path / "no.elf")


@pytest.mark.parametrize("allocator", PUBLISHED)
def test_the_published_table_is_the_present_one(allocator: str) -> None:
    fresh = footprint.as_table([footprint.measure(allocator)]).splitlines()[-1]
    published = [row for row in rows() if row.startswith(f"| {allocator} |")]
    assert published == [fresh], (
        "docs/FOOTPRINT.md is not of the present code: paste what ./lab footprint prints"
    )
