"""Documents of TOML as text, for files that a command writes and a person reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL = re.compile(r"[^'\x00-\x09\x0b-\x1f\x7f]*\n")


def document(values: Mapping[str, object], within: str = "") -> str:
    """The text of a table: its values, then its tables and lists of tables, below their headings.

    A text of several lines stands as it is, where TOML's literal strings can hold it.
    """
    tables = {name: value for name, value in values.items() if _is_table(value)}
    text = "".join(f"{_key(name)} = {_value(values[name])}\n" for name in values if name not in tables)
    for name, value in tables.items():
        path = f"{within}{_key(name)}"
        for table in value if isinstance(value, list) else ():
            text += f"\n[[{path}]]\n{document(table, f'{path}.')}"
        if isinstance(value, Mapping):
            # A heading of nothing but tables below it says nothing.
            heading = "" if value and all(map(_is_table, value.values())) else f"\n[{path}]\n"
            text += heading + document(value, f"{path}.")
    return text


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if not isinstance(value, str):
        return repr(value)
    return f"'''\n{value}'''" if _LITERAL.fullmatch(value) else _text(value)


def _text(value: str) -> str:
    """A basic string; JSON escapes what TOML does, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
