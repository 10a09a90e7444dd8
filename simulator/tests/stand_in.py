"""Shell scripts that play `virtual-nucleo`."""

from __future__ import annotations

import json
from pathlib import Path

ADDRESSES = {"analyzer": "127.0.0.1:41001", "uart": "/dev/pts/3", "probe": "127.0.0.1:41003"}


def stand_in(folder: Path, body: str) -> Path:
    """A program in `folder` with this `body`."""
    path = folder / "virtual-nucleo"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def listening(folder: Path, before: str = ":", then: str = "exec cat") -> Path:
    """A program that writes down what it is asked, says where it listens, and does `then`."""
    return stand_in(
        folder, f"echo \"$@\" > '{folder}/asked'\n{before}\necho '{json.dumps(ADDRESSES)}'\n{then}"
    )


def asked(folder: Path) -> list[str]:
    """The arguments that the program of listening() was given."""
    return (folder / "asked").read_text().split()
