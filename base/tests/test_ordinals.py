from __future__ import annotations

import pytest

from base.ordinals import ordinal


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"),
        (21, "21st"), (31, "31st"), (42, "42nd"), (113, "113th"), (1_000, "1,000th"), (1_021, "1,021st"),
    ],
)  # fmt: skip
def test_ordinals(number: int, words: str) -> None:
    assert ordinal(number) == words
