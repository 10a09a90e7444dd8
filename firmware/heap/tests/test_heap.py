"""Allocators with their knobs turned against the contract, and what no build is made of."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from base import heap_size
from firmware.build import catalogue
from firmware.heap.tests.check_replay import ALLOCATE, mem_frag, mem_stress, replay
from firmware.heap.tests.host_build import (
    ALLOCATORS,
    COUNTING,
    ON_THE_HOST,
    TESTS,
    built,
    configure,
    run,
)
from firmware.heap.tests.probe_table import table

VARIANTS = [
    ("tlsf", ("TLSF_SLOTS=8",), "replay"),
    *(("half_fit_cstm", (f"SEARCH_THRESHOLD={blocks}",), "replay") for blocks in (10, 100)),
    ("tlsf", ("TLSF_SLOTS=32",), "replay"),
    ("half_tree", ("SMALL_VICTIM_BYTES=2800", "LARGE_VICTIM_BYTES=2800"), "replay|checker"),
    ("half_tree", ("SMALL_VICTIM_BYTES=1", "LARGE_VICTIM_BYTES=1"), "replay|probes"),
    # One layer serves all indexes; test_properties.py has every index with either header.
    ("half_fit_cstm", ("HDR=8",), "no suite"),
    ("half_tree", ("HDR=4",), "no suite"),
    ("best_fit", ("HDR=16", "LEAST=24"), "no suite"),
    ("tlsf_crate", ("FLL=9",), "no suite"),
    ("ublox_buddy", ("REMAINDER_FIRST=1",), "no suite"),
]
"""Allocators with their knobs turned, and the suites that hold with the defaults only.

In the first half_tree every victim counts as small, in the second there is never a victim.
"""


@pytest.mark.parametrize(
    ("allocator", "knobs", "left_out"),
    [VARIANTS[0], *(pytest.param(*variant, marks=pytest.mark.long) for variant in VARIANTS[1:])],
)
def test_heap_with_knobs_turned(allocator: str, knobs: tuple[str, ...], left_out: str) -> None:
    build = built(allocator, knobs, ("heap_tests", "replay", "fuzz_operations"))
    assert "100% tests passed" in run("ctest", "--test-dir", build, "--output-on-failure", "-E", left_out)


LARGEST = heap_size.LARGEST_BYTES


@pytest.mark.parametrize(
    "allocator",
    [
        pytest.param(name, marks=() if name == "tlsf" else pytest.mark.long)
        for name in ON_THE_HOST
        if catalogue.allocators()[name].objection(LARGEST) is None
    ],
)
def test_alignments_up_to_the_largest_on_a_region_of_8_mib(allocator: str) -> None:
    """Of 1 MiB too: there the offset of an aligned payload no longer fits the mark before it."""
    octaves = ("TLSF_OCTAVES=17",) if "TLSF_OCTAVES" in catalogue.allocators()[allocator].knobs else ()
    build = built(allocator, (f"HEAP_BYTES={LARGEST}", *octaves), ("heap_tests",))
    assert " 0 failed" in run(build / "heap_tests", "limits")


@pytest.mark.parametrize(
    ("allocator", "knob", "says"),
    [
        ("tlsf", "TLSF_SLOTS=12", "must be 2, 4, 8, 16 or 32"),  # said by CMake
        ("half_tree", "HDR=12", "TAILSCOPE_HDR is 4, 8 or 16"),  # said by the compiler
        *(
            pytest.param(*refused, marks=pytest.mark.long)
            for refused in (
                ("tlsf", "TLSF_OCTAVES=8", "so few octaves do not file the region"),
                ("half_tree", "SMALL_VICTIM_BYTES=3000", "not above TAILSCOPE_LARGE_VICTIM_BYTES"),
                ("half_fit_cstm", "SEARCH_THRESHOLD=few", "say a whole number"),
                ("half_tree", "LARGE_VICTIM_BYTES=28000000", "no room for the rest of the BOOT record"),
                ("best_fit", "LEAST=4", "a free block keeps two links, so say 8 or more"),
                ("best_fit", "LEAST=12", "must be a multiple of 8"),
                ("tlsf_crate", "FLL=12", "the crate tlsf has 1 to 11 first levels"),
                ("ublox_buddy", "REMAINDER_FIRST=2", "TAILSCOPE_REMAINDER_FIRST is 0 or 1"),
            )
        ),
    ],
)
def test_an_impossible_knob_is_refused(tmp_path: Path, allocator: str, knob: str, says: str) -> None:
    if shutil.which("ninja") is None or shutil.which("cmake") is None:
        pytest.skip("cmake or ninja is not installed")
    done = subprocess.run(configure(tmp_path, allocator, (knob,)), capture_output=True, text=True)
    if done.returncode == 0:
        heap = ("--target", "tailscope_heap")
        done = subprocess.run(["cmake", "--build", tmp_path, *heap], capture_output=True, text=True)
    assert done.returncode != 0
    assert says in " ".join((done.stdout + done.stderr).split())  # CMake breaks lines


@pytest.mark.long
def test_the_table_of_the_readme_is_what_replay_counts() -> None:
    programs = {name: built(name, programs=("replay",)) / "replay" for name in COUNTING}
    assert table(programs) in (TESTS.parent / "README.md").read_text()


def test_each_block_of_two_workloads_comes_from_its_own_pool() -> None:
    """So the bytes in use are those of requests rounded up to powers of two. The most blocks that
    live at once, by size, are those of the README.
    """
    program = str(built("pool", programs=("replay",)) / "replay")
    for workload, words in ((mem_stress, "live at most, in mem_stress"), (mem_frag, "in mem_frag")):
        operations, blocks, most = list(workload()), dict[int, int](), Counter[int]()
        for operation, row in zip(operations, replay(program, operations, "any"), strict=True):
            blocks.pop(operation.slot, None)
            if operation.kind == ALLOCATE:
                blocks[operation.slot] = max(16, 1 << (operation.size - 1).bit_length())
            assert row.bytes_in_use == sum(blocks.values())
            most |= Counter(blocks.values())
        cells = " | ".join(str(most[16 << number]) for number in range(9))
        assert f"| {words} | {cells} |" in (TESTS.parent / "README.md").read_text()


def test_an_unknown_allocator_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    done = subprocess.run(configure(tmp_path, "buddy"), check=False, capture_output=True, text=True)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert (
        f"There is no allocator 'buddy': set TAILSCOPE_ALLOCATOR to one of {', '.join(ALLOCATORS)}." in said
    )
