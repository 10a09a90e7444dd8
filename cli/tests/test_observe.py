import pytest

from cli.observe import seconds
from cli.options import OptionError, pairs


@pytest.mark.parametrize(
    ("word", "expected"), [("2s", 2.0), ("500ms", 0.5), ("20us", 20e-6), ("1.5", 1.5), (".5s", 0.5)]
)
def test_a_duration_has_a_unit_or_is_in_seconds(word: str, expected: float) -> None:
    assert seconds(word) == pytest.approx(expected)


@pytest.mark.parametrize("word", ["", "0", "0ms", "-1s", "2m", "s", "1e3", "2 s", "nan", "9" * 400])
def test_what_is_no_duration_is_named(word: str) -> None:
    with pytest.raises(OptionError, match=r"^--duration .*: give a time, such as 2s or 500ms"):
        seconds(word)


def test_pairs_are_named_in_capitals_and_once() -> None:
    assert pairs("pins", "crit=PA8, ISR =PA10", "") == {"CRIT": "PA8", "ISR": "PA10"}
    assert pairs("pins", "", "") == {}
    for words in ("CRIT", "CRIT=", "=PA8", "CRIT=PA8,", ",", "CRIT=PA8,crit=PA9"):
        with pytest.raises(OptionError, match=r"^--pins "):
            pairs("pins", words, "CRIT=PA8")
