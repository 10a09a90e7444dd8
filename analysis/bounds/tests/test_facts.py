"""What loops.toml says of an allocator's loops, and the sentence for each slip in it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from analysis.bounds.facts import LOOPS_FILE, Loops
from analysis.errors import NoBoundError
from base.files.tests.sentences import is_sentence
from firmware.build import catalogue

STATED = """\
[list]
find = "free_blocks + 9"
insert = "2+3"

[other]
unlimited = "THRESHOLD"
find = "THRESHOLD + 1"
"""


def loops(folder: Path, text: str, allocator: str, **knobs: int) -> Loops:
    (folder / "loops.toml").write_text(text)
    return Loops(allocator, 4_800, knobs, file=folder / "loops.toml")


def test_a_sum_is_that_of_its_terms(tmp_path: Path) -> None:
    stated = loops(tmp_path, STATED, "list")
    assert (stated.passes("insert"), stated.region_decided) == (5, False)
    # 200 blocks of 24 bytes, of which 100 are free.
    assert (stated.passes("find"), stated.region_decided) == (109, True)


def test_a_knob_at_0_leaves_the_free_blocks_as_the_only_end(tmp_path: Path) -> None:
    limited = loops(tmp_path, STATED, "other", THRESHOLD=4)
    assert (limited.passes("find"), limited.region_decided) == (5, False)
    unlimited = loops(tmp_path, STATED, "other", THRESHOLD=0)
    assert (unlimited.passes("find"), unlimited.region_decided) == (101, True)


def test_a_shorter_header_lets_more_blocks_be_free(tmp_path: Path) -> None:
    # 300 blocks of 16 bytes, of which 150 are free.
    for header in (8, 4):
        assert loops(tmp_path, STATED, "list", HDR=header).passes("find") == 159


@pytest.mark.parametrize("allocator", ["list", "unheard"])
def test_what_is_not_stated_has_no_bound(tmp_path: Path, allocator: str) -> None:
    with pytest.raises(NoBoundError, match=r"^remove has a loop of which no bound is stated\.$"):
        loops(tmp_path, STATED, allocator).passes("remove")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"2+3"',
            "5",
            "3: list.insert must be a sum of numbers, knobs and free_blocks in quotation marks, not 5",
        ),
        ('"2+3"', '"2 - 3"', "3: list.insert must be a sum of *, not '2 - 3'"),
        ('"2+3"', '"2 +"', "3: list.insert must be a sum of *, not '2 +'"),
        ('"2+3"', '"free_block"', "3: list.insert must be a sum of *, not 'free_block'"),
        ("[other]", "other = 5\n[another]", "5: list.other must be a sum of *, not 5"),
        ("[list]", "list = 5\n[another]", "1: list must be a table of keys and values, not 5"),
        ('"2+3"', '"THRESHOLDS"', "3: list.insert names THRESHOLDS, which is no knob of the image"),
        ('"2+3"', '"2', "3: the file is not valid TOML: *"),
    ],
)
def test_a_slip_gets_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in STATED
    with pytest.raises(NoBoundError) as refusal:
        loops(tmp_path, STATED.replace(old, new), "list", THRESHOLD=4).passes("insert")
    expected = f"{tmp_path}/loops.toml:{sentence}; mend it."
    assert is_sentence(str(refusal.value), expected), str(refusal.value)


def test_the_file_names_allocators_and_knobs_that_there_are() -> None:
    knobs = {row.id: row.knobs for row in catalogue.allocators().values()}
    for allocator, functions in tomllib.loads(LOOPS_FILE.read_text()).items():
        for function in functions.keys() - {"unlimited"}:
            assert Loops(allocator, 65_536, knobs[allocator]).passes(function) > 0
