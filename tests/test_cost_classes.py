"""What the simulator and the bounds say of the same instructions: a class of the one's table after
the other.

Both tables are from the same manual, and neither knows the other. So each class is run, many times
in a row with interrupts held off, at the clock after reset, where the flash does not wait.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.program.bounds.measure import Bounded, bounds
from analysis.program.subject import Subject
from base.paths import ROOT
from simulator.program import user_program
from tests import masked_sections
from tests.tables import beside

TABLE = ROOT / "simulator" / "crates" / "cortex-m" / "src" / "timing" / "table.rs"
TIMES = 32
MASKING_CYCLES = 2
"""A section's first and last instruction may count, or not, where they meet others."""

CLASSES: dict[str, tuple[str, ...]] = beside(__file__)["classes"]
CASES = [(name, text) for name, texts in CLASSES.items() for text in texts]

HEAD = """
unsigned buffer[64];
extern unsigned stack_top[];
void reset(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))stack_top, reset};
__asm__(".fpu fpv4-sp-d16\\n");
"""


def function(number: int, text: str) -> str:
    lines = [
        "movw r1, #:lower16:buffer", "movt r1, #:upper16:buffer", "mov r2, #-1", "movs r3, #1", ".balign 16",
        "cpsid i", f".rept {TIMES}", *text.split("\n"), ".endr", "cpsie i", "bx lr",
    ]  # fmt: skip
    inside = "\\n ".join(lines)
    return f'__attribute__((naked, noinline)) static void k{number}(void) {{ __asm__ volatile("{inside}"); }}'


def program() -> str:
    functions = [function(number, text) for number, (_, text) in enumerate(CASES)]
    calls = " ".join(f"k{number}();" for number in range(len(CASES)))
    floats = "*(volatile unsigned *)0xE000ED88 |= 0xFu << 20;"
    return "\n".join([HEAD, *functions, f"void reset(void) {{ {floats} {calls} for (;;) {{}} }}\n"])


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bounded]:
    folder: Path = tmp_path_factory.mktemp("classes")
    source = folder / "classes.c"
    source.write_text(program(), encoding="utf-8")
    elf = masked_sections.build(folder, source=source)
    report = bounds(Subject.of(user_program(elf), "5ms"), lambda _: None)
    return {section.function: section for section in report.sections}


def test_each_class_of_the_simulators_table_is_tried() -> None:
    rows = re.findall(
        r"^ +\(?Class::(\w+),\s+\d+,$|^ +\(Class::(\w+), \d+, ", TABLE.read_text(), re.MULTILINE
    )
    assert {name for row in rows for name in row if name} == CLASSES.keys()


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{name}: {text}" for name, text in CASES])
def test_a_bound_is_what_the_simulator_takes(sections: dict[str, Bounded], number: int) -> None:
    section = sections[f"k{number}"]
    assert section.cycles is not None and section.seen is not None
    assert section.seen <= section.cycles <= section.seen + MASKING_CYCLES
