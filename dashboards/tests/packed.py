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
    texts = [packs[pack] for pack in ids.values()]
    return dict(zip(ids, (json.loads(text) for text in texts), strict=True))


def _unpack(text: str) -> str:
    return gzip.decompress(base64.b64decode(text)).decode()
