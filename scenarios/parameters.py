"""Parameters of a generator: whole numbers within declared limits, from TOML or from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, field, fields
from typing import Any, ClassVar, Protocol, TypeVar

from scenarios.errors import ScenarioError, quoted, unknown


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Parameters = TypeVar("Parameters", bound=_Dataclass)


def whole(low: int, high: int) -> int:
    """Declares a field: a whole number from `low` to `high`, both included."""
    declared: int = field(metadata={"low": low, "high": high})
    return declared


def bind(
    generator: type[Parameters], defaults: Mapping[str, object], overrides: Mapping[str, object]
) -> Parameters:
    """The generator with every field set: from `overrides`, else from `defaults`.

    Raises ScenarioError for a name it does not have, a value that is no whole number or outside its limits,
    and a parameter that neither gives.
    """
    declared = {f.name: f for f in fields(generator)}
    for name in (*defaults, *overrides):
        if name not in declared:
            raise unknown("parameter", name, declared)
    given = {**defaults, **overrides}
    if missing := [name for name in declared if name not in given]:
        raise ScenarioError(
            f"The scenario gives no value for {', '.join(missing)}; add it under [parameters]."
        )
    return generator(**{name: _within(f, _whole(name, given[name])) for name, f in declared.items()})


def _whole(name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value, 0)  # also 0x1234abcd and 1_200
        except ValueError:
            pass
    raise ScenarioError(f"{name} must be a whole number, not {quoted(value)}.")


def _within(declared: Field[Any], value: int) -> int:
    low, high = declared.metadata["low"], declared.metadata["high"]
    if not low <= value <= high:
        raise ScenarioError(f"{declared.name} must be from {low} to {high}, not {quoted(value)}.")
    return value
