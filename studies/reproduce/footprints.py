"""What an allocator takes of flash and static RAM: in its own image, the firmware, its object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from firmware.build import footprint
from firmware.build import image as firmware
from studies.reproduce.knobs import Settings, words

_CHECK = ".text.heap_index_check"


@dataclass(frozen=True)
class Footprints:
    """What is asked."""

    SOURCES: ClassVar[tuple[str, ...]] = ("firmware", "studies/reproduce/footprints.py")

    allocator: str
    knobs: Settings = ()

    def __str__(self) -> str:
        return f"footprint of {self.allocator}{words(self.knobs)}"

    def measure(self) -> pl.DataFrame:
        """One row of bytes: `flash` and `static_ram` of the allocator's image, `text` and `bss` of
        the firmware; `index_text` and `index_bss` of the object of an index, null for others.

        Raises BuildError, FootprintError.
        """
        image = firmware.build(self.allocator, knobs=dict(self.knobs))
        found = footprint.measure(self.allocator)
        whole = footprint.section_bytes(image.elf)
        objects = sorted(image.elf.parent.rglob(f"indexes/{self.allocator}.c.obj"))
        index = footprint.section_bytes(objects[0]) if objects else {}
        return pl.DataFrame(
            {
                "flash": [found.flash],
                "static_ram": [found.static_ram],
                "text": [whole[".text"]],
                "bss": [whole[".bss"]],
                "index_text": [_sum(index, ".text")],
                "index_bss": [_sum(index, ".bss")],
            },
            schema=dict.fromkeys(("flash", "static_ram", "text", "bss", "index_text", "index_bss"), pl.Int64),
        )


def _sum(sections: dict[str, int], name: str) -> int | None:
    """All sections whose name begins so: each function and each variable has its own.

    The check of the heap for the contract tests is left out; no other allocator brings one.
    """
    if not sections:
        return None
    return sum(size for one, size in sections.items() if one.startswith(name) and one != _CHECK)
