"""What a page holds packed, as text, for tests to look at."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

_PACKED = re.compile(r'<script type="text/plain" id="([^"]+)">([^<]*)</script>')


def without_packed(page: str) -> str:
    """The page less all that is packed, the plotting library among it."""
    return _PACKED.sub("", page)


def unpacked(page: str) -> dict[str, str]:
    """By id, all that is packed but the plotting library."""
    return {name: _unpack(text) for name, text in _PACKED.findall(page) if name != "plotly"}


def all_text(page: str) -> str:
    """The page and all that is packed in it."""
    return "\n".join([without_packed(page), *unpacked(page).values()])


def runs_of(page: str) -> dict[str, dict[str, Any]]:
    """By run id, what the report keeps of a run's samples."""
    packs = unpacked(page)
    (data,) = re.findall(r'<script type="application/json" id="data">([^<]*)</script>', page)
    ids = json.loads(data)["runs"]
    return {run: _rows(json.loads(packs[pack]))[run] for run, pack in ids.items()}


def _rows(value: Any) -> Any:
    """What dashboards/page/templates.py made columns of."""
    if isinstance(value, list):
        return [*map(_rows, value)]
    if not isinstance(value, dict):
        return value
    if not isinstance(value.get("columns"), dict):
        return {name: _rows(part) for name, part in value.items()}
    columns = {name: _rows(part) for name, part in value["columns"].items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows if value["keys"] is None else dict(zip(value["keys"], rows, strict=True))


def _unpack(text: str) -> str:
    return gzip.decompress(base64.b64decode(text)).decode()
