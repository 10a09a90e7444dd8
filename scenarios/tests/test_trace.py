"""Traces from files: what they may say, and the line of what they may not."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import trace
from scenarios.errors import ScenarioError
from scenarios.generator import Step
from scenarios.operations import Allocate, Call, Free
from scenarios.trace import ALLOCATE, FREE, REALLOCATE, of_steps
from tests.sentences import Sentences


def written(folder: Path, text: str) -> Path:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_slots_are_used_again(tmp_path: Path) -> None:
    lines = "# of a test\na,0x20001000,24\na,b,8,64\n\nf,0x20001000\r\n a , 7 , 16\nr,b,40\nf,7\n"
    read_trace = trace.read(written(tmp_path, lines))
    assert read_trace.operations.tolist() == [
        [ALLOCATE, 0, 24, 0],
        [ALLOCATE, 1, 8, 64],
        [FREE, 0, 0, 0],
        [ALLOCATE, 0, 16, 0],
        [REALLOCATE, 1, 40, 0],
        [FREE, 0, 0, 0],
    ]
    assert (read_trace.name, read_trace.seed) == ("trace.csv", None)


def test_what_cannot_be_is_refused_with_its_line(tmp_path: Path, sentences: Sentences) -> None:
    for text in (
        *("a,1,8\nf,1\nf,1\n", "a,1,8\nf,2\n", "a,1,8\na,1,8\n", "r,1,8\n", "a,1,0\n", "a,1,4294967296\n"),
        *("a,1,8,24\n", "a,1,-8\n", "a,1\n", "f,1,8\n", "x,1,8\n", "a,,8\n", "a,1,8,@5\nf,1,@4\n"),
        *("a,1,8,16,@x\n", "a,1,8\n" + "f," + "1" * 600 + "\n", "# nothing\n"),
    ):
        with sentences.raised(ScenarioError):
            trace.read(written(tmp_path, text))


def test_what_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a,1,8\nf,1\n" * 3)
    monkeypatch.setattr(trace, "MOST_OPERATIONS", 5)
    with pytest.raises(ScenarioError, match="line 6: a trace has 5 operations at most; cut it there"):
        trace.read(path)
    monkeypatch.setattr(trace, "MOST_BYTES", 20)
    with pytest.raises(ScenarioError, match="it has more than 20 bytes"):
        trace.read(path)
    with pytest.raises(ScenarioError, match="a device or a pipe"):
        trace.read(Path("/dev/zero"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ScenarioError, match="a device or a pipe"):
        trace.read(tmp_path / "pipe")


@given(st.lists(st.sampled_from(["a", "f", "r", "1", "2", ",", "8", "\n", "@", "#", "\0", "é", " "])))
def test_no_slip_ends_in_another_exception(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    path = written(tmp_path_factory.getbasetemp(), "a,1,8\n" + "".join(pieces))
    with suppress(ScenarioError):
        assert len(trace.read(path).operations) >= 1


def test_the_steps_of_a_scenario_without_its_calls() -> None:
    steps = [Step(Allocate(3, 24, align_log2=6)), Step(Call("queue_send")), Step(Free(3))]
    assert of_steps("made", steps, 5).operations.tolist() == [[ALLOCATE, 0, 24, 64], [FREE, 0, 0, 0]]
    with pytest.raises(ScenarioError, match=r"made, step 1: block 3 is live already; free it first\."):
        of_steps("made", [Step(Allocate(3, 24)), Step(Allocate(3, 24))])
