"""Footprints against figures derived by hand, and the published table against fresh ones."""

from __future__ import annotations

import pytest

from base.files import results
from base.paths import ROOT
from firmware.build import catalogue, footprint
from firmware.build import image as firmware
from firmware.heap.tests.host_build import of_each_kind
from tests.tables import table

pytestmark = pytest.mark.docs

POINTER = WORD = 4
PUBLISHED = [name for name in firmware.allocators() if catalogue.allocators()[name].checkout is None]
"""What is compiled from a user's own checkout depends on its version."""


PAGE = ROOT / "docs" / "reference" / "footprint.md"


BLOCK_LAYER = 5 * WORD
BACKENDS = {"seglist": 32, "tlsf": 956}
"""RAM of both backends, as "A Heap Without a Tail" has them."""


def test_ram_of_the_articles_two_is_theirs_to_the_byte() -> None:
    lists, bitmaps = 14 * 16 * POINTER, WORD + 14 * WORD
    assert {"seglist": 8 * POINTER, "tlsf": lists + bitmaps} == BACKENDS
    for name, backend in BACKENDS.items():
        assert footprint.of_image(firmware.build(name)).static_ram == backend + BLOCK_LAYER


def beside(what: str) -> list[str]:
    """The cells of ours, seglist and tlsf and the
    difference, in the row `what` beside the article's.
    """
    (row,) = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {what} |")]
    return row.strip("| ").split(" | ")[-3:]


def test_the_page_has_what_the_articles_two_take_here() -> None:
    images = [footprint.section_bytes(firmware.build(name).elf) for name in BACKENDS]
    alone = [footprint.of_image(firmware.build(name)) for name in BACKENDS]
    measured = {
        "RAM of the backend": [bytes_taken.static_ram - BLOCK_LAYER for bytes_taken in alone],
        "static RAM of the image (.bss)": [sections[".bss"] for sections in images],
        "flash of the image (.text)": [sections[".text"] for sections in images],
        "flash of the allocator": [bytes_taken.flash for bytes_taken in alone],
    }
    for what, (seglist, tlsf) in measured.items():
        assert beside(what) == [f"{seglist:,}", f"{tlsf:,}", f"{tlsf - seglist:+,}"]


@table
def test_ram_of_the_crate_tlsf_is_what_its_page_says(fll: int, header_size: int) -> None:
    anchor, adapter = POINTER, 2 * WORD
    assert (
        footprint.of_image(firmware.build("tlsf_crate", knobs={"FLL": fll})).static_ram
        == header_size + anchor + adapter
    )


@pytest.mark.parametrize("allocator", of_each_kind(PUBLISHED))
def test_the_result_is_what_a_fresh_measurement_gives(allocator: str) -> None:
    kept = {name: row for name, *row in results.read("footprint")}
    assert list(kept) == PUBLISHED
    _, *fresh = map(str, footprint.of_image(firmware.build(allocator)))
    assert kept[allocator] == fresh, "Run python -m studies.tables footprint."
