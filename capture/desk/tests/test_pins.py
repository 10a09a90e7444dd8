from dataclasses import replace

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import BoardResource, read_bench
from capture.desk.pins import check_pins, clips

VIRTUAL, NUCLEO, DESK = (read_bench().board(name) for name in ("virtual", "nucleo", "desk"))


def test_pins_come_in_the_order_of_the_channels() -> None:
    assert list(check_pins({"SYNC": "PC13", "CRIT": "PB3"}, VIRTUAL).items()) == [
        ("CRIT", "PB3"),
        ("SYNC", "PC13"),
    ]
    assert check_pins({"CRIT": "PK15"}, NUCLEO) == {"CRIT": "PK15"}


@pytest.mark.parametrize(
    ("pins", "board", "words"),
    [
        ({}, VIRTUAL, "No pins are named: give --pins CRIT=PA8"),
        ({"CRT": "PA8"}, VIRTUAL, "There is no channel 'CRT'; .* Did you mean CRIT?"),
        ({"CRIT": "PA16"}, NUCLEO, "CRIT=PA16: that is no pin; write port and number"),
        ({"CRIT": "pa8"}, NUCLEO, "that is no pin"),
        ({"CRIT": "PA8,"}, NUCLEO, "that is no pin"),
        ({"CRIT": "PF3"}, VIRTUAL, "CRIT=PF3: the virtual board has no such pin; it has PA0 to PE15"),
        ({"CRIT": "PH2"}, DESK, "the virtual board has no such pin"),
        ({"CRIT": "PA8", "ISR": "PA8"}, NUCLEO, "CRIT and ISR cannot both be PA8: name a pin once"),
    ],
)
def test_what_cannot_be_is_one_sentence(pins: dict[str, str], board: BoardResource, words: str) -> None:
    with pytest.raises(CaptureError, match=words):
        check_pins(pins, board)


def test_inputs_are_clipped_by_the_boards_own_names() -> None:
    assert clips({"CRIT": "PB3", "SYNC": "PC13"}, VIRTUAL) == (
        "D0=PB3,D1=open,D2=open,D3=open,D4=open,D5=open,D6=open,D7=PC13"
    )
    other = replace(
        DESK, analyzer=DESK.analyzer.model_copy(update={"channels": {"CRIT": "D5", "CTRL": "D0"}})
    )
    assert clips({"CRIT": "PB3"}, other).startswith("D5=PB3,")
