"""TOML and JSON from outside: read guardedly, checked against a model, complaints told with file
and key.

    bench.toml: boards.nucleo.analyzer.samplerate_hz must
    be a positive whole number, not 'fast'; mend it.

A model is a `Table`. What this module raises is always of the TailscopeError that the caller names,
and always one sentence; no content of a file ends in another exception.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from .complaints import WrongValueError, first_complaint, quoted, sentence, unknown_key
from .errors import TailscopeError, first_line
from .printable import printable_values
from .whole import read_bytes

TOML_BYTES_MAX = 256 << 10
"""Far above what a person writes."""
JSON_BYTES_MAX = 16 << 20
"""The largest run.json, of a sweep with a label for every operation, takes less."""

_MEND = "mend it"
# An escape that JSON allows alone, though only a pair is a character that can be written again.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class DocumentError(TailscopeError):
    """A file from outside that cannot be read, or says something it must not."""


class Table(BaseModel):
    """A table of a document: exact types, finite numbers, and no key that it does not declare.

    A field whose name is taken in Python ends in `_`, which its key does not.

    Another version is refused first, then an unknown key, since it is often the misspelling of a
    missing one.
    """

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        defer_build=True,
        alias_generator=lambda name: name.removesuffix("_"),
    )

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, values: object) -> object:
        if isinstance(values, dict) and cls.model_config.get("extra") == "forbid":
            fields = _fields_of(cls)
            schema, made = fields.get("schema"), values.get("schema")
            read = get_args(schema.annotation) if schema else ()
            if read and type(made) is int and made not in read:
                maker = values.get("made_by")
                maker = maker if isinstance(maker, str) else "another version of Tailscope"
                words = f"must be {read[0]}, not {quoted(made)}: {maker[:80]} wrote the file"
                raise WrongValueError(words, "schema")
            for key in values:
                if key not in fields:
                    raise unknown_key(key, fields)
        return values


@cache
def _fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields by the keys that documents have."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


Model = TypeVar("Model", bound=BaseModel)

# JSON has a list where this has a tuple. The list becomes a tuple, and its parts stay strict.
Texts = Annotated[tuple[str, ...], Field(strict=False)]


@dataclass(frozen=True)
class Document:
    """The values of a file, and how to say that one of them is wrong.

    `error` is what to raise, `remedy` what a sentence ends in where nothing better is known.
    """

    path: Path
    values: Any
    error: type[TailscopeError] = DocumentError
    remedy: str = _MEND

    def check(self, model: type[Model], *below: str) -> Model:
        """The values as `model`, or those of the table that `below` leads to. Raises `error`.

        A table that is not there counts as an empty one.
        """
        values = self.values
        for key in below:
            values = values.get(key, {})
        try:
            return model.model_validate(values)
        except ValidationError as error:
            complaint = first_complaint(error, values).under(below)
        raise self.wrong(complaint)

    def wrong(self, complaint: WrongValueError) -> TailscopeError:
        """The error to raise for a complaint that the caller
        found; its `place` leads there from the top.
        """
        return self.complain(sentence(complaint, self.remedy))

    def complain(self, words: str) -> TailscopeError:
        """The error that says `words`, a whole sentence, of this file."""
        return self.error(f"{_shown(self.path)}: {words}")

    @contextmanager
    def located(self) -> Iterator[None]:
        """What is raised as `error` within is raised again, led by the file."""
        try:
            yield
        except self.error as error:
            raise self.complain(str(error)) from None


def _json(text: str) -> object:
    values = json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_once)
    if _SURROGATE.search(text):
        try:
            json.dumps(values, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half a pair of surrogates is no character") from None
    plain = "\\" not in text and text.replace("\n", "").isprintable()  # soon found, of most files
    return values if plain else printable_values(values)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(twice)} stands twice")
    return table


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:40]} is greater than any number that is read")
    return value


def read_json(
    path: Path,
    model: type[Model],
    error: type[TailscopeError] = DocumentError,
    *,
    remedy: str = _MEND,
    most_bytes: int = JSON_BYTES_MAX,
) -> Model:
    """The JSON file at `path` as `model`. Raises `error`
    with one sentence that names file and key.

    NaN, Infinity, numbers too great for a float, halves of characters and a key that stands twice
    are refused. Texts come without control characters (printable.py).
    """
    return open_document(path, error, remedy=remedy, most_bytes=most_bytes).check(model)


def open_document(
    path: Path,
    error: type[TailscopeError] = DocumentError,
    *,
    remedy: str = _MEND,
    most_bytes: int = JSON_BYTES_MAX,
    parse: Callable[[str], object] = _json,
) -> Document:
    """The JSON file at `path`, or what else `parse` reads, not yet checked. Raises `error` where it
    cannot be read.
    """
    try:
        content = read_bytes(path, most_bytes)
        return Document(path, parse(content.decode("utf-8-sig")), error, remedy)
    except FileNotFoundError:
        why = "does not exist; check the path, or restore it"
    except OSError as refusal:
        why = f"cannot be read: {refusal.strerror}; {remedy}"
    except UnicodeDecodeError:
        why = "is not UTF-8 text; save it as UTF-8"
    except RecursionError:
        why = f"is nested too deeply; {remedy}"
    except ValueError as fault:  # also a path that no system can have, and a number that Python does not read
        language = "JSON" if parse is _json else "TOML"
        why = f"is not valid {language}: {first_line(fault).partition(';')[0]}; {remedy}"
    raise error(f"{_shown(path)}: the file {why}.")


open_toml = partial(open_document, most_bytes=TOML_BYTES_MAX, parse=tomllib.loads)
"""The TOML file at `path`, not yet checked. Raises `error` where it cannot be read."""


def is_there(path: Path, error: type[TailscopeError] = DocumentError) -> bool:
    """Whether anything lies at `path`. Raises `error` where the system does not tell."""
    try:
        return path.exists()
    except OSError as refusal:
        raise error(f"{str(path)[:80]} cannot be read: {refusal.strerror}.") from None


def _shown(path: Path) -> str:
    """The path as short as it can be followed from where the user stands."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
