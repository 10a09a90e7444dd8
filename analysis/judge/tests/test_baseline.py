"""The baseline file: read as it was written, refused in a sentence."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import baseline as lines
from analysis.judge import programs
from analysis.judge.baseline import Operation
from analysis.judge.tests.made_programs import measured, row
from base.run_folder.records import OPERATION_KINDS
from tests.sentences import Sentences


def test_a_baseline_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "b" / "masks.toml"
    subject = measured(row("std::f(int)", "primask", 3), row("main", "handler", 9, open=True))
    made = files.made(path, "masks", {"any": "12us"}, [programs.entry(subject)])
    path.parent.mkdir()
    files.write(made)
    assert files.read(path, "masks") == made
    assert made.entry[0].functions == {"main": {"handler": "open"}, "std::f(int)": {"primask": 3}}


HEAD = 'schema = 3\ncommand = "masks"\n[[entry]]\n[entry.settings]\n'


def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path, sentences: Sentences) -> None:
    path = tmp_path / "b.toml"
    for text in (
        *(HEAD.replace("3", schema) for schema in ("4", '2\nmade_by = "Tailscope 0"')),
        *(HEAD.replace("masks", command) for command in ("gate", "latency")),
        *(HEAD + f"[entry.functions.f]\nprimask = {value}\n" for value in ("-1", '"shut"')),
        *(HEAD + "[entry.functions]\nf = 3\n", HEAD + "[entry.function.f]\n", "schema = 1\n[[entry]]\n"),
        "no toml",
    ):
        path.write_text(text, encoding="utf-8")
        with sentences.raised(GateError):
            files.read(path, "masks")


NUMBERS = st.integers(0, 3)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    cycles = draw(st.none() | st.integers(0, 3))
    most = None if cycles is None else cycles + draw(NUMBERS)
    return Operation(
        draw(st.sampled_from(OPERATION_KINDS)),
        cycles,
        most,
        draw(st.none() | NUMBERS),
        draw(NUMBERS),
        draw(NUMBERS),
        draw(st.none() | NUMBERS),
    )


LABELLED = st.lists(
    st.tuples(operations(), st.sampled_from([None, "depth 1", "it's: '''\n\x00"])), max_size=60
)


@given(LABELLED, st.none() | st.integers(-2, 4))
def test_what_is_written_is_read(labelled: list[tuple[Operation, str | None]], beyond: int | None) -> None:
    written = [operation for operation, _ in labelled]
    text = lines.operations_text(written, [label for _, label in labelled], beyond)
    assert lines.operations_of(text, beyond) == written
    assert "'" not in text


def test_eight_operations_of_one_label_are_a_line() -> None:
    served = Operation("A", 161, 161, 70, 2, pulse=165)
    freed = Operation("F", 310, 310, 150, 0, pulse=314)
    met = Operation("A", 280, 280, 113, 2, hits=1, pulse=284)
    labels = ["depth 1"] * 2 + ["depth 2"] * 9
    text = lines.operations_text([served, freed, met] + [served] * 8, labels, 4)
    eight = " ".join(["A280/113/2+1"] + ["A161/70/2"] * 7)
    assert text == f"0 depth 1: A161/70/2 F310/150\n2 depth 2: {eight}\n10 depth 2: A161/70/2\n"


def test_what_is_no_operation_is_named_with_its_line(sentences: Sentences) -> None:
    for text in (
        *("1: A1", "0: A1\n0: A1", "0: X1", "0: Anan", "0: A-1", "0: A12345678901", "0: (A1)*3", "garbage"),
    ):
        with sentences.raised(GateError):
            lines.operations_of(text, None)
