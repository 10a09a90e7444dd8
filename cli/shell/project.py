"""What pyproject.toml says of the project itself: the one home of name, version, dependencies."""

from __future__ import annotations

import tomllib
from typing import Any

from base.paths import ROOT


def project() -> dict[str, Any]:
    """Its table [project], which an installed package has too."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table
