"""How much a Parquet file unpacks to, told from its headers before anything is unpacked.

A megabyte of Parquet can state billions of rows, or pages that unpack to gigabytes, and its footer
can state less than its pages do. So the header of every page is read: what it states is what a
reader makes room for. The format is that of https://parquet.apache.org/docs/file-format, its
headers are written in Thrift's compact protocol. polars tells of no page.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..files.whole import open_regular

MOST_FILE_BYTES = 256 << 20

MOST_UNPACKED_BYTES = 512 << 20
"""The largest table of a run takes less: 50 bytes for each
stimulus of a capture with the most edges.
"""
MOST_PAGES = 10_000

_MAGIC = b"PAR1"
_END = struct.Struct("<I4s")
_FOOTER_MOST_BYTES = 1 << 20
_PAGE_HEADER_MOST_BYTES = 4 << 10
_DEEPEST = 16

# Field numbers of parquet.thrift.
_ROW_GROUPS = 4
_GROUP_COLUMNS, _GROUP_ROWS = 1, 3
_COLUMN_METADATA = 3
_PACKED_BYTES, _DATA_OFFSET, _DICTIONARY_OFFSET = 7, 9, 11
_PAGE_UNPACKED_BYTES, _PAGE_PACKED_BYTES = 2, 3
_DICTIONARY_PAGE = 7
# Of each kind of data page: the field of its own header, and there the field of its encoding.
_DATA_PAGES = {5: 2, 8: 4}
_VALUES = 1
# A value can repeat the begin of the one before it, so that few bytes become any number.
_DELTA_BYTE_ARRAY = 7


class PagesError(ValueError):
    """What is wrong with a Parquet file, or too much of it: a predicate without its file."""


class _Page(NamedTuple):
    """The sizes that one page states. A dictionary has no `rows`."""

    rows: int
    unpacked_bytes: int


def check_extent(path: Path, most_rows: int) -> None:
    """Raises PagesError where the file is damaged, states more than `most_rows` rows, or unpacks to
    too much; OSError where it cannot be read.
    """
    with open_regular(path, MOST_FILE_BYTES) as file:
        try:
            _check_groups(file, _listed(_footer(file).get(_ROW_GROUPS)), most_rows)
        except (IndexError, struct.error):
            raise PagesError("a header is cut off") from None


def _check_groups(file: BinaryIO, groups: list[Any], most_rows: int) -> None:
    rows = sum(_number(group, _GROUP_ROWS) for group in groups)
    if rows > most_rows:
        raise PagesError(f"it states {rows} rows, more than the {most_rows} that are accepted")
    pages = unpacked_bytes = 0
    for group in groups:
        for column in _listed(_fields(group).get(_GROUP_COLUMNS)):
            page_rows = 0
            for page in _pages(file, _fields(_fields(column).get(_COLUMN_METADATA))):
                page_rows += page.rows
                pages += 1
                unpacked_bytes += page.unpacked_bytes
                if pages > MOST_PAGES or unpacked_bytes > MOST_UNPACKED_BYTES:
                    raise PagesError(
                        f"it unpacks to more than {MOST_UNPACKED_BYTES:,} bytes or {MOST_PAGES:,} pages"
                    )
            if page_rows != _number(group, _GROUP_ROWS):
                raise PagesError("its pages have other numbers of rows than its footer says")


def _footer(file: BinaryIO) -> dict[int, Any]:
    size = file.seek(0, 2)
    if size < 2 * _END.size:
        raise PagesError("it is too short")
    file.seek(-_END.size, 2)
    length, magic = _END.unpack(file.read(_END.size))
    if magic != _MAGIC:
        raise PagesError("it does not end as Parquet does")
    if length > min(_FOOTER_MOST_BYTES, size - _END.size):
        raise PagesError("its footer is too long")
    file.seek(-_END.size - length, 2)
    return _Thrift(file.read(length)).fields()


def _pages(file: BinaryIO, column: dict[int, Any]) -> Iterator[_Page]:
    """The pages of a column chunk, where polars looks for them."""
    at = _number(column, _DICTIONARY_OFFSET, 0) or _number(column, _DATA_OFFSET)
    end = at + _number(column, _PACKED_BYTES)
    while at < end:
        file.seek(at)
        header = _Thrift(file.read(_PAGE_HEADER_MOST_BYTES))
        fields = header.fields()
        yield _page(fields)
        at += header.at + _number(fields, _PAGE_PACKED_BYTES)


def _page(fields: dict[int, Any]) -> _Page:
    unpacked_bytes = _number(fields, _PAGE_UNPACKED_BYTES)
    if _DICTIONARY_PAGE in fields:
        if _number(fields[_DICTIONARY_PAGE], _VALUES) > unpacked_bytes:
            raise PagesError("a dictionary has more values than bytes")
        return _Page(0, unpacked_bytes)
    for kind, encoding in _DATA_PAGES.items():
        if kind in fields:
            if _number(fields[kind], encoding) == _DELTA_BYTE_ARRAY:
                raise PagesError("it has texts in an encoding that the bench does not write")
            return _Page(_number(fields[kind], _VALUES), unpacked_bytes)
    raise PagesError("it has a page of a kind that the bench does not write")


def _number(fields: object, field: int, otherwise: int | None = None) -> int:
    value = _fields(fields).get(field, otherwise)
    if not isinstance(value, int) or value < 0:
        raise PagesError(f"field {field} of a header is {'missing' if value is None else 'impossible'}")
    return value


def _fields(value: object) -> dict[int, Any]:
    if not isinstance(value, dict):
        raise PagesError("a header lacks a part")
    return value


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise PagesError("its footer has no row groups or columns")
    return value


class _Thrift:
    """Reads one structure of Thrift's compact protocol:
    numbers, lists and structures by field number.

    Raises IndexError where `data` ends within it. `at` is how far it was read.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def fields(self, depth: int = 0) -> dict[int, Any]:
        """The fields of the structure that begins here."""
        by_number: dict[int, Any] = {}
        number = 0
        while byte := self._byte():
            step = byte >> 4
            number = number + step if step else self._zigzag()
            by_number[number] = self._value(byte & 15, depth, of_field=True)
        return by_number

    def _value(self, kind: int, depth: int, *, of_field: bool) -> object:
        if depth > _DEEPEST:
            raise PagesError("a header is nested too deeply")
        match kind:
            case 1 | 2:  # a truth has its value in a field's kind, and a byte of its own in a list
                return kind == 1 if of_field else self._byte() == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._zigzag()
            case 7 | 8:  # nobody asks for a fraction or a text
                length = 8 if kind == 7 else self._varint()
                self.at += length
                return None
            case 9 | 10:
                return self._list(depth)
            case 12:
                return self.fields(depth + 1)
        raise PagesError(f"a header has a value of the unknown kind {kind}")

    def _list(self, depth: int) -> list[object]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        if count > len(self._data) - self.at:
            raise IndexError
        return [self._value(head & 15, depth + 1, of_field=False) for _ in range(count)]

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise PagesError("a number of a header is too long")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
