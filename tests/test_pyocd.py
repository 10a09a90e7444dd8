"""Stock pyOCD on the debug probe of the virtual Nucleo, and clients that try to harm it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.probed_board import (
    FLASH_START,
    ProbedBoard,
    elf_of,
    instructions,
    loaded,
    symbols,
)

SCRATCH_WORD = 0x2001_0000
NOWHERE = 0x6000_0000


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


def read_back(board: ProbedBoard, elf: Path, scratch: Path) -> dict[int, bytes]:
    """What a debugger reads at the segments of the ELF file, by address."""
    saved = {address: scratch / f"{address:#x}.bin" for address in loaded(elf)}
    generator = (f"savemem {at:#x} {len(content)} {saved[at]}" for at, content in loaded(elf).items())
    board.commander("halt", *generator)
    return {address: file.read_bytes() for address, file in saved.items()}


def test_flash_reads_as_the_elf_says(board: ProbedBoard, tmp_path: Path) -> None:
    assert read_back(board, board.elf, tmp_path) == loaded(board.elf)


def test_pyocd_programs_other_firmware_and_it_runs(board: ProbedBoard, tmp_path: Path) -> None:
    other = elf_of("seglist")
    assert loaded(other) != loaded(board.elf)
    done = board.pyocd("load", str(other))
    assert done.returncode == 0, done.stderr
    assert read_back(board, other, tmp_path) == loaded(other)
    interpret = symbols(other)["run_bench"]
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


def test_a_breakpoint_stops_before_its_instruction(board: ProbedBoard) -> None:
    main = symbols(board.elf)["main"]
    output = board.commander("reset halt", f"break {main:#x}", "go", "sleep 200", "reg pc", "status")
    assert register(output, "pc") == [main], output
    assert "Halted" in output


def test_a_watchpoint_stops_behind_the_store(board: ProbedBoard) -> None:
    names = symbols(board.elf)
    begin = instructions(board.elf, "record_begin")
    output = board.commander(
        "reset halt",
        f"break {begin[0]:#x}",
        "go",
        "sleep 500",
        f"rmbreak {begin[0]:#x}",
        f"watch {names['line_open']:#x} w 1",
        "go",
        "sleep 500",
        "reg pc",
        f"read8 {names['line_open']:#x} 1",
    )
    assert register(output, "pc")[0] in begin[1:], output
    assert re.search(rf"{names['line_open']:08x}:\s+01", output), output
