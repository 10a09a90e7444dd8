"""What follows from some bytes alone and takes long to compute, kept for later processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..paths import BUILD
from .whole import WriteError, write_bytes

FOLDER = BUILD / "remembered"
MOST = 64
"""Results of a kind; the oldest make room."""


def remembered(
    kind: str, of: Iterable[bytes], code: Iterable[Path], compute: Callable[[], Any], folder: Path = FOLDER
) -> Any:
    """What `compute` returns, as JSON has it: read, where it was computed `of` the same bytes
    before, by the same files of `code` and tables. Raises what `compute` does.
    """
    parts = [*of, *(path.read_bytes() for path in sorted(code))]
    digest = sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()
    file = folder / kind / f"{digest}.json"
    with suppress(OSError, ValueError):
        return json.loads(file.read_bytes())
    text = json.dumps(compute())
    with suppress(OSError, WriteError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, text.encode())
        paths = sorted(file.parent.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        for oldest in paths[:-MOST]:
            oldest.unlink(missing_ok=True)
    return json.loads(text)
