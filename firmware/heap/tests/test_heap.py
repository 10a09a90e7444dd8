"""Builds the heap's host tests for every index, plain and with sanitizers, and runs them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from firmware import catalogue
from firmware.heap.tests.probe_table import table

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parents[2]
ALLOCATORS = sorted(catalogue.allocators())
COUNTING = [name for name in ALLOCATORS if "counts_probes" in catalogue.allocators()[name].promises]
ON_THE_HOST = [name for name in ALLOCATORS if not catalogue.allocators()[name].target_only]


def run(*command: str | Path) -> str:
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


VARIANTS = [
    *(("half_fit_cstm", (f"SEARCH_THRESHOLD={blocks}",), "replay") for blocks in (10, 50, 100)),
    *(("tlsf", (f"TLSF_SLOTS={slots}",), "replay") for slots in (8, 32)),
    ("half_tree", ("SMALL_VICTIM_BYTES=2800", "LARGE_VICTIM_BYTES=2800"), "replay|checker"),  # any is small
    ("half_tree", ("SMALL_VICTIM_BYTES=1", "LARGE_VICTIM_BYTES=1"), "replay|probes"),  # there is never one
]
"""Indexes with their knobs turned, and the suites that hold for the index as it is."""


def configure(build: Path, allocator: str, sanitize: str, knobs: tuple[str, ...] = ()) -> list[str | Path]:
    chosen = (f"ALLOCATOR={allocator}", f"SANITIZE={sanitize}", *knobs)
    return ["cmake", "-S", TESTS, "-B", build, "-G", "Ninja", *(f"-DTAILSCOPE_{knob}" for knob in chosen)]


def built(allocator: str, sanitize: str, knobs: tuple[str, ...] = ()) -> Path:
    """The folder of the host tests, built."""
    for tool in ("cmake", "ninja", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    sanitized = () if sanitize == "OFF" else ("sanitized",)
    build = REPOSITORY / "build" / "heap-tests" / "-".join((allocator, *knobs, *sanitized))
    run(*configure(build, allocator, sanitize, knobs))
    run("cmake", "--build", build)
    return build


@pytest.mark.parametrize("sanitize", ["OFF", "ON"])
@pytest.mark.parametrize("allocator", ON_THE_HOST)
def test_heap_on_the_host(allocator: str, sanitize: str) -> None:
    build = built(allocator, sanitize)
    assert "100% tests passed" in run("ctest", "--test-dir", build, "--output-on-failure")


@pytest.mark.parametrize(("allocator", "knobs", "left_out"), VARIANTS)
def test_heap_with_knobs_turned(allocator: str, knobs: tuple[str, ...], left_out: str) -> None:
    build = built(allocator, "ON", knobs)
    assert "100% tests passed" in run("ctest", "--test-dir", build, "--output-on-failure", "-E", left_out)


@pytest.mark.parametrize(
    ("allocator", "knob", "says"),
    [
        ("tlsf", "TLSF_SLOTS=12", "must be 2, 4, 8, 16 or 32"),
        ("tlsf", "TLSF_OCTAVES=8", "so few octaves do not file the region"),
        ("half_tree", "SMALL_VICTIM_BYTES=3000", "at least 1 and not above TAILSCOPE_LARGE_VICTIM_BYTES"),
        ("half_fit_cstm", "SEARCH_THRESHOLD=few", "say a whole number"),
    ],
)
def test_an_impossible_knob_is_refused(tmp_path: Path, allocator: str, knob: str, says: str) -> None:
    if shutil.which("ninja") is None or shutil.which("cmake") is None:
        pytest.skip("cmake or ninja is not installed")
    done = subprocess.run(configure(tmp_path, allocator, "OFF", (knob,)), capture_output=True, text=True)
    if done.returncode == 0:
        done = subprocess.run(["cmake", "--build", tmp_path], capture_output=True, text=True)
    assert done.returncode != 0
    assert says in done.stdout + done.stderr


def test_the_table_of_the_readme_is_what_replay_counts() -> None:
    programs = {name: built(name, "OFF") / "replay" for name in COUNTING}
    assert table(programs) in (TESTS.parent / "README.md").read_text()


def test_an_unknown_allocator_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    done = subprocess.run(configure(tmp_path, "buddy", "OFF"), check=False, capture_output=True, text=True)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert (
        f"There is no allocator 'buddy': set TAILSCOPE_ALLOCATOR to one of {', '.join(ALLOCATORS)}." in said
    )
