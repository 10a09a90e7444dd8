"""A kernel is found by its symbols, and what its file asks for by the program's own information."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis.explain.kernels import kernel_file as files
from analysis.explain.kernels.kernel import find, supplied
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
    assert result.start is not None and result.words.task is not None
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
    assert kernel is not None and kernel.start is not None
    assert (kernel.name, kernel.start.name) == ("Own", "start_of_all")


def test_every_file_that_comes_along_is_sound() -> None:
    assert [path.stem for path in supplied()] == sorted(made.KERNELS)
    assert [files.read(path).name for path in supplied()] == [
        made.KERNELS[name] for name in sorted(made.KERNELS)
    ]
