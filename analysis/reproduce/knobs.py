"""Numbers that are set by name, in an order that says nothing."""

from __future__ import annotations

from typing import TypeAlias

Settings: TypeAlias = tuple[tuple[str, int], ...]
"""Names and values, sorted by name."""


def settings(**values: int) -> Settings:
    """Names and values."""
    return tuple(sorted(values.items()))


def words(chosen: Settings) -> str:
    """`, NAME=VALUE` for each."""
    return "".join(f", {name}={value}" for name, value in chosen)
