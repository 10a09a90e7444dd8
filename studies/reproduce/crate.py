"""The tables of the crate's page: its levels, its text, and its two workloads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl

from firmware.build import crate_page, footprint
from firmware.build import image as firmware
from studies.reproduce import board
from studies.reproduce.board import BoardRun
from studies.reproduce.placed import at_placements, figures_at
from studies.reproduce.published import PublishedTable, source
from studies.reproduce.remade import Budget, MadeFigure, Measure, Place, Remade, Settings, settings, words

_CHECK = ".text.heap_index_check"


@dataclass(frozen=True)
class Footprints:
    """The footprints to measure."""

    SOURCES: ClassVar[tuple[str, ...]] = ("firmware", "studies/reproduce/crate.py")

    allocator: str
    knobs: Settings = ()

    def __str__(self) -> str:
        return f"footprint of {self.allocator}{words(self.knobs)}"

    def measure(self) -> pl.DataFrame:
        """One row of bytes: `flash` and `static_ram` of the allocator's image, `text` and `bss` of
        the firmware; `index_text` and `index_bss` of the object of an index, null for others.

        Raises BuildError, FootprintError.
        """
        image = firmware.build(self.allocator, knobs=dict(self.knobs), compiled=True)
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


_FLL = 2
_WINDOWS = {"critical section": "critical_cycles", "whole call": "operation_cycles"}
_NAMESAKE = "Our own tlsf is left out: the publication calls the crate so."
_KINDS = {"ALL": "AO", "FAIL": "O", "OK": "A", "free": "F"}


@dataclass(frozen=True)
class Levels:
    """The levels that each FLL gives, measured by running the crate on this machine."""

    SOURCES: ClassVar[tuple[str, ...]] = ("firmware",)

    def measure(self) -> pl.DataFrame:
        """Columns fll, largest_bytes, header_bytes. Raises CratePageError."""
        return pl.DataFrame(
            [
                {"fll": one.fll, "largest_bytes": one.largest_bytes, "header_bytes": one.header_bytes}
                for one in crate_page.levels()
            ]
        )


@dataclass(frozen=True)
class Text:
    """Size of .text with one of the crate's functions."""

    SOURCES: ClassVar[tuple[str, ...]] = ("firmware",)

    function: str

    def measure(self) -> pl.DataFrame:
        """One row: bytes, rustc. Raises CratePageError."""
        size = crate_page.text_bytes(self.function)
        return pl.DataFrame({"bytes": [size], "rustc": [crate_page.rustc_version()]})


def levels(table: PublishedTable, measure: Measure, _budget: Budget) -> Remade:
    """crate-fll: the largest request that is served, its bits, and the structure's size."""
    (part,) = table.part
    figures: dict[Place, MadeFigure] = {}
    for one in measure(Levels()).rows(named=True):
        row = f"FLL {one['fll']}"
        values = (one["largest_bytes"].bit_length(), one["largest_bytes"], one["header_bytes"])
        figures |= {
            (part.title, row, column): MadeFigure(value, 1, 1)
            for column, value in zip(part.columns, values, strict=True)
        }
    return Remade({"here": figures}, "the crate tlsf 1.1.0, run on this machine over a pool of 64 KiB")


def text(table: PublishedTable, measure: Measure, _budget: Budget) -> Remade:
    """crate-text: the page's own recipe, with our compiler."""
    (part,) = table.part
    found = {row: measure(Text(row)).row(0, named=True) for row in part.rows}
    figures = {
        (part.title, row, part.columns[0]): MadeFigure(one["bytes"], 1, 1) for row, one in found.items()
    }
    versions = ", ".join(sorted({one["rustc"] for one in found.values()}))
    return Remade({"here": figures}, f"the page's recipe; rustc {versions}")


def memalign(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """crate-memalign: aligned allocations until memory runs out."""
    return _until_full(table, measure, budget, "until_full_aligned")


def malloc(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """crate-malloc: allocations until memory runs out."""
    return _until_full(table, measure, budget, "until_full")


def _until_full(table: PublishedTable, measure: Measure, budget: Budget, scenario: str) -> Remade:
    (part,) = table.part
    known = {here: row for row, here in source("crate").names.items()}
    variants: dict[str, dict[Place, MadeFigure]] = {window: {} for window in _WINDOWS}
    able = [name for name in board.able() if name not in known.values()]
    for allocator in budget.allocators(known, able):
        knobs = settings(FLL=_FLL) if allocator in known else ()
        run = BoardRun(allocator, scenario, art=True, knobs=knobs)
        runs = at_placements(measure, run, budget.placements(allocator in known), budget.processes)
        row = known.get(allocator, allocator)
        for window, cycles in _WINDOWS.items():
            found = figures_at(runs, partial(_extremes, column=cycles))
            variants[window] |= {(part.title, row, column): one for column, one in found.items()}
    made_from = f"{scenario}; tlsf_crate with FLL={_FLL}; ART on; {board.BOARD}"
    return Remade(variants, made_from, (_NAMESAKE,))


def _extremes(run: pl.DataFrame, column: str) -> dict[str, MadeFigure]:
    """Least and most cycles of each kind of operation that occurred."""
    figures = {}
    for name, kinds in _KINDS.items():
        cycles = run.filter(pl.col("kind").is_in(list(kinds)))[column].to_list()
        if cycles:
            figures[f"{name} min"] = MadeFigure(min(cycles), len(cycles), 1)
            figures[f"{name} max"] = MadeFigure(max(cycles), len(cycles), 1)
    return figures
