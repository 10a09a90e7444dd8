"""Words of the command line, understood or refused with a sentence."""

from __future__ import annotations

import pytest

from console.options import OptionError, Options, parse

NOTHING = {
    "board": "",
    "samplerate": "",
    "stimulus": "",
    "seed": "",
    "duration": "",
    "art": "on",
    "records": "uart",
    "parameters": [],
}


def understood(**words: object) -> Options:
    return parse(**{**NOTHING, **words})  # type: ignore[arg-type]


def test_nothing_given_chooses_nothing() -> None:
    assert understood() == Options()


@pytest.mark.parametrize(
    ("word", "samplerate_hz"), [("24000000", 24_000_000), ("24m", 24_000_000), ("500K", 500_000)]
)
def test_a_samplerate_may_carry_a_unit(word: str, samplerate_hz: int) -> None:
    assert understood(samplerate=word).samplerate_hz == samplerate_hz


def test_numbers_and_assignments_are_read() -> None:
    chosen = understood(seed="0x1f", duration="2.5", parameters=["depth=64", "name=a=b"], art="off,on")
    assert (chosen.seed, chosen.duration_s) == (31, 2.5)
    assert chosen.parameters == {"depth": "64", "name": "a=b"}
    assert chosen.art_states == (False, True)


def test_the_build_can_be_chosen() -> None:
    chosen = understood(locking="scheduler,basepri", knobs=["TLSF_SLOTS=8", "tlsf_octaves=0xc"])
    assert chosen.lockings == ("scheduler", "basepri")
    assert chosen.knobs == {"TLSF_SLOTS": 8, "TLSF_OCTAVES": 12}


@pytest.mark.parametrize(
    "words",
    [
        {"samplerate": "fast"},
        {"samplerate": "0"},
        {"samplerate": "24g"},
        {"seed": "x"},
        {"duration": "0"},
        {"duration": "nan"},
        {"duration": "inf"},
        {"art": "perhaps"},
        {"records": "smoke"},
        {"parameters": ["depth"]},
        {"parameters": ["=64"]},
        {"locking": "mutex"},
        {"locking": "basepri,"},
        {"knobs": ["TLSF_SLOTS"]},
        {"knobs": ["TLSF_SLOTS=few"]},
    ],
)
def test_what_is_not_understood_is_named(words: dict[str, object]) -> None:
    option = next(iter(words)).replace("parameters", "parameter").replace("knobs", "knob")
    with pytest.raises(OptionError, match=f"^--{option} .*give"):
        understood(**words)
