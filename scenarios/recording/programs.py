"""Whether a command can be recorded: the loader must take a library in front of the program's."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from base.files.faults import quoted
from base.files.whole import why
from scenarios.errors import RecordingError

_ELF = b"\x7fELF"


def check(word: str, recorder: Path) -> None:
    """Raises RecordingError for a command that is none, or whose loader would refuse `recorder`.

    Of a script nothing is known: it is its interpreter that runs.
    """
    path = shutil.which(word)
    if path is None:
        raise RecordingError(f"There is no command {quoted(word)}; check its name, or give its path.")
    try:
        found = Path(path).stat()
        with Path(path).open("rb") as file:
            is_elf = file.read(len(_ELF)) == _ELF
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {why(error)}.") from None
    if objection := _privileges(path, found) or (_loading(path, recorder) if is_elf else None):
        raise RecordingError(f"{path} cannot be recorded: {objection}.")


def _privileges(path: str, found: os.stat_result) -> str | None:
    user = found.st_mode & stat.S_ISUID and found.st_uid != os.geteuid()
    group = found.st_mode & stat.S_ISGID and found.st_gid != os.getegid()
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
