"""Bounds between two marks: of code whose longest path is known, and of real images beside what
their runs took.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.bounds.costs import Costs
from analysis.bounds.image import BEGIN, END, bounds_of, code_bounds
from analysis.bounds.loops import Stated
from analysis.bounds.sections import Sections
from analysis.errors import NoBoundError
from analysis.explain.program import Program
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from firmware.build import image as firmware
from scenarios import catalogue as scenarios

_MARKERS = """
    .syntax unified
    .cpu cortex-m4
    .thumb
    .macro function name
    .text
    .global \\name
    .type \\name, %function
    .thumb_func
\\name:
    .endm
    function heap_port_critical_begin
    bx lr
    .size heap_port_critical_begin, . - heap_port_critical_begin
    function heap_port_critical_end
    bx lr
    .size heap_port_critical_end, . - heap_port_critical_end
"""


def assembled(folder: Path, body: str) -> Program:
    source, elf = folder / "code.S", folder / "code.elf"
    source.write_text(_MARKERS + body)
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-g", "-nostdlib", "-Wl,-Ttext=0x08000000,-e0", "-o"]
    subprocess.run([*command, str(elf), str(source)], check=True, capture_output=True)
    return Program(elf)


def most(program: Program, facade: str, statements: Stated | None = None) -> tuple[int, int]:
    """Instructions and cycles of the longest ways. Raises NoBoundError."""
    entry, begin, end = (
        function.address for name in (facade, BEGIN, END) if (function := program.function(name))
    )
    count, price = (
        Sections(program, statements=statements or Stated(), costs=costs).marked(entry, begin, end)
        for costs in (Costs(counts=True), Costs())
    )
    if price.why_not:
        raise NoBoundError(" ".join(price.why_not))
    return count.cycles, price.cycles


def laps(number: int) -> Stated:
    return Stated(passes=lambda _function, _lines: number)


def test_the_longer_arm_counts_and_the_panic_does_not(tmp_path: Path) -> None:
    program = assembled(
        tmp_path,
        """
    function heap_allocate
    push {r4, lr}
    bl heap_port_critical_begin
    cbz r0, 1f
    cmp r0, #1
    beq 2f
    nop
    nop
    nop
1:  bl helper
    bl heap_port_critical_end
    pop {r4, pc}
2:  bl panic
    .size heap_allocate, . - heap_allocate
    function helper
    it eq
    bxeq lr
    nop
    bx lr
    .size helper, . - helper
    function panic
    .rept 200
    nop
    .endr
    b .
    .size panic, . - panic
    """,
    )
    instructions, cycles = most(program, "heap_allocate")
    # The call of the begin marker and its return; cbz, cmp, beq and three nops; the call of helper;
    # it, bxeq, nop and bx; the call of the end marker and its return.
    assert instructions == 2 + 6 + 1 + 4 + 2
    # Each takes at least one cycle. Each of the seven branches on the way takes at least two more.
    assert cycles >= instructions + 7 * 2


def test_a_loop_and_a_jump_table(tmp_path: Path) -> None:
    program = assembled(
        tmp_path,
        """
    function heap_free
    push {r4, lr}
    bl heap_port_critical_begin
    cmp r0, #2
    bhi 4f
    tbb [pc, r0]
0:  .byte (1f - 0b) / 2
    .byte (2f - 0b) / 2
    .byte (3f - 0b) / 2
    .byte 0
1:  nop
    b 4f
2:  subs r1, #1
    bne 2b
    b 4f
3:  nop
    nop
4:  bl heap_port_critical_end
    pop {r4, pc}
    .size heap_free, . - heap_free
    """,
    )
    assert most(program, "heap_free", laps(10))[0] == 2 + 3 + 10 * 2 + 1 + 2
    assert most(program, "heap_free", laps(1))[0] == 2 + 3 + 2 + 1 + 2
    # No way leads through the loop: the longest is the third arm.
    assert most(program, "heap_free", laps(0))[0] == 2 + 3 + 2 + 2


def test_a_call_through_a_pointer_and_a_recursion_have_no_bound(tmp_path: Path) -> None:
    for number, (body, why) in enumerate([("blx r1", "through a pointer"), ("bl again", "calls itself")]):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = assembled(
            folder,
            f"""
    function heap_free
    push {{r4, lr}}
    bl heap_port_critical_begin
    {body}
    bl heap_port_critical_end
    pop {{r4, pc}}
    .size heap_free, . - heap_free
    function again
    push {{r4, lr}}
    cbz r0, 1f
    bl again
