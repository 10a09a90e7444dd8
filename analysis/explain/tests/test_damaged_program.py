"""A program whose file is damaged, at any place: it is read, or refused in one sentence."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from analysis.errors import ExplainError
from analysis.explain.execution import _rules
from analysis.explain.kernels.layout import Layout, Spot
from analysis.explain.program import Program
from analysis.explain.sources import Inlined
from simulator.build import SimulatorError
from simulator.program import user_program

pytestmark = pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="needs the cross compiler")

CHANGES = 400
SEED = 5
SOURCE = """
typedef struct tskTaskControlBlock { int top; char pcTaskName[16]; } TCB_t;
TCB_t block;
static inline __attribute__((always_inline)) int twice(int a) { return block.top + 2 * a; }
__attribute__((noinline)) int more(int a) { return twice(a) + twice(a + 1); }
void _start(void) { while (more(block.top)) { block.pcTaskName[0]++; } }
"""
BEGIN = 0x0800_0000


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("program")
    (folder / "a.c").write_text(SOURCE, encoding="utf-8")
    flags = ["-g", "-Og", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", f"-Wl,-Ttext={BEGIN:#x},-e0"]
    command = ["arm-none-eabi-gcc", *flags, "a.c", "-o", "a.elf"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / "a.elf").read_bytes()


def read_everything(path: Path) -> None:
    """Reads what commands read of a program. Raises ExplainError."""
    program = Program(path, stripped=True)
    for address in range(BEGIN, BEGIN + 64, 2):
        program.place(address)
        program.source_line(address)
        _rules(program, address)
        program.code(address, 2)
    assert isinstance(program.source_files, dict)
    inlined = Inlined(program)
    for address in range(BEGIN, BEGIN + 64, 2):
        inlined.at(address)
    Layout(program, ["block"], ["tskTaskControlBlock"])


def test_the_whole_one_tells_all(elf: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.elf"
    path.write_bytes(elf)
    read_everything(path)
    program = Program(path)
    more = program.function("more")
    assert more is not None
    lines = {program.source_line(address) for address in range(more.address, more.address + more.size, 2)}
    assert "a.c:4" in lines <= {"a.c:4", "a.c:5"}
    assert [call.function for call in Inlined(program).at(more.address + 2)] == ["twice"]
    layout = Layout(program, ["block"], ["tskTaskControlBlock"])
    assert layout.of_member(["tskTaskControlBlock"], "pcTaskName") == Spot(4, 16, "text")
    assert layout.of_variable("block.pcTaskName[2]") == Spot(6, 1, "number")


def test_a_damaged_one_is_read_or_told(elf: bytes, tmp_path: Path) -> None:
    path, chosen = tmp_path / "a.elf", random.Random(SEED)
    with (tmp_path / "whole.elf").open("w+b") as file:
        file.write(elf)
        sections = [(section["sh_offset"], section["sh_size"]) for section in ELFFile(file).iter_sections()]
    refused = 0
    for _ in range(CHANGES):
        content = bytearray(elf)
        offset, size = chosen.choice(
            [section for section in sections if section[1]] + [(0, 64), (len(elf) - 900, 900)]
        )
        for _ in range(chosen.choice([1, 4, 16])):
            content[min(offset + chosen.randrange(size), len(elf) - 1)] = chosen.randrange(256)
        path.write_bytes(content[: chosen.randrange(len(elf))] if chosen.random() < 0.1 else content)
        try:
            user_program(path)
            read_everything(path)
        except (ExplainError, SimulatorError) as error:
            refused += 1
            assert "\n" not in str(error)
    assert 20 < refused < CHANGES - 20
