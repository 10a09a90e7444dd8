"""Offsets by debug information, beside those that the compiler itself put into the program."""

from __future__ import annotations

import subprocess

import pytest

from analysis.explain.kernels.layout import Layout, Spot
from analysis.explain.program import Program

SOURCE = """\
#include <stddef.h>
typedef struct part { char tag; union { struct { short low, high; }; int both; }; } part_t;
struct whole {
    char mark;
    part_t parts[5];
    const char *volatile name;
    char text[11];
    struct whole *next;
};
struct whole table[3];
const unsigned offsets[] = {
    offsetof(struct whole, parts[2].high), offsetof(struct whole, name), offsetof(struct whole, text),
    sizeof(struct whole), offsetof(struct whole, next),
};
int main(void) { return table[1].mark; }
"""


@pytest.fixture(scope="module", params=["-gdwarf-4", "-gdwarf-5"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("layout")
    (folder / "a.c").write_text(SOURCE)
    words = ["-mcpu=cortex-m4", "-mthumb", "-ffreestanding", "-nostdlib", "-Wl,-e,main"]
    command = ["arm-none-eabi-gcc", request.param, *words, "-Wl,-Ttext=0x08000000", "a.c", "-o", "a.elf"]
    subprocess.run(command, check=True, cwd=folder)
    return Program(folder / "a.elf")


def offsets(program: Program) -> list[int]:
    address = program.data_address("offsets")
    assert address is not None
    code = program.code(address, program.data_size("offsets"))
    return [int.from_bytes(code[n : n + 4], "little") for n in range(0, len(code), 4)]


def test_members_lie_where_the_compiler_put_them(program: Program) -> None:
    high, name, text, size, following = offsets(program)
    layout = Layout(program, ["table"], ["whole"])
    assert layout.of_member(["absent", "whole"], "parts[2].high") == Spot(high, 2, "number")
    assert layout.of_member(["whole"], "name") == Spot(name, 4, "pointer")
    assert layout.of_member(["whole"], "text") == Spot(text, 11, "text")
    assert layout.of_variable("table[2].parts[2].high") == Spot(2 * size + high, 2, "number")
    assert layout.of_variable("table[1].next") == Spot(size + following, 4, "pointer")
    assert layout.stride("table") == size


@pytest.mark.parametrize("path", ["absent", "parts.tag", "name.tag", "parts[2].none", "mark[1]"])
def test_what_is_not_there_has_no_place(program: Program, path: str) -> None:
    assert Layout(program, ["table"], ["whole"]).of_member(["whole"], path) is None
