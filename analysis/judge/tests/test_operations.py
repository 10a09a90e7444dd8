"""The text of the operations: folded, unfolded, and damaged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import GateError
from analysis.judge import operations as lines
from analysis.judge.operations import Operation
from base.run_folder.records import OPERATION_KINDS
from tests.sentences import Sentences

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
    text = lines.write(written, [label for _, label in labelled], beyond)
    assert lines.read(text, beyond) == written
    assert "'" not in text


def test_equal_operations_are_said_once() -> None:
    served = Operation("A", 161, 161, 70, 2, pulse=165)
    freed = Operation("F", 310, 310, 150, 0, pulse=314)
    met = Operation("A", 280, 280, 113, 2, hits=1, pulse=284)
    text = lines.write([served, freed] * 3 + [met, served], ["depth 1"] * 8, 4)
    assert text == "0 depth 1: (A161/70/2 F310/150)*3 A280/113/2+1 A161/70/2\n"


def test_what_is_no_operation_is_named_with_its_line(sentences: Sentences) -> None:
    for text in (
        *("1: A1", "0: A1\n0: A1", "0: X1", "0: Anan", "0: A-1", "0: A12345678901", "0: A9-8", "0: (A1"),
        *("0: (A1)*99999", "0: (A1)*0", "0: ()*3", "garbage", "0: (A1)*21840\n21840: A1"),
    ):
        with sentences.raised(GateError):
            lines.read(text, None)
