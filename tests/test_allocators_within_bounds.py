"""Each allocator's sections beside their bounds, with the code at another place in the flash for
each, and what is stated of their loops.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest

from analysis.bounds.costs import Costs, Memory
from analysis.bounds.image import BEGIN, END, FACADES, LOOPS_FILE, Loops, code_bounds
from analysis.bounds.loops import Stated
from analysis.bounds.sections import Sections
from analysis.explain.program import Program
from firmware.build import image as firmware
from firmware.build.placement import placed, placement
from firmware.heap.tests.host_build import of_each_kind
from scenarios import catalogue
from scenarios.operations import MAX_SLOTS
from scenarios.stimulus import NO_STIMULUS
from studies.sections import measure

# Nothing is stated of loops of theirs that the code does not limit.
WITHOUT = {"avl", "buddy_system_allocator", "dlmalloc", "newlib", "sys_heap", "talc"}
PLACES = 16
ALLOCATORS = list(firmware.allocators())


@pytest.mark.parametrize("allocator", of_each_kind(ALLOCATORS))
def test_no_section_is_longer_than_its_bound_wherever_the_code_lies(allocator: str) -> None:
    """Without the accelerator the bound is nearest to the truth."""
    place = placement(1 + 7 * ALLOCATORS.index(allocator) % (PLACES - 1))
    built = placed(firmware.build(allocator, art=False), place)
    knobs, flash_acr = built.configuration.knobs, built.configuration.flash_acr
    bounds = code_bounds(built.elf, allocator, knobs, flash_acr, MAX_SLOTS)
    assert (bounds["allocate"].cycles is None) == (allocator in WITHOUT)
    plan = replace(catalogue.load("mem_stress"), stimulus=NO_STIMULUS).compile()
    undisturbed = measure(built, plan.image).filter(pl.col("ticks") == 0)
    for name, kinds in (("allocate", "AO"), ("free", "FE")):
        bound, sections = bounds[name], undisturbed.filter(pl.col("kind").is_in(list(kinds)))
        assert len(sections)
        if bound.cycles is not None and bound.instructions is not None:
            assert (sections["critical_cycles"] <= bound.cycles).all()
            assert (sections["instructions"] <= bound.instructions).all()


STATED = [
    (allocator, key)
    for said in tomllib.loads(LOOPS_FILE.read_text(encoding="utf-8"))["allocators"]
    for allocator in said["names"]
    for key in said["loops"]
]


@pytest.mark.parametrize("allocator", of_each_kind(sorted({allocator for allocator, _ in STATED})))
def test_only_what_the_code_does_not_tell_is_stated(allocator: str) -> None:
    """What a loop's code tells is asked first here, as of any program. An entry that nobody asks
    for is to be taken out, unless the bound is the shorter for it.
    """
    image = firmware.build(allocator)
    program, names = Program(image.elf), set[str]()
    loops = Loops(allocator, program.data_size("heap_region"), image.configuration.knobs)

    def hint(function: str, lines: set[str], _code: Sequence[int]) -> int | None:
        names.update([function, *(f"{function} in {line.partition(':')[0]}" for line in lines)])
        passes = loops.passes(function, lines)
        return None if passes is None else passes - 1

    sections = Sections(program, statements=Stated(hints=hint), costs=Costs(unknown=Memory.SRAM))
    begin, end = (mark.address for name in (BEGIN, END) if (mark := program.function(name)))
    loop_counts = {
        name: sections.marked(mark.address, begin, end).cycles
        for name, facade in FACADES.items()
        if (mark := program.function(facade))
    }
    unasked = {key for name, key in STATED if name == allocator} - names
    bounds = code_bounds(image.elf, allocator, image.configuration.knobs) if unasked else {}
    assert not unasked or any((bounds[name].cycles or 0) < cycles for name, cycles in loop_counts.items()), (
        unasked
    )
