"""Guarded reading of JSON that came from a file: whatever is wrong is named with its file and key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capture.files.errors import TailscopeError


class RunError(TailscopeError):
    """A run folder cannot be shown. The message is one sentence: what is wrong and what to do."""


class Fields:
    """Typed access to one JSON object that names the file and key of whatever is wrong."""

    def __init__(self, values: Mapping[str, Any], path: Path, prefix: str = "") -> None:
        self._values = values
        self._path = path
        self._prefix = prefix

    def wrong(self, key: str, complaint: str) -> RunError:
        return RunError(
            f"{self._path}: {self._prefix}{key} {complaint}; restore the file or decode the run again."
        )

    def text(self, key: str) -> str:
        value = self._get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "is not a string")
        return value

    def whole(self, key: str) -> int:
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(key, "is not a whole number from zero up")
        return value

    def optional_number(self, key: str) -> float | None:
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise self.wrong(key, "is not a number")
        return value

    def number_if_there(self, key: str) -> float | None:
        return self.optional_number(key) if key in self._values else None

    def section_if_there(self, key: str) -> Fields | None:
        return self.section(key) if key in self._values else None

    def optional_text(self, key: str) -> str | None:
        return None if self._get(key) is None else self.text(key)

    def ends(self, key: str) -> tuple[float, float] | None:
        """The two numbers of an interval, or None."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2:
            raise self.wrong(key, "is not an interval of two numbers")
        low, high = (Fields({key: end}, self._path, self._prefix).optional_number(key) for end in value)
        if low is None or high is None:
            raise self.wrong(key, "is not an interval of two numbers")
        return low, high

    def sentences(self, key: str) -> tuple[str, ...]:
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "is not a list of strings")
        return tuple(value)

    def section(self, key: str) -> Fields | None:
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(key, "is not an object")
        return Fields(value, self._path, f"{self._prefix}{key}.")

    def _get(self, key: str) -> Any:
        if key not in self._values:
            raise self.wrong(key, "is missing")
        return self._values[key]
