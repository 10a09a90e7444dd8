"""Hard-float tasks of FreeRTOS compute the same even if interrupts come every few dozen cycles."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from simulator import run as simulator
from tests.tables import table

SOURCES = Path(__file__).resolve().parent / "float_tasks"


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("float_tasks")
    for command in (
        ["cmake", "-S", str(SOURCES), "-B", str(folder), "-G", "Ninja"],
        ["cmake", "--build", str(folder)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return folder / "float_tasks.elf"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The digests of the tasks' work, as the host computes them. IEEE 754 leaves it no choice."""
    program = tmp_path_factory.mktemp("host") / "host"
    sources = [str(SOURCES / "host.c"), str(SOURCES / "work.c")]
    options = ["-O2", "-ffp-contract=off", "-fno-math-errno", "-o", str(program)]
    subprocess.run(["cc", *options, *sources, "-lm"], check=True, capture_output=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def count(lines: list[str], name: str) -> int:
    (line,) = [line for line in lines if line.startswith(name)]
    return int(line.split()[-1], 16)


@table
def test_interrupts_change_no_result(elf: Path, expected: list[str], periods: tuple[int, int]) -> None:
    """`periods` are the cycles between the interrupts of TIM5 and of TIM2; 0 is no interrupts."""
    done = simulator.run(elf, image=struct.pack("<2I", *periods), until="100ms")
    lines = done.uart.decode("ascii").splitlines()
    assert lines[:4] == expected
    assert lines[-1] == "end"
    for name, period in zip(("integer interrupts", "float interrupts"), periods, strict=True):
        assert count(lines, name) > 1000 if period else count(lines, name) == 0
    if periods[1]:
        assert count(lines, "reserved") > 1000, "frames were reserved and not yet written"
        assert count(lines, "saved late") == count(lines, "reserved")
