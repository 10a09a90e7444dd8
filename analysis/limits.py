"""What is common to limits: the units of a value, and the words that `--limit` is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from analysis.errors import GateError

NS: Mapping[str, float] = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6}
"""How many ns a unit of time has."""
MOST_SHOWN = 80
"""Letters of a word that an error repeats."""


def by_name(
    words: Sequence[str], check: Callable[[str, str], object], what: str, example: str
) -> dict[str, str]:
    """The words, such as `allocate=10us`, by what they limit; the limit as it was given.

    `check` takes both parts, and raises GateError for what is no limit. `what` says in an error
    what stands before the sign, `example` how a word looks. Raises GateError.
    """
    found: dict[str, str] = {}
    for word in words:
        name, separator, text = word.rpartition("=")
        if not separator or not name:
            raise GateError(f"--limit {word[:MOST_SHOWN]}: give {what} and its limit, such as {example}.")
        check(name, text)
        if found.setdefault(name, text) != text:
            raise GateError(f"--limit {name[:MOST_SHOWN]} is given twice, as {found[name]} and as {text}.")
    return found
