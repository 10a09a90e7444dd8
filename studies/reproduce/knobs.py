"""What is set by name: parameters of scenarios and knobs of builds, their order without meaning."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

Value = TypeVar("Value", int, str)

Settings: TypeAlias = tuple[tuple[str, int], ...]
"""Names and numbers, sorted by name."""

Parameters: TypeAlias = tuple[tuple[str, int | str], ...]
"""Names and values of a scenario, sorted by name."""


def settings(**values: Value) -> tuple[tuple[str, Value], ...]:
    """Names and values."""
    return tuple(sorted(values.items()))


def words(chosen: Parameters) -> str:
    """`, NAME=VALUE` for each."""
    return "".join(f", {name}={value}" for name, value in chosen)
