"""Traces from files: what they may say, and the line of what they may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from capture.files.tests.sentences import is_sentence
from scenarios import trace_file
from scenarios.errors import ScenarioError
from scenarios.generators.generator import Step
from scenarios.operations import Allocate, Call, Free
from scenarios.trace import ALLOCATE, FREE, REALLOCATE, of_steps


def written(folder: Path, text: str) -> Path:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_slots_are_used_again(tmp_path: Path) -> None:
    lines = "# of a test\na,0x20001000,24\na,b,8,64\n\nf,0x20001000\r\n a , 7 , 16\nr,b,40\nf,7\n"
    found = trace_file.read(written(tmp_path, lines))
    assert found.operations.tolist() == [
        [ALLOCATE, 0, 24, 0],
        [ALLOCATE, 1, 8, 64],
        [FREE, 0, 0, 0],
        [ALLOCATE, 0, 16, 0],
        [REALLOCATE, 1, 40, 0],
        [FREE, 0, 0, 0],
    ]
    assert (found.name, found.seed) == ("trace.csv", None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,1,8\nf,1\nf,1\n", "line 3: block '1' is not live; it was never allocated, or is freed already."),
        ("a,1,8\nf,2\n", "line 2: block '2' is not live"),
        ("a,1,8\na,1,8\n", "line 2: block '1' is live already; free it first."),
        ("r,1,8\n", "line 1: block '1' is not live"),
        ("a,1,0\n", "line 1: the size 0 is outside 1…4294967295."),
        ("a,1,4294967296\n", "outside"),
        ("a,1,8,24\n", "line 1: the alignment 24 is no power of two."),
        ("a,1,-8\n", "line 1: '-8' is no whole number."),
        ("a,1\n", "line 1: 'a,1' is none of a,ID,SIZE[,ALIGNMENT], f,ID, r,ID,SIZE."),
        ("f,1,8\n", "is none of"),
        ("x,1,8\n", "is none of"),
        ("a,,8\n", "is none of"),
        ("# nothing\n", "has no heap operation; there is nothing to replay."),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        trace_file.read(written(tmp_path, text))
    assert says in str(refused.value)
    assert is_sentence(str(refused.value), "*.")


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"none\.csv cannot be read"):
        trace_file.read(tmp_path / "none.csv")
    (tmp_path / "trace.csv").write_bytes(b"a,\xff,8\n")
    with pytest.raises(ScenarioError, match="no text in UTF-8"):
        trace_file.read(tmp_path / "trace.csv")


def test_the_steps_of_a_scenario_without_its_calls() -> None:
    steps = [Step(Allocate(3, 24, align_log2=6)), Step(Call("queue_send")), Step(Free(3))]
    assert of_steps("made", steps, 5).operations.tolist() == [[ALLOCATE, 0, 24, 64], [FREE, 0, 0, 0]]
    with pytest.raises(ScenarioError, match=r"made, step 1: block 3 is live already; free it first\."):
        of_steps("made", [Step(Allocate(3, 24)), Step(Allocate(3, 24))])
