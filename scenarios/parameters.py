"""Parameters of a generator, from TOML or from the command line: whole numbers within limits, names
from a list, and names of files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, TypeAlias, TypeVar

from pydantic import AfterValidator, ValidationError, create_model

from base import heap_size
from base.files.complaints import WrongValueError, among, first_complaint, sentence
from base.files.documents import Table
from scenarios.errors import ScenarioError, quoted, unknown


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Parameters = TypeVar("Parameters", bound=_Dataclass)
Value: TypeAlias = int | str


def whole(low: int, high: int) -> Any:
    """Declares a field: a whole number from `low` to `high`, both included."""

    def check(value: int) -> int:
        if not low <= value <= high:
            raise WrongValueError(f"must be from {low} to {high}, not {quoted(value)}")
        return value

    return field(metadata={"type": Annotated[int, AfterValidator(check)]})


def choice(*names: str) -> Any:
    """Declares a field: one of these names."""
    return field(metadata={"type": Annotated[str, among(names)]})


def _check_path(value: str) -> str:
    if not value or "\0" in value:
        raise WrongValueError("must be the path of a file")
    return value


_PATH = Annotated[str, AfterValidator(_check_path)]


def file_name() -> Any:
    """Declares a field: the path of a file. In TOML it is relative to the TOML's folder."""
    return field(metadata={"type": _PATH})


def _is_file(declared: Field[Any]) -> bool:
    return declared.metadata["type"] is _PATH


def located(generator: type[_Dataclass], given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """`given`, with the names of files led on from `folder`."""
    return {
        f.name: _from_here(folder / given[f.name]) if _is_file(f) else given[f.name]
        for f in fields(generator)
    }


def _from_here(path: Path) -> str:
    """The path as short as it can be followed from where the user stands."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else path)


@cache
def model(generator: type[_Dataclass]) -> type[Table]:
    """What [parameters] must hold in a scenario's file: all of `generator`'s fields, in limits."""
    declared: dict[str, Any] = {f.name: f.metadata["type"] for f in fields(generator)}
    return create_model(generator.__name__, __base__=Table, **declared)


def bind(
    generator: type[Parameters], defaults: Mapping[str, object], overrides: Mapping[str, object]
) -> Parameters:
    """The generator with every field set from `overrides`, or else from `defaults`.

    `overrides` holds values or their text. Raises ScenarioError for a name that the generator does
    not have, for a value that is not allowed, and for a parameter that neither gives.
    """
    declared = {f.name: f for f in fields(generator)}
    for name in overrides:
        if name not in declared:
            raise unknown("parameter", name, declared)
    numbers = {n: value if _is_file(declared[n]) else _number(n, value) for n, value in overrides.items()}
    given = {**defaults, **numbers}
    try:
        return generator(**model(generator).model_validate(given).model_dump())
    except ValidationError as error:
        raise ScenarioError(sentence(first_complaint(error, given))) from None


def _number(name: str, value: object) -> object:
    """The number of a text, such as 0x1234abcd or 1_200, of bytes 2k or 2KiB, too; anything else
    stays as it is.
    """
    if not isinstance(value, str):
        return value
    size = heap_size.bytes_of(value) if name.endswith("_bytes") else None
    try:
        return int(value, 0) if size is None else size
    except ValueError:
        return value
