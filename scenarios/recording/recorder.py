"""Builds the library that stands in front of a program's malloc (shim/heap_recorder.c)."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from base.files.locks import taking_turns
from base.files.whole import write_whole
from base.paths import COMPILED
from base.processes import children
from scenarios.errors import RecordingError

_SOURCES = Path(__file__).resolve().parent / "shim"
_BUILDS = COMPILED / "recorder"
# Without builtins the compiler makes no call of malloc into one of calloc.
_FLAGS = ("-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-builtin")
_STRICT = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow")
_WITHIN_S = 120.0


def build() -> Path:
    """The library, built if these sources have not been yet. Raises RecordingError, WriteError."""
    sources = sorted(_SOURCES.glob("*.[ch]"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    library = _BUILDS / f"recorder-{digest[:16]}.so"
    with taking_turns(_BUILDS):
        if not library.exists():
            write_whole(library, lambda path: _compile([s for s in sources if s.suffix == ".c"], path))
    return library


def _compile(sources: list[Path], output: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        raise RecordingError("There is no C compiler, cc, on the PATH: install the Debian package gcc.")
    try:
        done = children.run([compiler, *_FLAGS, *_STRICT, *sources, "-o", output], within_s=_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise RecordingError(f"{compiler} did not end within {_WITHIN_S:g} s; run it again.") from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["nothing"])[0]
        raise RecordingError(f"{compiler} cannot build the recorder; it said: {said}")
