"""What pyproject.toml says of the project itself, and which version of it this is."""

from __future__ import annotations

import subprocess
import tomllib
from typing import Any

from base.paths import INSTALLED, REVISION, ROOT

_REVISION_WITHIN_S = 5.0


def project() -> dict[str, Any]:
    """Its table [project], which an installed package has too: the one home of name, version and
    dependencies.
    """
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def version() -> str:
    """`Tailscope 0.1.0 (git 1a2b3c4)`; the revision only in a checkout of git."""
    git = revision()
    return f"Tailscope {project()['version']}" + (f" (git {git})" if git else "")


def revision() -> str:
    """Of the checkout, with -dirty where files differ from it; empty where there is none. An
    installed package has that of the checkout that it was made in.
    """
    if INSTALLED:
        return REVISION
    if not (ROOT / ".git").exists():
        return ""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_REVISION_WITHIN_S)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
