"""Where the bench keeps what it makes. Paths of a room's own sources stay in that room.

In a checkout all of it lies in the checkout. An installed program writes nothing beside its code:
runs go to the folder that it is called in, and what may be made again to the user's cache.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The rooms' folder: the checkout, or a private folder of the installed package."""

_VERSION = ROOT / "VERSION"
INSTALLED = _VERSION.is_file()
"""Whether this is an installed package (`./lab dev package` writes VERSION), and no checkout."""
_WORDS = _VERSION.read_text(encoding="utf-8").split() if INSTALLED else []
REVISION = "".join(_WORDS[2:])
"""Of an installed package git's revision of its checkout; "" where nobody knows."""


def _of_user(variable: str, usual: str) -> Path:
    """The folder of this program below one of the XDG base directories (specification 0.8). A user
    without a home has / for one, as container engines say it.
    """
    named = os.environ.get(variable, "")
    if not Path(named).is_absolute():
        home = os.path.expanduser("~")  # noqa: PTH111  # Path.home() raises where there is none
        named = str(Path(home if Path(home).is_absolute() else "/") / usual)
    return Path(named) / "tailscope"


_CACHE = os.environ.get("TAILSCOPE_CACHE", "")
CACHE = Path(_CACHE) if Path(_CACHE).is_absolute() else _of_user("XDG_CACHE_HOME", ".cache")
"""What any checkout or installed package of the user may take."""

if INSTALLED:
    # By version and content: of two packages none takes what the other has made.
    BUILD = CACHE / "-".join(_WORDS[:2])
    RUNS = Path("runs")
    DASHBOARD = RUNS / "dashboard.html"
    _MAY_BE_THERE = (Path("bench.toml"), _of_user("XDG_CONFIG_HOME", ".config") / "bench.toml")
    BENCH = next((path for path in _MAY_BE_THERE if path.is_file()), ROOT / "bench.toml")
else:
    BUILD = ROOT / "build"
    RUNS = ROOT / "runs"
    DASHBOARD = BUILD / "dashboard.html"
    BENCH = ROOT / "bench.toml"

COMPILED = BUILD
"""Where what is compiled lies, and what is worth keeping of it: the same for all who build here."""
