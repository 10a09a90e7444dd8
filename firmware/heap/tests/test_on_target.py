"""The contract of allocators that exist for the target only, as firmware on the virtual Nucleo."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from base.files.locks import taking_turns
from firmware.build import catalogue
from firmware.heap.tests.host_build import of_each_kind
from simulator import run as simulator

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parents[2]
TARGET_ONLY = [name for name, row in catalogue.allocators().items() if row.target_only]
SUITES = ["requests", "contents", "recovery", "account", "reallocation", "markers", "limits"]


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("allocator", of_each_kind(TARGET_ONLY))
def test_contract(allocator: str) -> None:
    build = REPOSITORY / "build" / "heap-tests" / f"{allocator}-target"
    source = ("cmake", "-S", TESTS / "target", "-B", build, "-G", "Ninja")
    with taking_turns(build):
        for command in ((*source, f"-DTAILSCOPE_ALLOCATOR={allocator}"), ("cmake", "--build", build)):
            done = run(*command)
            assert done.returncode == 0, done.stdout + done.stderr
    said = simulator.run(build / "heap_tests.elf", until="60s").uart.decode("ascii")
    ended = re.findall(r"^(\w+): ([0-9]+) assertions, ([0-9]+) failed$", said, re.MULTILINE)
    assert [suite for suite, _, _ in ended] == SUITES, said
    assert all(int(assertions) > 50 and failed == "0" for _, assertions, failed in ended), said


def test_the_host_is_refused_what_is_compiled_for_the_target(tmp_path: Path) -> None:
    done = run("cmake", "-S", TESTS, "-B", tmp_path, "-G", "Ninja", "-DTAILSCOPE_ALLOCATOR=newlib")
    assert done.returncode != 0
    assert "newlib is compiled code for the target: there is no host build of it." in " ".join(
        done.stderr.split()
    )
