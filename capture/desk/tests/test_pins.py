from dataclasses import replace

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import BoardResource, read_bench
from capture.desk.pins import check_pins, clips
from tests.sentences import Sentences

VIRTUAL, NUCLEO, DESK = (read_bench().board(name) for name in ("virtual", "nucleo", "desk"))


def test_pins_come_in_the_order_of_the_channels() -> None:
    assert list(check_pins({"SYNC": "PC13", "CRIT": "PB3"}, VIRTUAL).items()) == [
        ("CRIT", "PB3"),
        ("SYNC", "PC13"),
    ]
    assert check_pins({"CRIT": "PK15"}, NUCLEO) == {"CRIT": "PK15"}


@pytest.mark.parametrize(
    ("pins", "board"),
    [
        ({"CRT": "PA8"}, VIRTUAL),
        ({"CRIT": "PA16"}, NUCLEO),
        ({"CRIT": "PH2"}, DESK),
        ({"CRIT": "PA8", "ISR": "PA8"}, NUCLEO),
    ],
)
def test_what_cannot_be_is_one_sentence(
    pins: dict[str, str], board: BoardResource, sentences: Sentences
) -> None:
    with sentences.raised(CaptureError):
        check_pins(pins, board)


def test_inputs_are_clipped_by_the_boards_own_names() -> None:
    assert clips({"CRIT": "PB3", "SYNC": "PC13"}, VIRTUAL) == (
        "D0=PB3,D1=open,D2=open,D3=open,D4=open,D5=open,D6=open,D7=PC13"
    )
    other = replace(
        DESK, analyzer=DESK.analyzer.model_copy(update={"channels": {"CRIT": "D5", "CTRL": "D0"}})
    )
    assert clips({"CRIT": "PB3"}, other).startswith("D5=PB3,")
