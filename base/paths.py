"""Where the bench keeps what it makes. Paths of a room's own sources stay in that room."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
DASHBOARD = BUILD / "dashboard.html"
RUNS = ROOT / "runs"
