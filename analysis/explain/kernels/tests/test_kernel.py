"""A kernel is found by its symbols, and what its file asks for by the program's own information."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis.explain.kernels import kernel_file as files
from analysis.explain.kernels.kernel import Layout, Spot, find, supplied
from analysis.explain.kernels.tests import made
from analysis.explain.program import Program
from firmware.tests.symbols import symbol
from tests.tables import table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.parametrize(("kernel", "name"), made.KERNELS.items())
def test_each_kernel_is_recognised_by_its_symbols(folder: Path, kernel: str, name: str) -> None:
    program = Program(made.build(folder, kernel))
    result = find(program)
    assert result is not None and result.name == name
    assert (result.starts_at or result.starts_after) and result.words.task is not None
    assert result.untold == ()
    named = find(program, kernel)
    assert named == result
    assert find(program, "none") is None


# The offsets are those of the structures in kernels.c, by the rules of the AAPCS: a pointer and a
# word have four bytes, and a half-word two.
@table
def test_the_simulator_is_told_where_the_kernel_has_its_state(
    folder: Path, kernel: str, variable: str, task: int, scheduler: str
) -> None:
    elf = made.build(folder, kernel)
    result = find(Program(elf))
    assert result is not None
    assert result.words.task == symbol(elf, variable)[0] + task
    named, _, place = scheduler.partition(" ")
    further = task if "*" in place else 0
    assert result.words.scheduler == (place.format(symbol(elf, named)[0] + further) if named else "")


def test_without_debug_information_a_plain_variable_is_known(folder: Path, tmp_path: Path) -> None:
    elf = tmp_path / "bare.elf"
    subprocess.run(["arm-none-eabi-strip", "-g", "-o", elf, made.build(folder, "freertos")], check=True)
    kernel = find(Program(elf))
    assert kernel is not None
    assert kernel.words.task == symbol(elf, "pxCurrentTCB")[0]
    assert kernel.untold == ("the names of its tasks",)


def test_a_user_s_kernel_is_a_file(folder: Path, tmp_path: Path) -> None:
    program = Program(made.build(folder, ""))
    own = tmp_path / "own.toml"
    own.write_text(
        'schema = 1\nname = "Own"\nsymbols = ["start_of_all"]\n[scheduler]\nstarts_at = ["start_of_all"]\n'
    )
    kernel = find(program, str(own))
    assert kernel is not None and kernel.starts_at is not None
    assert (kernel.name, kernel.starts_at.name) == ("Own", "start_of_all")


def test_every_file_that_comes_along_is_sound() -> None:
    assert [path.stem for path in supplied()] == sorted(made.KERNELS)
    assert [files.read(path).name for path in supplied()] == [
        made.KERNELS[name] for name in sorted(made.KERNELS)
    ]


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
    address = program.variable("offsets")
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
    assert layout.of_variable("table[0]") == Spot(0, size, "struct")


@pytest.mark.parametrize("path", ["absent", "parts.tag", "name.tag", "parts[2].none", "mark[1]"])
def test_what_is_not_there_has_no_place(program: Program, path: str) -> None:
    assert Layout(program, ["table"], ["whole"]).of_member(["whole"], path) is None
