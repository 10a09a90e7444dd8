"""Reading the files of the virtual Nucleo: whole, still growing, and damaged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from simulator.build import SimulatorError
from simulator.outputs import State, read_edges, read_windows, words

HEAD = b"window,start_cycle,end_cycle,looks\n"


def test_edges_are_named_by_channel_and_other_pins_left_out(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("cycle,pin,level\n7,PA8,1\n7,PA5,1\n9,PB10,1\n12,PA8,0\n")
    edges = read_edges(tmp_path / "edges.csv")
    assert edges.rows() == [(7, "CRIT", True), (9, "TASK", True), (12, "CRIT", False)]
    assert list(words(edges)) == [(7, 0b1), (9, 0b10001), (12, 0b10000)]
    assert list(words(edges, before=0b10000010))[-1] == (12, 0b10010010)


def test_without_edges_there_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("cycle,pin,level\n")
    assert read_edges(tmp_path / "edges.csv").is_empty()


def test_windows_are_numbers() -> None:
    table = read_windows(HEAD + b"0,10,20,3\n1,30,45,0\n")
    assert table.columns == ["window", "start_cycle", "end_cycle", "looks"]
    assert table.rows() == [(0, 10, 20, 3), (1, 30, 45, 0)]
    assert read_windows(HEAD).rows() == []


def test_a_row_that_is_being_written_is_left_out() -> None:
    assert read_windows(HEAD + b"0,10,20,3\n1,30,4").rows() == [(0, 10, 20, 3)]


@pytest.mark.parametrize(
    "damaged",
    [
        *(b"", b"\n", b"window\n", b"\xff\n", HEAD[:-1], HEAD + b"0,10\n", HEAD + b"0,10,,3\n"),
        *(HEAD + b"0,10,x,3\n", HEAD + b"0,10,20,3,4\n", b"a,b,c,d\n0,10,20,3\n", HEAD + b"0,10,20.5,3\n"),
    ],
)
def test_what_is_no_table_is_refused(damaged: bytes) -> None:
    with pytest.raises(SimulatorError, match="no table"):
        read_windows(damaged)


def test_a_state_gives_the_words_of_its_memory_and_no_others() -> None:
    state = State(0, Fraction(0), Fraction(1), 0, {}, [], 0x2000_0000, bytes(range(8)))
    assert state.word(0x2000_0000) == 0x0302_0100
    assert state.word(0x2000_0004) == 0x0706_0504
    assert state.word(0x2000_0005) is None
    assert state.word(0x1FFF_FFFC) is None
