"""What an ELF file tells, beside what binutils tell of it, in two versions of DWARF."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from analysis.errors import ExplainError
from analysis.explain.program import Function, Program
from analysis.explain.sources import Inlined

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


def test_each_address_is_of_its_function(elf: Path) -> None:
    program, symbol_table = Program(elf), symbols(elf, "Tt")
    (first, size), (begin, length) = symbol_table["alias"], symbol_table["main"]
    for address, name in ((first, "alias"), (first + size - 1, "alias"), (begin, "main")):
        function = program.function_at(address)
        assert function is not None and function.name == name
    assert program.function_at(min(first, begin) - 1) is None
    assert program.function_at(max(first + size, begin + length)) is None
    assert program.place(begin) == "main"
    assert program.place(begin + 0x2) == "main+0x2"
    assert program.place(0x123) == "0x00000123"


def test_data_has_an_address_and_a_size(elf: Path) -> None:
    program, (address, size) = Program(elf), symbols(elf, "D")["counter"]
    assert (
        (program.data_address("counter"), program.data_size("counter"))
        == (address, size)
        == (0x2000_0000, 12)
    )
    assert (program.data_address("gone"), program.data_size("gone")) == (None, 0)


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


def test_source_files_are_found_by_their_names(elf: Path) -> None:
    paths = Program(elf).source_files
    assert paths["small.c"] == elf.with_name("small.c")
    assert paths["part.h"] == elf.parent / "inc" / "part.h"


def test_code_is_that_of_the_image(elf: Path, tmp_path: Path) -> None:
    program, image = Program(elf), tmp_path / "image.bin"
    binutil("objcopy", "-O", "binary", "-j", ".text", elf, image)
    content = image.read_bytes()
    assert program.code(FLASH, len(content)) == content
    assert program.code(FLASH + 2, 4) == content[2:6]
    assert program.code(FLASH - 1, 2) == program.code(0x3000_0000, 4) == b""
    listed = program.instructions(program.functions[0])
    assert [(at, size) for at, size, _, _ in listed][:2] == [(FLASH, 2), (FLASH + 2, 2)]
    assert sum(size for _, size, _, _ in listed) == program.functions[0].size


@pytest.mark.parametrize(
    ("opcode", "wide", "text"),
    [
        # ARMv7-M Architecture Reference Manual, A7.7: BX, NOP.W, B to itself, and no instruction.
        *((0x4770, False, "bx lr"), (0xF3AF_8000, True, "nop.w"), (0xE7FE, False, "b #0x8000100")),
        (0xFFFF_FFFF, True, ".inst 0xffffffff"),
    ],
)
def test_an_instruction_in_words(elf: Path, opcode: int, wide: bool, text: str) -> None:
    assert Program(elf).instruction_text(0x0800_0100, opcode, wide) == text


def test_a_file_without_symbols_or_lines(elf: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.elf"
    binutil("strip", "-o", stripped, elf)
    with pytest.raises(ExplainError) as refused:
        Program(stripped)
    assert str(refused.value) == f"{stripped} has no symbols; build it again."
    program = Program(stripped, stripped=True)
    assert (program.functions, program.labels, program.data_size("counter")) == ([], {}, 0)
    assert (program.lines, program.has_lines, program.source_line(FLASH), program.source_files) == (
        [],
        False,
        "",
        {},
    )
    assert (program.place(FLASH), program.call_frames) == ("0x08000000", [])
    assert program.code(FLASH, 4) == Program(elf).code(FLASH, 4)


def test_what_is_no_firmware_is_said(tmp_path: Path) -> None:
    path = tmp_path / "text.elf"
    path.write_text("no ELF file")
    with pytest.raises(
        ExplainError, match=rf"^{re.escape(str(path))} is no firmware \(.+\); build it again\.$"
    ):
        Program(path)
    with pytest.raises(ExplainError, match=r"is no firmware \(.*No such file.*\); build it again\.$"):
        Program(tmp_path / "gone.elf")


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


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("common:", "common"),
        (".global common\n.type common, %function\ncommon:", "common"),
        (".weak common\n.type common, %function\ncommon:", "default handler"),
    ],
)
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
