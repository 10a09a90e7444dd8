from __future__ import annotations

from base.ordinals import ordinal
from tests.tables import table


@table
def test_ordinals(number: int, words: str) -> None:
    assert ordinal(number) == words
