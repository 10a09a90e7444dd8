import configparser
import re
from fractions import Fraction

import pytest

from base.run_folder.edges import CHANNELS
from decoders import pulseview
from decoders.tests import sigrok
from firmware.build import boards


def read(text: str) -> configparser.ConfigParser:
    settings = configparser.ConfigParser(interpolation=None)
    settings.read_string(text)
    return settings


@pytest.mark.parametrize("number", range(2))
def test_each_signal_goes_to_the_channel_of_its_name(number: int) -> None:
    signal = read(pulseview.setup())[f"decode_signal{number}"]
    decoder = sigrok.loaded(signal[r"decoder0\id"]).Decoder
    declared = [channel["name"] for channel in (*decoder.channels, *decoder.optional_channels)]
    assigned = [signal[rf"channel{index}\assigned_signal_name"] for index in range(int(signal["channels"]))]
    assert assigned == declared and set(assigned) <= set(CHANNELS)


@pytest.mark.parametrize(
    ("time_s", "digits"),
    [
        (Fraction(12, 10**9), "1 20000000 0 0 0 0 -8"),
        (Fraction(1, 3), "33333333 33333333 33333333 33333333 33333333 0 -8"),
        (Fraction(12345678) + Fraction(1, 10**8), "12345678 1 0 0 0 0 0"),
    ],
    ids=str,
)
def test_a_time_is_written_as_groups_of_eight_digits_and_an_exponent(time_s: Fraction, digits: str) -> None:
    """cpp_dec_float of Boost: the first group, a point, the others, times ten to the exponent."""
    assert pulseview.timestamp(time_s) == f"22 serialization::archive 15 0 0 0 0 {digits} 0 0 6"


def test_what_is_marked_lies_between_the_cursors_and_in_the_middle_of_the_view() -> None:
    """A part from 1 to 3 s has half a second of margin: it is shown from 0.5 to 3.5 s."""
    settings = read(pulseview.setup(pulseview.Marked(Fraction(1), Fraction(3))))
    view, cursors = settings["view0"], settings["meta_obj0"]
    assert cursors["start_time"] == pulseview.timestamp(Fraction(1))
    assert cursors["end_time"] == pulseview.timestamp(Fraction(3))
    assert view["offset"] == pulseview.timestamp(Fraction(1, 2))
    assert float(view["scale"]) * 800 == pytest.approx(3)
    early = read(pulseview.setup(pulseview.Marked(Fraction(1, 10), Fraction(3))))
    assert early["view0"]["offset"] == pulseview.timestamp(Fraction(0))


def test_the_decoders_count_cycles_of_the_runs_core() -> None:
    """PulseView keeps an option as a GVariant: type x has 64 bits and a sign. The decoders' own
    clock is not told.
    """
    signal = read(pulseview.setup(core_hz=180_000_000))["decode_signal1"]
    assert (signal[r"decoder0\option0\name"], signal[r"decoder0\option0\type"]) == ("core_hz", "x")
    content = [int(byte, 16) for byte in re.findall(r"\\x([0-9a-f]{1,2})", signal[r"decoder0\option0\value"])]
    assert int.from_bytes(bytes(content), "little", signed=True) == 180_000_000
    assert "core_hz" not in pulseview.setup(core_hz=boards.default().core_hz)
