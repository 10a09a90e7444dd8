"""Documents of TOML: what Python's own reader finds in them again."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from base.files import toml_text

# TOML has no text with half a pair, and no control characters but by an escape that JSON has too.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(st.booleans(), st.integers(-(2**62), 2**62), TEXTS, st.lists(TEXTS))


TABLES = st.recursive(
    st.dictionaries(TEXTS, VALUES),
    lambda inner: st.dictionaries(TEXTS, st.one_of(VALUES, inner, st.lists(inner, min_size=1))),
    max_leaves=6,
)


@given(TABLES)
def test_what_is_written_is_read_again(values: dict[str, object]) -> None:
    assert tomllib.loads(toml_text.document(values)) == values
