"""Tables as TOML: what Python's own reader finds in them again."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from base.files import toml_text

# TOML has no text with half a pair, and no control characters but by an escape that JSON has too.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(st.booleans(), st.integers(-(2**62), 2**62), TEXTS, st.lists(TEXTS))


@given(st.dictionaries(TEXTS, VALUES))
def test_what_is_written_is_read_again(values: dict[str, object]) -> None:
    assert tomllib.loads(toml_text.pairs(values)) == values


def test_a_name_of_letters_stands_bare() -> None:
    assert toml_text.pairs({"primask": 101, "basepri 0x50": 68}) == 'primask = 101\n"basepri 0x50" = 68\n'
