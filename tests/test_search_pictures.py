"""docs/reference/allocators.md: its pictures are what the code does today, and no allocator is left
out."""

from __future__ import annotations

import re

import pytest

from firmware.build import catalogue
from studies.tables.search_pictures import FAMILIES, FOLDER, FREED, LARGE, REQUEST_BYTES, panel, search

pytestmark = pytest.mark.docs

HEADER_BYTES = 16
PAGE = FOLDER.parent / "allocators.md"
DRAWN = {name: family for family, names in FAMILIES.items() for name in names}


def test_every_allocator_has_its_family_and_its_paragraph() -> None:
    assert sorted(DRAWN) == sorted(catalogue.allocators())
    text = PAGE.read_text(encoding="utf-8")
    assert f"The bench has {len(DRAWN)} allocators" in text
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert [name.lower().replace(" ", "-") for name in sections] == list(FAMILIES)
    for (family, names), section in zip(FAMILIES.items(), sections.values(), strict=True):
        assert f"(allocators/{family}.svg)" in section
        assert all(f"**{name}**" in section for name in names), family


@pytest.mark.parametrize("allocator", ["seglist", "tlsf"])
def test_a_picture_is_what_the_code_reads_now(allocator: str) -> None:
    svg = (FOLDER / f"{DRAWN[allocator]}.svg").read_text(encoding="utf-8")
    assert panel(search(allocator)) in svg, "Run python -m studies.tables.search_pictures."


def test_the_reads_are_those_of_the_walk() -> None:
    """seglist walks the blocks of the request's class, the one freed last first."""
    drawn = search("seglist")
    of_the_class = [number for number in reversed(FREED) if 128 < LARGE[number] <= 256]
    assert [LARGE[number] >= REQUEST_BYTES for number in of_the_class] == [False] * 6 + [True]
    headers = [drawn.free[number].offset - HEADER_BYTES for number in of_the_class]
    looked = [max(header for header in headers if header <= read) for read in drawn.reads]
    assert list(dict.fromkeys(looked)) == headers
