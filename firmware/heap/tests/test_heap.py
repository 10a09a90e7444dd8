"""Builds the heap's host tests for every index, plain and with sanitizers, and runs them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parents[2]
INDEXES = sorted(path.stem for path in (TESTS.parent / "indexes").glob("*.c"))


def run(*command: str | Path) -> str:
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def configure(build: Path, allocator: str, sanitize: str) -> list[str | Path]:
    knobs = [f"-DTAILSCOPE_ALLOCATOR={allocator}", f"-DTAILSCOPE_SANITIZE={sanitize}"]
    return ["cmake", "-S", TESTS, "-B", build, "-G", "Ninja", *knobs]


@pytest.mark.parametrize("sanitize", ["OFF", "ON"])
@pytest.mark.parametrize("allocator", INDEXES)
def test_heap_on_the_host(allocator: str, sanitize: str) -> None:
    for tool in ("cmake", "ninja", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    build = (
        REPOSITORY / "build" / "heap-tests" / (allocator if sanitize == "OFF" else f"{allocator}-sanitized")
    )
    run(*configure(build, allocator, sanitize))
    run("cmake", "--build", build)
    assert "100% tests passed" in run("ctest", "--test-dir", build, "--output-on-failure")


def test_an_unknown_allocator_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    done = subprocess.run(configure(tmp_path, "buddy", "OFF"), check=False, capture_output=True, text=True)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert f"There is no allocator 'buddy': set TAILSCOPE_ALLOCATOR to one of {', '.join(INDEXES)}." in said
