"""Documents of JSON and TOML: read strictly, and asked for values of a type."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from tailscope._errors import Error
from tailscope._texts import printable, printable_values

__tracebackhide__ = True  # pytest shows the line of the test

Values = dict[str, Any]


class Part:
    """A table of a document. What is asked for has the type that the method names, or Error is
    raised, with where it stands and what to do.
    """

    def __init__(self, values: Mapping[str, Any], where: str, remedy: str, place: str = "") -> None:
        self.values = values
        self._where = where
        self._remedy = remedy
        self._place = place

    def text(self, key: str) -> str:
        found: str = self._of(key, "a text", lambda found: isinstance(found, str))
        return found

    def whole(self, key: str) -> int:
        found: int = self._of(key, "a whole number", _is_whole)
        return found

    def number(self, key: str) -> int | float:
        found: int | float = self._of(key, "a number", _is_number)
        return found

    def truth(self, key: str) -> bool:
        found: bool = self._of(key, "true or false", lambda found: isinstance(found, bool))
        return found

    def maybe_text(self, key: str) -> str | None:
        return None if self.values.get(key) is None else self.text(key)

    def maybe_whole(self, key: str) -> int | None:
        return None if self.values.get(key) is None else self.whole(key)

    def maybe_number(self, key: str) -> int | float | None:
        return None if self.values.get(key) is None else self.number(key)

    def part(self, key: str) -> Part:
        found = self._of(key, "a table", lambda found: isinstance(found, dict))
        return Part(found, self._where, self._remedy, self._named(key))

    def maybe_part(self, key: str) -> Part | None:
        return None if self.values.get(key) is None else self.part(key)

    def parts(self, key: str) -> list[Part]:
        """Those of a list of tables."""
        found = self._of(key, "a list of tables", _is_list_of(dict))
        return [
            Part(one, self._where, self._remedy, f"{self._named(key)}[{number}]")
            for number, one in enumerate(found)
        ]

    def texts(self, key: str) -> tuple[str, ...]:
        """Those of a list of texts."""
        return tuple(self._of(key, "a list of texts", _is_list_of(str)))

    def wrong(self, key: str, predicate: str) -> NoReturn:
        """Raises Error: the value under `key` is wrong."""
        raise Error(f"{self._where}: {self._named(key)} {predicate}; {self._remedy}.")

    def _of(self, key: str, expected: str, fits: Callable[[object], bool]) -> Any:
        found = self.values.get(key)
        if not fits(found):
            self.wrong(key, f"must be {expected}" if key in self.values else "is missing")
        return found

    def _named(self, key: str) -> str:
        return f"{self._place}.{printable(key)}" if self._place else printable(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)


def reasons_of(part: Part) -> tuple[str, ...]:
    """Sentences on why a measurement of a program is not all that the program does."""
    polls = part.maybe_text("polls")
    return (*part.texts("reasons"), *([polls] if polls else []))


def from_json(content: bytes | str, where: str, remedy: str) -> Part:
    """A document of JSON, its texts printable. Raises Error for anything but a table, for NaN,
    infinities, numbers that no double holds, and a key that stands twice.
    """
    try:
        values = json.loads(content, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else printable(str(error))[:200]
        raise Error(f"{where}: holds no JSON ({said}); {remedy}.") from None
    if not isinstance(values, dict):
        raise Error(f"{where}: must hold a table of keys and values; {remedy}.")
    return Part(printable_values(values), where, remedy)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)[:80]!r} stands twice")
    return table


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too great")
    return number


def _is_whole(found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool)


def _is_number(found: object) -> bool:
    if isinstance(found, float):
        return math.isfinite(found)
    return _is_whole(found) and abs(found) <= 1 << 64  # type: ignore[arg-type]


def _is_list_of(kind: type) -> Callable[[object], bool]:
    return lambda found: isinstance(found, list) and all(isinstance(one, kind) for one in found)
