"""Times are read in one unit, and known whole where one asks."""

from __future__ import annotations

import pytest

from base.microseconds import digits, microseconds, signed
from dashboards.formatting import spoken


@pytest.mark.parametrize(
    ("ns", "read", "change"),
    [
        (33_952.38, "33.95", "+33.95"),
        (1_234_567.8, "1,234.57", "+1,234.57"),
        (11.9, "0.01", "+0.01"),
        # Two decimals would make nothing of these.
        (4.76, "0.005", "+0.005"),
        (-0.43, "-0.0004", "−0.0004"),
        (0.0, "0.00", "0.00"),
        (0.0006, "0.00", "+0.00"),
        (-881.2, "-0.88", "−0.88"),
    ],
)
def test_a_time_has_two_decimals_of_a_microsecond(ns: float, read: str, change: str) -> None:
    assert (digits(ns), signed(ns)) == (read, change)
    assert microseconds(ns) == f"{read} µs"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tlsf", "tlsf"),
        ("tlsf, primask, heap 4,096, nucleo-f072rb", "tlsf with primask, heap 4,096 and nucleo-f072rb"),
        ("mine, from outside, 1a2b3c4d, ART off", "mine 1a2b3c4d from outside with ART off"),
        ("tlsf, ART off, imported from x.csv (depth 8)", "tlsf with ART off, imported from x.csv (depth 8)"),
    ],
)
def test_a_run_is_named_with_its_settings(name: str, sentence: str) -> None:
    assert spoken(name) == sentence
