"""Sentences of errors, as a test expects them."""

from __future__ import annotations

import re


def is_sentence(said: str, expected: str) -> bool:
    """True if `said` is `expected`, in which each * stands for any words.

    So a test can leave out words that another case has in full.
    """
    return re.fullmatch(".*".join(map(re.escape, expected.split("*"))), said) is not None
