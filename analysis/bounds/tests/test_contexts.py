"""Which functions of a large program are followed, and that its sections are a small one's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis.bounds.calls import MANY_FUNCTIONS
from analysis.bounds.sections import Sections
from analysis.explain.program import Program

_SECTIONS = r"""
volatile unsigned words[16];
#define APART __attribute__((noinline, noclone, used))
APART void whole(void) { __asm volatile("cpsid i"); words[1]++; __asm volatile("cpsie i"); }
APART void raises(void) { __asm volatile("cpsid i"); words[2]++; }
APART void lowers(void) { words[3]++; __asm volatile("cpsie i"); }
APART void within(unsigned n) { for (unsigned i = 0; i < (n & 7u); i++) { words[i] = n; whole(); } }
APART void pair(unsigned n) { raises(); words[4] = n / 3u; lowers(); }
APART void clears(unsigned n) { __asm volatile("cpsid i"); words[5] = n; within(n); words[6] = n; lowers(); }
"""


def image(folder: Path, callers: int) -> Program:
    """A program in which so many functions call others with sections, and hold none themselves."""
    source, elf = folder / f"{callers}.c", folder / f"{callers}.elf"
    called = ("whole()", "within(n)", "pair(n)", "clears(n)")
    text = [
        f"APART void caller{caller}(unsigned n) {{ words[7] = {caller}; {called[caller % 4]}; "
        "words[8]++; }\n"
        for caller in range(callers)
    ]
    text.append(
        "void start(void) { " + "".join(f"caller{caller}({caller});" for caller in range(callers)) + " }\n"
    )
    source.write_text(_SECTIONS + "".join(text))
    options = ["-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding", "-nostdlib"]
    link = ["-Wl,-Ttext=0x08000000,-Tdata=0x20000000,-estart"]
    subprocess.run(["arm-none-eabi-gcc", *options, *link, source, "-o", elf], check=True)
    return Program(elf)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, Program]:
    folder = tmp_path_factory.mktemp("made")
    return image(folder, 4), image(folder, MANY_FUNCTIONS + 4)


def test_a_large_program_has_the_sections_and_bounds_of_a_small_one(both: tuple[Program, Program]) -> None:
    few, many = (
        {(row.kind, row.owner): (row.price.cycles, row.price.why_not) for row in Sections(program).sections()}
        for program in both
    )
    assert few == many
    assert {owner for _, owner in few} == {"whole", "pair", "clears"}
