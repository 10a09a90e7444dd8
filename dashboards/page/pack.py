"""Text made small enough to send: gzip in base64. unpack.js is its other half."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

LEVEL = 9


def pack(text: str) -> str:
    """`text` in letters that no element of a page can be made of. Equal texts give equal ones."""
    return base64.b64encode(gzip.compress(text.encode(), LEVEL, mtime=0)).decode()


def pack_json(value: Any) -> str:
    """The same of plain values; NaN is an error."""
    return pack(json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False))