1:  pop {{r4, pc}}
    .size again, . - again
    """,
        )
        elf = folder / "code.elf"
        assert program.function("heap_free")
        section_bound = code_bounds(elf, "tlsf", {})["free"]
        assert section_bound.cycles is None
        assert why in str(section_bound.why_not)


def compiled(folder: Path, body: str) -> Program:
    source, elf = folder / "code.c", folder / "code.elf"
    markers = "".join(
        f"__attribute__((noipa)) void heap_port_critical_{name}(void) {{}}\n" for name in ("begin", "end")
    )
    source.write_text(markers + body)
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os", "-g", "-ffreestanding", "-nostdlib"]
    link = ["-Wl,-Ttext=0x08000000,-e0", "-o", str(elf), str(source)]
    subprocess.run([*command, *link], check=True, capture_output=True)
    return Program(elf)


@pytest.mark.parametrize(("declared", "bounded"), [("__attribute__((noreturn))", True), ("", False)])
def test_what_is_declared_never_to_return_needs_no_bound(
    declared: str, bounded: bool, tmp_path: Path
) -> None:
    program = compiled(
        tmp_path,
        f"""
        {declared} __attribute__((noipa)) void stop(void (*say)(void)) {{ for (;;) say(); }}
        void heap_free(void (*say)(void), int wrong) {{
            heap_port_critical_begin();
            if (wrong) stop(say);
            heap_port_critical_end();
        }}
        """,
    )
    if bounded:
        assert 0 < most(program, "heap_free")[0] < 20
    else:
        with pytest.raises(NoBoundError, match="No way through stop was found"):
            most(program, "heap_free")


def test_an_untaken_branch_leads_nowhere(tmp_path: Path) -> None:
    body = """
    function heap_free
    push {r4, lr}
    bl heap_port_critical_begin
    cbz r0, 1f
    b 2f
1:  nop
    nop
    nop
2:  bl heap_port_critical_end
    pop {r4, pc}
    .size heap_free, . - heap_free
    """
    program = assembled(tmp_path, body)
    line = (_MARKERS + body).splitlines().index("    cbz r0, 1f") + 1
    assert most(program, "heap_free")[0] == 2 + 1 + 3 + 2
    without = Stated(never=frozenset({f"code.S:{line}"}))
    assert most(program, "heap_free", without)[0] == 2 + 1 + 1 + 2


def test_a_bound_that_grows_follows_the_heap_of_the_image() -> None:
    """A step of seglist's walk takes 64 bytes (firmware/heap/README.md): laps of one loop."""
    bounds = {
        heap_bytes: bounds_of(firmware.build("seglist", heap_bytes=heap_bytes))
        for heap_bytes in (24_000, 48_000, 65_536)
    }
    most = [section_bounds["allocate"].instructions or 0 for section_bounds in bounds.values()]
    lap, rest = divmod(most[1] - most[0], (48_000 - 24_000) // 64)
    assert (lap > 0, rest) == (True, 0)
    assert most[2] - most[1] == lap * (65_536 // 64 - 48_000 // 64)
    assert len({section_bounds["free"].instructions for section_bounds in bounds.values()}) == 1


def test_the_scheduler_lock_has_no_bound() -> None:
    image = firmware.build("tlsf")
    image = replace(image, configuration=replace(image.configuration, locking="scheduler"))
    assert "Interrupts are served" in str(bounds_of(image)["free"].why_not)


def test_a_run_says_how_near_its_sections_came_to_their_bounds(tmp_path: Path) -> None:
    """With the accelerator off the bound is nearest to the truth."""
    plan = scenarios.load("mem_stress", {}).compile()
    request = RunRequest(plan, firmware.build("tlsf", False), runs=tmp_path, bounds=bounds_of)
    bounds = json.loads((conduct.run(Direct(request)).folder / "run.json").read_text())["bounds"]
    for section in ("allocate", "free"):
        bound = bounds[section]
        assert 0 < bound["observed_cycles"] <= bound["cycles"]
        assert bound["ratio"] == pytest.approx(bound["cycles"] / bound["observed_cycles"])
    assert not bounds["allocate"]["region_decided"]
