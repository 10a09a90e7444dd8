"""What was built once is there for each checkout of a user: packed build folders, by digests.

They lie in TAILSCOPE_CACHE, or with what other programs of the user keep (XDG_CACHE_HOME). Whoever
removes them loses time only.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import time
from contextlib import suppress
from pathlib import Path

from base.paths import CACHE, ROOT

_DAYS = 30
"""An entry that nobody took for so long goes."""
_HAS_PATHS = {".cmake", ".json", ".ninja", ".txt"}
"""What CMake writes with the checkout's path in it, by its suffix."""
_CHECKOUT = "checkout-of-build"
"""The file in an entry that says where the checkout was in which it was built."""


def take(digest: str, folder: Path) -> bool:
    """Makes `folder` what was kept by this digest, as if it had been built here.

    False, and nothing is done, where nothing whole was kept.
    """
    entry = _entry(digest)
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}.taken")
    try:
        with tarfile.open(entry) as packed:
            if hasattr(tarfile, "data_filter"):  # from Python 3.11.4 on
                packed.extraction_filter = tarfile.data_filter
            packed.extractall(fresh)
        checkout = (fresh / _CHECKOUT).read_bytes()
        for path in fresh.rglob("*"):
            if path.suffix in _HAS_PATHS and path.is_file():
                path.write_bytes(path.read_bytes().replace(checkout, os.fsencode(ROOT)))
            os.utime(path)  # a build is younger than the sources that it is of
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
        os.utime(entry)
    except (OSError, EOFError, tarfile.TarError):
        shutil.rmtree(fresh, ignore_errors=True)
        return False
    return True


def keep(digest: str, folder: Path) -> None:
    """Keeps what was built in `folder`; whatever was placed beside it is left out.

    A cache that cannot be written keeps nothing: the build is there all the same.
    """
    entry = _entry(digest)
    part = entry.with_suffix(f".{os.getpid()}.part")
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        (folder / _CHECKOUT).write_bytes(os.fsencode(ROOT))
        with tarfile.open(part, "w:gz", compresslevel=1) as packed:
            packed.add(folder, ".", filter=lambda member: None if "/placed-" in member.name else member)
        part.rename(entry)
        for other in entry.parent.iterdir():
            if time.time() - other.stat().st_mtime > _DAYS * 86_400:
                other.unlink()
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _entry(digest: str) -> Path:
    return CACHE / "built" / f"{digest}.tar.gz"
