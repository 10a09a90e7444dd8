"""What hears of progress while something takes long."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str], None]
"""Hears a sentence about progress."""
