"""Words of the command line, understood or refused with a sentence."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tasks
from cli.options import OptionError, Options, parse


def test_nothing_given_chooses_nothing() -> None:
    assert parse() == Options()


@pytest.mark.parametrize(
    ("word", "samplerate_hz"), [("24000000", 24_000_000), ("24m", 24_000_000), ("500K", 500_000)]
)
def test_a_samplerate_may_carry_a_unit(word: str, samplerate_hz: int) -> None:
    assert parse(samplerate=word).samplerate_hz == samplerate_hz


def test_numbers_and_assignments_are_read() -> None:
    chosen = parse(seed="0x1f", duration="2.5", parameter=["depth=64", "name=a=b"], art="off,on")
    assert (chosen.seed, chosen.duration_s) == (31, 2.5)
    assert chosen.parameters == {"depth": "64", "name": "a=b"}
    assert chosen.art_states == (False, True)


def test_the_build_can_be_chosen() -> None:
    chosen = parse(locking="scheduler,basepri", knob=["TLSF_SLOTS=8", "tlsf_octaves=0xc"])
    assert chosen.lockings == ("scheduler", "basepri")
    assert chosen.knobs == {"TLSF_SLOTS": 8, "TLSF_OCTAVES": 12}
    assert parse(heap="86064").heap_bytes == parse(heap="0x15030").heap_bytes == 86_064


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
        {"parameter": ["depth"]},
        {"parameter": ["=64"]},
        {"locking": "mutex"},
        {"locking": "basepri,"},
        {"knob": ["TLSF_SLOTS"]},
        {"knob": ["TLSF_SLOTS=few"]},
        {"heap": "64k"},
        {"heap": "56"},
        {"heap": "86060"},
        {"heap": "-65536"},
        {"heap": "8388616"},
    ],
)
def test_what_is_not_understood_is_named(words: dict[str, Any]) -> None:
    (option,) = words
    with pytest.raises(OptionError, match=f"^--{option} .*give"):
        parse(**words)


def test_the_task_and_the_options_have_the_same_words_in_the_same_order() -> None:
    task = inspect.signature(tasks.scenario.body).parameters
    own = inspect.signature(parse).parameters
    assert [name for name in task if name in own] == list(own)
    assert [name for name in task if name not in own] == [
        *("_context", "name", "allocator", "summary", "full"),
    ]
    for name, parameter in own.items():
        if task[name].default is not inspect.Parameter.empty:
            assert parameter.default == task[name].default, name
