"""What an ELF file tells, beside what binutils tell of it, in two versions of DWARF."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from analysis.explain.program import Function, Program
from analysis.explain.sources import Inlined
from tests.tables import table

SOURCE = """\
#include "part.h"
int counter[3] = {1, 2, 3};

__attribute__((noinline)) int twice(int x)
{
    return x + x;
}
int alias(int x) __attribute__((alias("twice")));

int main(void)
{
    counter[1] = placed(counter[0]);
    return twice(counter[1]) - 1;
}
"""
PART = """\
static inline __attribute__((always_inline)) int placed(int x)
{
    return x * 12345 + 7;
}
"""
FLASH = 0x0800_0000


@pytest.fixture(scope="module", params=["-gdwarf-4", "-gdwarf-5"])
def elf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "inc").mkdir()
    (folder / "small.c").write_text(SOURCE)
    (folder / "inc" / "part.h").write_text(PART)
    words = ["-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding", "-nostdlib", "-Iinc", "-Wl,-e,main"]
    places = [f"-Wl,-Ttext={FLASH:#x}", "-Wl,-Tdata=0x20000000"]
    command = ["arm-none-eabi-gcc", request.param, *words, *places, "small.c", "-o", "small.elf"]
    subprocess.run(command, check=True, cwd=folder)
    return folder / "small.elf"


def binutil(name: str, *words: str | Path) -> list[str]:
    done = subprocess.run([f"arm-none-eabi-{name}", *words], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def symbols(elf: Path, kinds: str) -> dict[str, tuple[int, int]]:
    """Address and size of each symbol of these kinds, by name."""
    rows = [line.split() for line in binutil("nm", "-S", elf)]
    return {
        row[3]: (int(row[0], 16) & ~1, int(row[1], 16)) for row in rows if len(row) == 4 and row[2] in kinds
    }


def test_functions_are_those_of_the_symbol_table(elf: Path) -> None:
    """Of two names for one address the alphabet's first counts, and both are labels."""
    program, symbol_table = Program(elf), symbols(elf, "Tt")
    assert set(symbol_table) == {"alias", "main", "twice"} and symbol_table["alias"] == symbol_table["twice"]
    expected = sorted(
        (Function(name, *symbol_table[name]) for name in ("alias", "main")),
        key=lambda function: function.address,
    )
    assert program.functions == expected
    assert program.function("main") == Function("main", *symbol_table["main"])
    assert program.function("gone") is None
    labels = {name: addresses for name, addresses in program.labels.items() if name in symbol_table}
    assert labels == {name: [address] for name, (address, _) in symbol_table.items()}
    assert not any("$" in name for name in program.labels)
    assert "counter" not in program.labels


def frames(elf: Path, address: int) -> list[tuple[str, str]]:
    """Function and `file:line` at an address, innermost first, as addr2line has them."""
    lines = binutil("addr2line", "-f", "-i", "-e", elf, hex(address))
    places = [re.sub(r" \(discriminator.*", "", line).rpartition("/")[2] for line in lines[1::2]]
    return list(zip(lines[::2], places, strict=True))


def test_lines_and_inlined_calls_are_those_of_addr2line(elf: Path) -> None:
    program = Program(elf)
    inlined, met = Inlined(program), set()
    for address, line in program.lines:
        if line:
            lines = frames(elf, address)
            calls = [(call.function, f"{call.file}:{call.line}") for call in inlined.at(address)]
            assert program.source_line(address) in {line, lines[0][1]}
            assert calls == [(name, place) for (name, _), (_, place) in pairwise(lines)]
            met |= {line, *calls}
    assert {"small.c:6", "small.c:13", "part.h:3", ("placed", "small.c:12")} <= met
    begin, end = program.lines[0][0], max(function.address + function.size for function in program.functions)
    assert program.source_line(begin - 2) == program.source_line(end + 100) == ""
    assert inlined.at(0x123) == []
    assert program.has_lines and program.lines == sorted(program.lines, key=lambda row: row[0])


ALIASES = """
    .syntax unified
    .thumb
    .section .vectors, "a"
    .word 0x20018000
    .word reset
    .text
    .global reset
    .type reset, %function
reset: b .
    .thumb_func
{label}
    b .
    .irp name, BusFault_Handler, DebugMon_Handler, VectorA, VectorB, VectorC
    .weak \\name
    .thumb_set \\name, common
    .endr
"""


@table
def test_a_handler_of_all_unused_vectors_has_the_name_of_none_of_them(
    tmp_path: Path, label: str, name: str
) -> None:
    (tmp_path / "vectors.S").write_text(ALIASES.format(label=label).replace("\\\\", "\\"))
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-nostdlib", f"-Wl,-Ttext={FLASH:#x}", "-Wl,-e,reset"]
    subprocess.run([*command, "vectors.S", "-o", "v.elf"], check=True, cwd=tmp_path)
    program = Program(tmp_path / "v.elf")
    reset = program.function("reset")
    assert reset
    function = program.function_at(reset.address + 2)
    assert function and function.name == name
