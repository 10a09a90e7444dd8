"""A program that hangs, one that waits in thousands of parts, and one with its vectors in RAM."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from quality.soundness.compiling import compiled
from tests import lab

FOLDER = Path(__file__).with_name("programs")


def masks(elf: Path, *words: str) -> dict[str, Any]:
    done = lab.run("masks", elf, *words, "--json")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_program_that_polls_for_ever_is_told_with_where_and_who(tmp_path: Path) -> None:
    """RCC_CR's bit 17 says that the crystal is ready (RM0368, 6.3.1), and there is none."""
    elf = compiled(FOLDER / "polls.c", tmp_path)
    done = lab.run("masks", elf, "--hse", "none", "--until", "5ms")
    first = done.stdout.splitlines()[0]
    assert done.returncode == 1
    lines = (FOLDER / "polls.c").read_text("utf-8").splitlines()
    waits, masked = (
        next(n for n, line in enumerate(lines, 1) if word in line) for word in ("while", "cpsid")
    )
    hangs = f"The program hangs in clocks (polls.c:{waits}): it waits for bits 0x00020000 of RCC_CR"
    assert first.startswith(hangs)
    assert f"main (polls.c:{masked}) masks with primask" in first


def test_a_wait_of_thousands_of_parts_is_added_up(tmp_path: Path) -> None:
    """SysTick's handler comes every 1,600 cycles while BASEPRI is held, each time equally long."""
    elf = compiled(FOLDER / "many_parts.c", tmp_path)
    document = masks(elf, "--until", "400ms")
    (row,) = [row for row in document["priorities"] if row["exceptions"] == ["IRQ 28"]]
    by_kind = {part["kind"]: part for part in row["worst"]["parts"]}
    longest = row["worst"]["cycles"]
    assert len(row["worst"]["parts"]) == 2 and sum(part["cycles"] for part in by_kind.values()) == longest
    assert by_kind["handler"]["count"] in (longest // 1600, longest // 1600 + 1)
    (of_tick,) = [row["cycles"] for row in document["worst"] if row["kind"] == "handler"]
    assert by_kind["handler"]["cycles"] == of_tick * by_kind["handler"]["count"]
    report = lab.run("masks", elf, "--until", "400ms").stdout
    assert len(report.splitlines()) < 40 and max(map(len, report.splitlines())) < 250


@pytest.mark.parametrize("chosen", [(), ("-DREGISTERED",)])
def test_a_handler_is_named_by_the_table_that_the_core_reads(tmp_path: Path, chosen: tuple[str, ...]) -> None:
    """The table is linked to RAM; the handler calls another function as its last act."""
    elf = tmp_path / "vectors_in_ram.elf"
    words = ["-mcpu=cortex-m4", "-mthumb", "-O2", "-g", "-nostdlib", "-ffreestanding", *chosen]
    source, script = (FOLDER / f"vectors_in_ram{ending}" for ending in (".c", ".ld"))
    command = ["arm-none-eabi-gcc", *words, "-T", str(script), "-Wl,--no-warn-rwx-segments"]
    subprocess.run([*command, str(source), "-o", str(elf)], check=True, capture_output=True)
    document = masks(elf, "--until", "20ms")
    (row,) = [row for row in document["worst"] if row["kind"] == "handler"]
    assert row["name"] == "handler of IRQ 4 (FLASH_IRQHandler)"
    assert row["begin"]["function"] == "FLASH_IRQHandler"
