"""Builds the heap's host tests of one allocator, with sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from base.files.turns import taking_turns
from firmware.build import catalogue

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parents[2]
ALLOCATORS = sorted(catalogue.allocators())
WITH_SHORT_HEADERS = [name for name in ALLOCATORS if "HDR" in catalogue.allocators()[name].knobs]
COUNTING = [name for name in ALLOCATORS if "counts_probes" in catalogue.allocators()[name].promises]
ON_THE_HOST = [
    name
    for name, row in catalogue.allocators().items()
    if not row.target_only and row.missing_checkout() is None
]


def of_each_kind(names: Iterable[str]) -> list[ParameterSet]:
    """The allocators as parameters of a test; all but one of each kind are long."""
    return [
        pytest.param(name, marks=() if name in catalogue.EACH_KIND else pytest.mark.long) for name in names
    ]


def run(*command: str | Path) -> str:
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def configure(build: Path, allocator: str, knobs: tuple[str, ...] = ()) -> list[str | Path]:
    chosen = (f"ALLOCATOR={allocator}", "SANITIZE=ON", *knobs)
    return ["cmake", "-S", TESTS, "-B", build, "-G", "Ninja", *(f"-DTAILSCOPE_{knob}" for knob in chosen)]


@cache
def built(allocator: str, knobs: tuple[str, ...] = (), programs: tuple[str, ...] = ()) -> Path:
    """The folder of the host tests with these programs built, or with all if none is named.

    Whoever else wants the same waits and finds it built. console/checks.py builds there too, for
    the contract of the allocator as it is.
    """
    for tool in ("cmake", "ninja", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    build = REPOSITORY / "build" / "heap-tests" / "-".join((allocator, *knobs, "sanitized"))
    with taking_turns(build):
        run(*configure(build, allocator, knobs))
        run("cmake", "--build", build, *(["--target", *programs] if programs else []))
    return build
