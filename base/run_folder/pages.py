"""How much the Parquet file at a path unpacks to, by tailscope/_pages.py: somebody's project reads
run folders by the same rules.
"""

from __future__ import annotations

from pathlib import Path

from base.files.whole import open_regular
from tailscope import _pages
from tailscope._pages import MOST_PAGES, MOST_UNPACKED_BYTES, PagesError

__all__ = ["MOST_FILE_BYTES", "MOST_PAGES", "MOST_UNPACKED_BYTES", "PagesError", "check_extent"]

MOST_FILE_BYTES = 256 << 20


def check_extent(path: Path, most_rows: int) -> None:
    """Raises PagesError where the file is damaged, states
    more than `most_rows` rows, or unpacks to too much.

    Raises OSError where it cannot be read.
    """
    with open_regular(path, MOST_FILE_BYTES) as file:
        _pages.check_extent(file, most_rows)
