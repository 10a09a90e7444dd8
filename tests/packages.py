"""What Debian's lists know, by apt-cache, which reads them as they lie on this machine."""

from __future__ import annotations

import subprocess


def has_candidate(name: str) -> bool:
    """Whether there is a version of the package to install."""
    done = subprocess.run(["apt-cache", "policy", name], capture_output=True, text=True, check=True)
    return "Candidate: " in done.stdout and "Candidate: (none)" not in done.stdout


def are_known() -> bool:
    """Whether this machine has lists at all; a slim image has none."""
    try:
        return has_candidate("apt") and has_candidate("sigrok-cli")
    except OSError:
        return False
