"""Builds the library that stands in front of a program's malloc (shim/heap_recorder.c).

The loader must take it in front of the program's own, so not every command can be recorded.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from base.files.complaints import quoted
from base.files.locks import taking_turns
from base.files.whole import why, write_whole
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


_ELF = b"\x7fELF"


def check(word: str, recorder: Path) -> None:
    """Raises RecordingError for a command that is none, or whose loader would refuse `recorder`.

    Of a script nothing is known: it is its interpreter that runs.
    """
    path = shutil.which(word)
    if path is None:
        raise RecordingError(f"There is no command {quoted(word)}; check its name, or give its path.")
    try:
        status = Path(path).stat()
        with Path(path).open("rb") as file:
            is_elf = file.read(len(_ELF)) == _ELF
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {why(error)}.") from None
    if objection := _privileges(path, status) or (_loading(path, recorder) if is_elf else None):
        raise RecordingError(f"{path} cannot be recorded: {objection}.")


_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
_PYTHON = re.compile(r"python[\d.]*")
_MANAGER = re.compile(r"""(\w+)["']? exec """)
"""How pyenv's shims, and those of its kin (rbenv, nodenv, asdf), hand over to the program."""


def advice(word: str) -> Iterator[str]:
    """Sentences on what a trace of the command will be of, if that is not plain from its name."""
    path = Path(shutil.which(word) or "")
    if not path.is_file():
        return
    with path.open("rb") as file:
        text = file.read(4096).decode(errors="replace")
    first = text.partition("\n")[0]
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    names = [Path(w).name for w in words if not w.startswith("-")]
    interpreter = names[1] if names[:1] == ["env"] and names[1:] else (names or [""])[0]
    if interpreter in _SHELLS:
        manager = _MANAGER.search(text)
        instead = f"`{manager[1]} which {path.name}` says which" if manager else "by its path"
        yield (
            f"{path} is a script: this records {interpreter} and what it starts, and keeps the process that "
            f"uses its heap most; give the program itself instead ({instead})."
        )
    if any(map(_PYTHON.fullmatch, (path.name, interpreter))) and os.environ.get("PYTHONMALLOC") != "malloc":
        yield (
            "Python serves requests of up to 512 bytes itself, and the trace will lack them; set "
            "PYTHONMALLOC=malloc in the environment to have them."
        )


def _privileges(path: str, status: os.stat_result) -> str | None:
    user = status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid()
    group = status.st_mode & stat.S_ISGID and status.st_gid != os.getegid()
    if user or group:
        return "it runs with another user's rights (setuid), and then the loader takes no library of ours"
    if os.geteuid() != 0 and "security.capability" in os.listxattr(path):
        return "it runs with rights of its own (capabilities), and then the loader takes no library of ours"
    return None


def _loading(path: str, recorder: Path) -> str | None:
    try:
        own = _machine(recorder)
        interpreted, machine = _is_interpreted(path), _machine(Path(path))
    except (ELFError, OSError, ValueError, KeyError, OverflowError):
        return "it is no sound ELF file"
    if machine != own:
        return f"it is built for {' '.join(map(str, machine))} bits, the recorder for {own[0]} {own[1]}"
    if not interpreted:
        return "it is statically linked, so there is no loader that could take the recorder in"
    return None


def _machine(path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        elf = ELFFile(file)
        return str(elf.get_machine_arch()), int(elf.elfclass)


def _is_interpreted(path: str) -> bool:
    with Path(path).open("rb") as file:
        return any(segment["p_type"] == "PT_INTERP" for segment in ELFFile(file).iter_segments())
