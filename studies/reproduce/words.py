"""Figures as the page prints them."""

from __future__ import annotations

from collections.abc import Iterable

from studies.reproduce.beside import Pair
from studies.reproduce.published import Compared
from studies.reproduce.remade import Found

DOUBTFUL = "†"
MISSING = "–"
BYTES = "bytes"
"""Of these the difference is told, not the share: images are not one another's multiples."""


def figure(value: float | None, unit: str) -> str:
    """A share with two decimals; all else grouped, with one decimal where it is no whole number."""
    if value is None:
        return MISSING
    form = ",.2f" if unit == "%" else ",.0f" if float(value).is_integer() else ",.1f"
    return f"{value:{form}}".replace("-", "−")


def signed(value: float, form: str) -> str:
    """With its sign, a typographic minus."""
    return f"{value:+{form}}".replace("-", "−")


def printed(pair: Pair) -> str:
    """What the publication prints: nothing where it has no such figure."""
    if pair.printed is None or pair.printed == _NONE_PRINTED:
        return ""
    if isinstance(pair.printed, str):
        return pair.printed
    return figure(pair.printed, pair.unit) + (f" {DOUBTFUL}" if pair.doubtful else "")


_NONE_PRINTED = "-"


def found(pair: Pair, compared: Compared) -> str:
    """What came out: the range of several seeds, or how far it is from what is published."""
    if pair.found is None:
        return MISSING
    value = ranged(pair.found, pair.unit)
    if pair.difference is None or compared not in ("exactly", "as difference"):
        return value
    if pair.difference == 0:
        return f"{value} (=)"
    if compared == "exactly" or pair.unit == BYTES or pair.deviation_percent is None:
        return f"{value} ({signed(pair.difference, ',.4g' if pair.unit != BYTES else ',.0f')})"
    return f"{value} ({signed(pair.deviation_percent, '.1f')} %)"


def ranged(made: Found, unit: str) -> str:
    """The value, and of several seeds the range behind it."""
    middle = figure(made.value, unit)
    if made.least is None or made.constant:
        return middle
    return f"{middle} ({figure(made.least, unit)}–{figure(made.most, unit)})"


def counts(pairs: Iterable[Pair]) -> str:
    """The numbers of samples behind the figures of a row."""
    numbers = [pair.found.n for pair in pairs if pair.found]
    return ", ".join(f"{number:,}" for number in (numbers if len(set(numbers)) > 1 else numbers[:1]))


def listed(words: Iterable[str], most: int) -> str:
    """As many as `most`, and how many more."""
    all_of_them = list(words)
    more = len(all_of_them) - most
    return "; ".join(all_of_them[:most]) + (f"; and {more} more" if more > 0 else "")
