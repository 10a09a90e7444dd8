"""firmware/probe: it compiles wherever it says, and the wire shows what a program counts itself."""

from __future__ import annotations

import re
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from base.paths import ROOT
from firmware.tests.probe_programs import program
from firmware.tests.symbols import symbol
from simulator import build as simulator
from simulator import run as virtual

PROBE = ROOT / "firmware" / "probe"
CORE = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
STRICT = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow")
C = ("arm-none-eabi-gcc", "-std=c11", "-pedantic")
CPP = ("arm-none-eabi-g++", "-std=c++17", "-x", "c++")
PINS = ("-DTAILSCOPE_CRIT=TAILSCOPE_PIN('K',15)", "-DTAILSCOPE_SYNC=TAILSCOPE_PIN('H',0)")
USER = """
#include <stdint.h>
#include "tailscope.h"
void section(void);
void section(void) {
    TAILSCOPE_BEGIN(CRIT);
    TAILSCOPE_BEGIN_NESTED(CRIT);
    TAILSCOPE_END_NESTED(CRIT);
    if (1) TAILSCOPE_END(CRIT); else TAILSCOPE_BEGIN(CRIT);
}
"""

READ_CYCLES = 3
"""Beside a marker's own cycles, what two reads of DWT may add between a pin's edges and them."""
MARKER_CYCLES = (4, 5)
"""Of a pulse, as tailscope.h states."""
MASK_CYCLES = (45, 52)
"""How much longer FreeRTOS masks than CRIT shows, as docs/how-to/observe.md states."""


def compiled(folder: Path, compiler: tuple[str, ...], options: tuple[str, ...], source: str | Path) -> None:
    if isinstance(source, str):
        (folder / "user.c").write_text(source)
        source = folder / "user.c"
    command = [*compiler, *CORE, *STRICT, f"-I{PROBE}", *options, "-c", str(source)]
    command += ["-o", str(folder / "out.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("compiler", "level"), [(C, "-Os"), (CPP, "-O0"), (CPP, "-O3")])
def test_it_compiles_without_an_operating_system(
    tmp_path: Path, compiler: tuple[str, ...], level: str
) -> None:
    for source in (PROBE / "tailscope.c", USER):
        compiled(tmp_path, compiler, (*PINS, level), source)
    compiled(tmp_path, compiler, (PINS[0], level), PROBE / "tailscope.c")


def pulses(edges: pl.DataFrame, pin: str) -> list[tuple[int, int]]:
    """Begin and end of each pulse of a pin, in cycles, by the virtual board's own list of edges."""
    rows = edges.filter(pl.col("pin") == pin).select("cycle", "level").rows()
    return [(begin, end) for (begin, level), (end, _) in pairwise(rows) if level]


def ran(name: str, until: str) -> tuple[dict[str, list[int]], pl.DataFrame]:
    """What a program said of itself, by the first word of a line; and all edges of all pins."""
    with tempfile.TemporaryDirectory() as folder:
        edges, log = Path(folder, "edges.csv"), Path(folder, "uart.txt")
        command: list[str | Path] = [simulator.build(), "run", program(name), "--until", until]
        subprocess.run([*command, "--edges", edges, "--uart-log", log], check=True)
        said: dict[str, list[int]] = {}
        for word, count in (line.split() for line in log.read_text().splitlines()):
            said.setdefault(word, []).append(int(count))
        return said, pl.read_csv(edges)


def test_a_pulse_is_as_wide_as_the_program_counts() -> None:
    """Of 16 empty sections, 200 of the program's, and 16 empty ones."""
    said, edges = ran("bare", "60ms")
    widths = [end - begin for begin, end in pulses(edges, "PA8")]
    assert len(widths) == 16 + 200 + 16 and len(said["CRIT"]) == 200
    empty = widths[:16] + widths[-16:]
    assert set(empty) <= set(MARKER_CYCLES)
    more = [width - own for width, own in zip(widths[16:-16], said["CRIT"], strict=True)]
    assert MARKER_CYCLES[0] <= min(more)
    assert max(more) <= MARKER_CYCLES[1] + READ_CYCLES
    assert max(said["CRIT"]) > 20 * sorted(said["CRIT"])[100]


def test_sections_within_each_other_are_one_pulse_also_from_an_interrupt() -> None:
    """The interrupt begins and ends within the section: had it ended the pulse, there were two."""
    said, edges = ran("nested", "10ms")
    spans = pulses(edges, "PC13")
    assert len(spans) == len(said["OP"]) == 8
    for (begin, end), own in zip(spans, said["OP"], strict=True):
        assert own > 500
        assert 0 < end - begin - own < 40


def test_what_a_marker_costs_the_program_is_what_the_page_states() -> None:
    said, edges = ran("nested", "10ms")
    plain, nested = (said[word][0] - said["read"][0] for word in ("plain", "nested"))
    page = " ".join((ROOT / "docs" / "how-to" / "observe.md").read_text().split())
    assert f"takes {plain} cycles in all" in page
    assert f"takes {nested} cycles in all" in page
    assert len(pulses(edges, "PB3")) == 16


def test_freertos_masks_longer_than_the_pulse_by_what_the_page_states() -> None:
    """By the trace of instructions: BASEPRI is written before the pin rises and after it falls."""
    elf = program("tasks")
    run = virtual.run(elf, until="9ms", edges=True, trace_last=200_000)
    enter, leave = (symbol(elf, f"vPort{word}Critical")[0] for word in ("Enter", "Exit"))
    writes = [
        (int(step["cycle"]), int(step["pc"], 16))
        for step in run.trace
        if re.fullmatch(r"0xf38.881[12]", str(step.get("opcode", "")))  # MSR BASEPRI or BASEPRI_MAX
    ]
    rises = [cycle for cycle, pc in writes if enter <= pc < enter + 32]
    falls = [cycle for cycle, pc in writes if leave <= pc < leave + 32]
    rows = run.edges.filter((pl.col("channel") == "CRIT") & (pl.col("cycle") > rises[0])).rows()
    more = []
    for (begin, _, level), (end, _, _) in pairwise(rows):
        before = begin - max(cycle for cycle in rises if cycle < begin)
        after = min((cycle for cycle in falls if cycle > end), default=end + 1000) - end
        if level and before < 100 and after < 100:
            more.append(before + after)
    assert len(more) > 100
    assert MASK_CYCLES[0] <= min(more) and max(more) <= MASK_CYCLES[1]
    page = " ".join((ROOT / "docs" / "how-to" / "observe.md").read_text().split())
    assert f"{MASK_CYCLES[0]} to {MASK_CYCLES[1]} cycles" in page
