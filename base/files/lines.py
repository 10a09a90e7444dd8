"""On which line of a TOML or JSON document a key stands;
asked only when there is something to say of it.

Both functions expect a document that the library has already read. They leave strings, numbers and
dotted keys to the library and look only for where one thing ends and the next begins.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator

Place = tuple[str | int, ...]
"""The keys, and the indices in lists, that lead from a document's top to a value."""

LineOf = Callable[[str, Place], int | None]

# What can hide or hold a line's end, or divide a statement:
# strings, comments, brackets, = and line ends.
_TOML_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\n=\[\]{}]",
    re.DOTALL,
)
_DEEPER = {"[": 1, "{": 1, "]": -1, "}": -1}

JSON_CHARACTERS_MAX = 1 << 20
"""What people look into has fewer; a fault in a longer text is told without its line."""

_JSON_SPACE = re.compile(r"[ \t\r\n]*")
_JSON = json.JSONDecoder()


def toml_line(text: str, place: Place) -> int | None:
    """The line (from 1) of the statement that sets `place`,
    or of the first one for the table around it.

    None where not even the outermost key is there. An inline table and a list count as one
    statement, the one that they begin in.
    """
    line, nearest = None, 0
    for at, found in _toml_statements(text):
        shared = _shared(found, place)
        if shared > nearest:
            line, nearest = at, shared
        if shared == len(place):
            break
    return line


def _shared(found: Place, place: Place) -> int:
    """How many parts two places have in common from the top."""
    count = 0
    for one, other in zip(found, place, strict=False):
        if one != other:
            break
        count += 1
    return count


def _toml_statements(text: str) -> Iterator[tuple[int, Place]]:
    """The line and the full place of each header and each key, in the document's order."""
    table: Place = ()
    latest: dict[Place, int] = {}  # of each array of tables, the index of the element at hand
    for line, head in _toml_heads(text):
        keys = _toml_keys(head.strip("[]"))
        if head.startswith("[["):
            array = (*_below((), keys[:-1], latest), keys[-1])
            latest[array] = latest.get(array, -1) + 1
            table = (*array, latest[array])
            yield line, table
        elif head.startswith("["):
            table = _below((), keys, latest)
            yield line, table
        else:
            yield line, _below(table, keys, latest)


def _below(table: Place, keys: list[str], latest: dict[Place, int]) -> Place:
    for key in keys:
        table = (*table, key)
        if table in latest:
            table = (*table, latest[table])
    return table


def _toml_heads(text: str) -> Iterator[tuple[int, str]]:
    """The line of each statement and what identifies it: a
    header with its brackets, or all before the = .
    """
    line, begin, depth = 1, 0, 0
    end: int | None = None
    for token in _TOML_TOKEN.finditer(text + "\n"):
        depth += _DEEPER.get(token[0], 0)
        if depth:
            continue
        if token[0] == "\n":
            head = text[begin : token.start() if end is None else end].strip()
            if head:
                yield line, head
            line += text.count("\n", begin, token.end())
            begin, end = token.end(), None
        elif end is None and token[0][0] in "=#":
            end = token.start()


def _toml_keys(dotted: str) -> list[str]:
    """The parts of a dotted key, as the library unquotes them."""
    keys = []
    value: object = tomllib.loads(f"{dotted} = 0")
    while isinstance(value, dict):
        ((key, value),) = value.items()
        keys.append(key)
    return keys


def json_line(text: str, place: Place) -> int | None:
    """The line (from 1) of the key or list element at `place`, or of the innermost thing around it.

    Where a key stands twice, the last one counts, as for the library. None for a text of more than
    JSON_CHARACTERS_MAX: the search takes a second a megabyte for each part of the place.
    """
    if len(text) > JSON_CHARACTERS_MAX:
        return None
    start = value = _json_space(text, 0)
    for part in place:
        entries = [(at, content) for key, at, content in _json_entries(text, value) if key == part]
        if not entries:
            break
        start, value = entries[-1]
    return text.count("\n", 0, start) + 1


def _json_entries(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Key or index, where it begins, and where its value
    begins, of each entry of what begins at `at`.
    """
    opening = text[at]
    if opening not in "{[":
        return
    index = 0
    at = _json_space(text, at + 1)
    while text[at] not in "}]":
        begin = at
        key: str | int = index
        if opening == "{":
            key, at = _JSON.raw_decode(text, at)
            at = _json_space(text, _json_space(text, at) + 1)  # past the colon
        yield key, begin, at
        _, at = _JSON.raw_decode(text, at)
        at = _json_space(text, at)
        if text[at] == ",":
            at = _json_space(text, at + 1)
        index += 1


def _json_space(text: str, at: int) -> int:
    """The next place from `at` that is no white space."""
    match = _JSON_SPACE.match(text, at)
    return match.end() if match else at
