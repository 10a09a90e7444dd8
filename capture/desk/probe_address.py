"""Which debug probe is meant. Nothing here loads pyOCD, which takes as long as a small run."""

from __future__ import annotations

from dataclasses import dataclass

from base.paths import ROOT

TARGET_SCRIPT = ROOT / "pyocd_user.py"


@dataclass(frozen=True)
class ProbeAddress:
    """A probe by pyOCD's unique id (empty: the only one connected), and the target behind it."""

    unique_id: str
    target: str
