"""Tables of TOML as text, for files that a command writes and a person reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def pairs(values: Mapping[str, object]) -> str:
    """A line `key = value` for each: texts, numbers, truth values, and lists of them."""
    return "".join(f"{key(name)} = {_value(value)}\n" for name, value in values.items())


def key(name: str) -> str:
    """The name as a key, in quotation marks where it needs them."""
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    """A basic string; JSON escapes what TOML does, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
