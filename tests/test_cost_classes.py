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

TABLE = ROOT / "simulator" / "crates" / "cortex-m" / "src" / "timing" / "table.rs"
TIMES = 32
MASKING_CYCLES = 2
"""A section's first and last instruction may count, or not, where they meet others."""

_TABLE_BRANCH = r"""cmp r3, #1
    bhi 9f
8:  tbb [pc, r3]
    .byte (9f - 8b - 4) / 2, (9f - 8b - 4) / 2
9:"""

# r1 points to memory, r2 holds the greatest number and r3 1; the flags are not those of zero.
CLASSES: dict[str, list[str]] = {
    "DataProcessing": [
        "adds r0, r0, #1",
        "mov.w r0, r2",
        "eor.w r0, r0, r2, lsl #3",
        "uxtb r0, r2",
        "ssat r0, #8, r2",
        "bfi r0, r2, #3, #4",
        "clz r0, r2",
        "sadd16 r0, r2, r3",
        "movt r0, #7",
        "rev r0, r2",
    ],
    "Multiply": [
        "mul r0, r2, r3",
        "mla r0, r2, r3, r2",
        "mls r0, r2, r3, r2",
        "umull r0, r12, r2, r3",
        "smlal r0, r12, r2, r3",
        "umaal r0, r12, r2, r3",
        "smulbb r0, r2, r3",
        "smmla r0, r2, r3, r2",
    ],
    "Divide": ["udiv r0, r2, r3", "sdiv r0, r2, r3", "udiv r0, r3, r2"],
    "Branch": ["b 1f\n1:", "beq 1f\n1:", "cbz r3, 1f\n nop\n1:"],
    "TableBranch": [_TABLE_BRANCH],
    "IfThen": ["it eq\n addeq r0, r0, #1", "ite ne\n addne r0, #1\n addeq r0, #2"],
    "Load": [
        "ldr r0, [r1]\n nop",
        "ldr r0, [r1]",
        "ldrb r0, [r1, #1]\n nop",
        "ldrsh.w r0, [r1, r3, lsl #1]\n nop",
        "ldrex r0, [r1]\n nop",
        "ldr r0, [r1]\n str r0, [r1, #4]",
        "str r0, [r1]\n ldr r0, [r1]",
    ],
    "StoreImmediate": ["str r0, [r1]\n nop", "strb.w r0, [r1, #3]\n nop"],
    "StoreRegister": ["str r0, [r1, r3, lsl #2]\n nop", "strex r0, r2, [r1]\n nop"],
    "Multiple": [
        "ldmia.w r1, {r0, r12}\n nop",
        "stmia.w r1, {r0, r2, r3, r12}\n nop",
        "ldrd r0, r12, [r1]\n nop",
        "strd r0, r12, [r1]\n nop",
        "push {r0, r3}\n pop {r0, r3}",
    ],
    "SpecialRegister": ["mrs r0, primask", "msr apsr_nzcvq, r3"],
    "Barrier": ["dsb", "dmb", "isb"],
    "System": ["nop", "nop.w", "sev"],
    "FloatArithmetic": [
        "vadd.f32 s0, s1, s2",
        "vcvt.s32.f32 s0, s1",
        "vmov s0, r0",
        "vcmp.f32 s0, s1",
        "vmov.f32 s0, #1.0",
    ],
    "FloatMultiplyAccumulate": [
        "vmla.f32 s0, s1, s2",
        "vfma.f32 s0, s1, s2",
        "vfnms.f32 s0, s1, s2",
        "vnmls.f32 s0, s1, s2",
    ],
    "FloatDivideOrRoot": ["vdiv.f32 s0, s1, s2", "vsqrt.f32 s0, s1"],
    "FloatPairMove": ["vmov r0, r12, d0", "vmov d0, r0, r12"],
    "FloatLoad": [
        "vldr s0, [r1]\n nop",
        "vldr d0, [r1]\n nop",
        "vldr d0, [r1]",
        "vstr s0, [r1]\n nop",
        "vstr d0, [r1]\n nop",
    ],
    "FloatMultiple": [
        "vldmia r1, {s0-s3}\n nop",
        "vstmia r1, {d0-d1}\n nop",
        "vpush {d0-d1}\n vpop {d0-d1}",
    ],
}
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
