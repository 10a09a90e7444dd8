"""Kinds of value: what a word means, and the sentence for one that means nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from base.files.errors import TailscopeError
from cli.shell import values
from cli.shell.values import Value


@pytest.mark.parametrize(
    ("kind", "word", "value"),
    [
        (values.SAMPLERATE, "24m", 24_000_000),
        (values.SAMPLERATE, "500K", 500_000),
        (values.SEED, "0x1f", 31),
        (values.SECONDS, "500ms", 0.5),
        (values.SECONDS, "20us", 20e-6),
        (values.SECONDS, ".5s", 0.5),
        (values.SECONDS, "10µs", 10e-6),
        (values.SECONDS, "2 h", 7_200.0),
        (values.SECONDS, "90min", 5_400.0),
        (values.HEAP, "86064", 86_064),
        (values.HEAP, "0x15030", 86_064),
        *((values.HEAP, word, 32_768) for word in ("32k", "32K", "32KiB", "32 kib")),
        (values.HEAP, "1MiB", 1_048_576),
        (values.INSTANT, "100ms", "100ms"),
        (values.INSTANT, "1.5ms", "1500000ns"),
        (values.INSTANT, "10µs", "10000ns"),
        (values.INSTANT, "cycles:84000", "cycles:84000"),
        (values.SCALE, "auto", 0),
        (values.PARAMETER, "name=a=b", ("name", "a=b")),
        (values.KNOB, "tlsf_octaves=0xc", ("TLSF_OCTAVES", 12)),
        (values.ALLOCATORS, "tlsf,seglist", ["tlsf", "seglist"]),
        (values.Several("on", "off"), "off,on,off", ("off", "on")),
        (values.Pairs("CRIT=PA8"), "crit=PA8, ISR =PA10", {"crit": "PA8", "ISR": "PA10"}),
        (values.Pairs("CRIT=PA8"), "", {}),
        (values.RUN, "docs", Path("docs")),
    ],
)
def test_a_word_is_read(kind: Value, word: str, value: Any) -> None:
    assert kind.read(word, "--x") == (pytest.approx(value) if isinstance(value, float) else value)
    assert kind.convert(value, None, None) in (value, kind.convert(word, None, None))


@pytest.mark.parametrize(
    ("kind", "words", "said"),
    [
        (values.SAMPLERATE, ("fast", "0", "24g", ""), "give samples per second, such as"),
        (values.SEED, ("x", "", "1.5"), "give a whole number, decimal or 0x"),
        (values.WHOLE, ("0", "-1"), "give 1 or more"),
        (values.Whole(0, 15), ("16", "-1"), "give a whole number from 0 to 15"),
        (
            values.SECONDS,
            ("", "0", "2", "1.5", "0ms", "-1s", "2m", "s", "1e3", "nan", "9" * 400),
            "give a time, such as 2s or 500ms",
        ),
        (values.HEAP, ("56", "86060", "-65536", "8388616"), "give a multiple of 8"),
        (values.HEAP, ("64kB", "k", "1.5k"), "give a whole number"),
        (values.INSTANT, ("soon", "0", "5", "84000", "0ms", "-1"), "give a time such as 100ms"),
        (values.Number(), ("x", "0", "inf", "nan"), "give a number above 0"),
        (values.PARAMETER, ("depth", "=64"), "give NAME=VALUE, such as depth=64"),
        (values.KNOB, ("TLSF_SLOTS",), "give NAME=VALUE"),
        (values.Choice("uart", "rtt"), ("smoke",), "give uart or rtt"),
        (values.Several("basepri", "primask"), ("mutex", "basepri,"), "give basepri or primask, or several"),
        (values.Pairs("CRIT=PA8"), ("CRIT", "CRIT=", "=PA8", "CRIT=PA8,", ","), "give OURS=THEIRS, such as"),
        (values.Pairs("CRIT=PA8"), ("CRIT=PA8,CRIT=PA9",), "it names a channel twice"),
    ],
)
def test_what_is_not_understood_is_named(kind: Value, words: tuple[str, ...], said: str) -> None:
    option = click.Option(["-o", "--own"])
    for word in words:
        with pytest.raises(click.BadParameter) as refused:
            kind.convert(word, option, None)
        assert refused.value.message.startswith("--own ") and said in refused.value.message
        with pytest.raises(TailscopeError):
            kind.read(word, "--own")


def test_a_file_to_write_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    assert (
        values.OUTPUT.convert(str(tmp_path / "new" / "page.html"), None, None)
        == tmp_path / "new" / "page.html"
    )
    for path in (tmp_path, Path(__file__, "page.html")):
        with pytest.raises(click.BadParameter, match="name another file"):
            values.OUTPUT.convert(str(path), None, None)
