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
    texts = (text for name, text in unpacked(page).items() if name.endswith("-samples"))
    return {name: run for text in texts for name, run in json.loads(text).items()}


def _unpack(text: str) -> str:
    return gzip.decompress(base64.b85decode(text.translate(str.maketrans(":.,", "&<>")))).decode()
