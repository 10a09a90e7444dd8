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


def test_each_part_stands_where_a_person_looks_for_it() -> None:
    text = toml_text.document(
        {"entry": [{"settings": {"basepri 0x50": 68}, "lines": "a b\nc\n"}], "functions": {"f": {"n": [1]}}}
    )
    assert text == (
        "\n[[entry]]\nlines = '''\na b\nc\n'''\n\n[entry.settings]\n\"basepri 0x50\" = 68\n"
        "\n[functions.f]\nn = [1]\n"
    )
