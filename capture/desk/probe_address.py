"""Which debug probe is meant. Nothing here loads pyOCD, which takes as long as a small run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TARGET_SCRIPT = Path(__file__).resolve().parents[2] / "pyocd_user.py"


@dataclass(frozen=True)
class ProbeAddress:
    """A probe by pyOCD's unique id (empty: the only one connected), and the target behind it."""

    unique_id: str
    target: str
