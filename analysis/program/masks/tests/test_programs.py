"""A program that hangs, one that waits in thousands of parts, and one with its vectors in RAM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
