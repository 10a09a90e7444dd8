"""Stock pyOCD on the debug probe of the virtual Nucleo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.tests.symbols import symbol
from tests.probed_board import (
    FLASH_START,
    ProbedBoard,
    elf_of,
    instructions,
    loaded,
)

SCRATCH_WORD = 0x2001_0000


@pytest.fixture
def board() -> Iterator[ProbedBoard]:
    with ProbedBoard(elf_of("tlsf")) as served:
        yield served


def register(output: str, name: str) -> list[int]:
    """The values of a register, in the order in which the commander prints them."""
    return [int(value, 16) for value in re.findall(rf"^\s*{name} = (0x[0-9a-f]+)", output, re.MULTILINE)]


def test_reset_halts_at_the_vector_and_steps_go_by_instructions(board: ProbedBoard) -> None:
    output = board.commander("reset halt", "reg pc", "reg sp", "step", "reg pc", "step", "reg pc")
    expected = instructions(board.elf, "Reset_Handler")[:3]
    assert register(output, "pc") == expected, output
    assert register(output, "sp") == [int.from_bytes(loaded(board.elf)[FLASH_START][:4], "little")], output


def test_pyocd_programs_other_firmware_and_it_runs(board: ProbedBoard, tmp_path: Path) -> None:
    other = elf_of("seglist")
    assert loaded(other) != loaded(board.elf)
    done = board.pyocd("load", str(other))
    assert done.returncode == 0, done.stderr
    saved = {address: tmp_path / f"{address:#x}.bin" for address in loaded(other)}
    reads = (f"savemem {at:#x} {len(content)} {saved[at]}" for at, content in loaded(other).items())
    board.commander("halt", *reads)
    assert {address: file.read_bytes() for address, file in saved.items()} == loaded(other)
    interpret = symbol(other, "run_bench")[0]
    output = board.commander("reset halt", f"break {interpret:#x}", "go", "sleep 500", "reg pc")
    assert register(output, "pc") == [interpret], output


def test_registers_and_memory_keep_what_is_written(board: ProbedBoard) -> None:
    output = board.commander(
        "reset halt",
        "wreg r3 0x12345678",
        "reg r3",
        f"write32 {SCRATCH_WORD:#x} 0xcafef00d",
        f"write8 {SCRATCH_WORD + 1:#x} 0x55",
        f"read32 {SCRATCH_WORD:#x} 4",
        f"read16 {SCRATCH_WORD + 2:#x} 2",
    )
    assert register(output, "r3") == [0x12345678]
    assert re.search(rf"{SCRATCH_WORD:08x}:\s+cafe550d", output), output
    assert re.search(rf"{SCRATCH_WORD + 2:08x}:\s+cafe\b", output), output
