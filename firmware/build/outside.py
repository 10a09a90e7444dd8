"""An allocator of the user's own: one C file from outside, as a row of the catalogue.

What the file is, its symbols say (outside_file.py). What nobody can see in it, a table beside it
states: NAME.toml, with the keys of heap/catalogue.toml, all of them optional. A promise that is not
stated is not tested.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, Strict, model_validator

from base.files.complaints import WrongValueError
from base.files.documents import open_toml
from base.files.locks import taking_turns
from base.files.whole import write_bytes
from base.paths import COMPILED
from base.run_folder.records import Locking
from firmware.build import catalogue, outside_file
from firmware.build.catalogue import LOCKINGS, Allocator, Builds, Kind, Source
from firmware.build.outside_file import ExaminedFile, OutsideError
from firmware.build.promises import PROMISES, Promise, build_words

_BUILDS = COMPILED / "outside"
_NAME = re.compile(r"[A-Za-z0-9_]{1,32}")
_KNOB = re.compile(r"[A-Z][A-Z0-9_]{0,31}")
_KINDS: dict[str, Kind] = {"index.h": "index", "allocator.h": "allocator", "FreeRTOS heap": "third-party"}
_VARIABLES = "outside_variables.h"
_NOTE = "named.json"
_NOT_STATED = "not stated"
_FREES: frozenset[Promise] = frozenset({"frees"})
_TILED: frozenset[Promise] = frozenset({"aligns", "checks_heap", "tells_usable"})
"""What an adapter keeps that can read a FreeRTOS heap's blocks."""

_FromList = Strict(False)


class Statement(Builds):
    """The table beside a file. What keys share with heap/catalogue.toml means the same there."""

    name: str | None = None
    """Up to 32 letters, digits and `_`: what reports and run folders call it; without it the file's
    name.
    """
    locking: Annotated[tuple[Locking, ...] | None, _FromList, Field(min_length=1)] = None
    """What it works under, the default first; all three if absent."""
    frees: bool = True
    """False if it never frees."""
    promises: Annotated[frozenset[Promise], _FromList] = frozenset()
    """What the contract holds it to beyond what every allocator must do."""
    allocate: str = _NOT_STATED
    """The worst case, in the size n of the region, such as O(log n)."""
    free: str = _NOT_STATED
    """The same of a free."""
    licence: str = _NOT_STATED
    """For `./lab heap list`."""
    origin: str = ""
    """The same."""
    finds: Literal["what_fits", "slots", "powers", "up_to_threshold"] | None = None
    """Of an index: which block its search must find."""

    @model_validator(mode="after")
    def _names_are_names(self) -> Statement:
        if self.name is not None and not _NAME.fullmatch(self.name):
            raise WrongValueError("must be up to 32 letters, digits and _", "name")
        for knob in self.knobs:
            if not _KNOB.fullmatch(knob):
                raise WrongValueError("must be up to 32 capital letters, digits and _", "knobs", knob)
        return self


def is_path(word: str) -> bool:
    """Whether a word of `--allocator` means a file: it names a folder, or ends as a C file does."""
    return "/" in word or word.endswith((".c", ".C", ".h", ".cpp", ".cc", ".S", ".s", ".o", ".a"))


def beside(word: str, folder: Path) -> str:
    """The same word, PATH or NAME=PATH, with its path taken from `folder`."""
    name, path = _split(word, folder.absolute())
    return str(path) if name is None else f"{name}={path}"


def admit(words: Sequence[str]) -> list[str]:
    """The words of `--allocator` with each file's name in its place; this process then knows them.

    A file is PATH or NAME=PATH. Raises OutsideError, also for two files of one name.
    """
    return list(dict.fromkeys(admit_each(words)))


def admit_each(words: Sequence[str]) -> list[str]:
    """The same, with a name for each of the words."""
    rows = {word: read(path, name) for word in words if is_path(word) for name, path in [_split(word)]}
    folders: dict[str, Path] = {}
    for row in rows.values():
        assert row.source is not None
        if folders.setdefault(row.id, row.source.folder) != row.source.folder:
            raise OutsideError(f"Two files are called {row.id}: give one another name, as in other=PATH.")
        catalogue.admit(row)
    return [rows[word].id if word in rows else word for word in words]


def _split(word: str, folder: Path = Path()) -> tuple[str | None, Path]:
    name, separator, path = word.partition("=")
    if separator and "/" not in name and not _is_file(folder / word):
        return name, folder / path
    return None, folder / word


def read(path: Path, name: str | None = None) -> Allocator:
    """The row of the allocator in a file; its build lies ready in the row's folder.

    `name` is what to call it instead of what its table or its file says. Raises OutsideError.
    """
    if path.suffix != ".c" or not _is_file(path) or not os.access(path, os.R_OK):
        raise OutsideError(
            f"{str(path)[:80]} is no file that can be read with a name that ends in .c: "
            "give the allocator's C file."
        )
    file = path.absolute()
    table = file.with_suffix(".toml")
    statement = open_toml(table, OutsideError).check(Statement) if table.exists() else Statement()
    name = _name(file, name or statement.name)
    with tempfile.TemporaryDirectory(prefix="tailscope-") as scratch:
        how = outside_file.options(file.parent, statement.knobs)
        examined = outside_file.examine(file, how, Path(scratch))
        if examined.format == "index.h" and (statement.promises or not statement.frees):
            raise OutsideError(
                f"{file.stem}.toml states promises of an index: the block layer keeps them all; drop them."
            )
        heap = Path(scratch) / (file.name if re.fullmatch(r"[\w.+ -]+", file.name) else f"{name}.c")
        heap.write_bytes(examined.text)
        words, promises, no_host = _build_words(file, heap, statement, examined, how)
        folder = _keep(file, heap, name, words, examined)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    default: tuple[Locking, ...] = ("scheduler",) if examined.format == "FreeRTOS heap" else LOCKINGS
    of_file = {
        "id": name,
        "kind": _KINDS[examined.format],
        "locking": statement.locking or default,
        "origin": statement.origin or f"{file.name}, from outside",
        "promises": promises,
        "target_only": no_host is not None,
        "source": Source(file, examined.format, sha256, folder, no_host),
    }
    with taking_turns(folder):  # the file is found again by its digest
        record = {"name": name, "file": str(file), "sha256": sha256}
        write_bytes(folder / _NOTE, json.dumps(record).encode())
    return Allocator.model_construct(**{**dict(statement), **of_file})


def remembered(name: str, sha256: str) -> Path | None:
    """The file of an allocator called `name` that a user named here before; `sha256` is that of the
    file. None if there is none, or it has changed since.
    """
    for note in sorted(_BUILDS.glob(f"*/{_NOTE}")):
        with suppress(OSError, ValueError, AttributeError):
            document = json.loads(note.read_bytes())
            file = Path(str(document.get("file")))
            named = (document.get("name"), document.get("sha256")) == (name, sha256)
            if named and hashlib.sha256(file.read_bytes()).hexdigest() == sha256:
                return file
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, or a folder that may not be entered
        return False


def _name(file: Path, chosen: str | None) -> str:
    name = chosen or re.sub(r"[^A-Za-z0-9_]", "_", file.stem)[:32]
    if not _NAME.fullmatch(name):
        raise OutsideError(f"{name!r} names no allocator: give up to 32 letters, digits and _.")
    if name in catalogue.own() or name == "all":
        raise OutsideError(
            f"{name} is an allocator of the bench, and {file.name} would be taken for it: call yours "
            f'otherwise, as in my_{name[:29]}={file}, or by name = "…" in {file.stem}.toml beside it.'
        )
    return name


def _build_words(
    file: Path, heap: Path, statement: Statement, examined: ExaminedFile, how: Sequence[str]
) -> tuple[list[str], frozenset[Promise], str | None]:
    """The lines of its <name>.cmake, what it promises, and why it has no host build, if so.

    The blocks of a FreeRTOS heap are read where they prove to be laid out as those of FreeRTOS.
    """
    is_freertos = examined.format == "FreeRTOS heap"
    words: list[str] = []
    promises = statement.promises | (_FREES if statement.frees else frozenset())
    macros: list[str] = []
    if is_freertos:
        macros += ["OUTSIDE_DEFINES_REGIONS"] if "vPortDefineHeapRegions" in examined.defined else []
        if "vPortHeapResetState" not in examined.defined:
            macros += ["OUTSIDE_KEEPS_VARIABLES"]
            if hidden := [name for name in examined.variables if not name.isidentifier()]:
                raise OutsideError(
                    f"{file.name} keeps {hidden[0].partition('.')[0]} within a function, so the bench cannot "
                    "begin anew: move it out, or define vPortHeapResetState()."
                )
            each = " ".join(f"f({name})" for name in examined.variables)
            heap.with_name(_VARIABLES).write_text(f"#define OUTSIDE_VARIABLES(f) {each}\n", encoding="utf-8")

    plain = outside_file.first_look(heap, examined, how, [*macros, "OUTSIDE_PLAIN"])
    if plain.step == "init" and plain.signal:
        what = "does not return" if plain.signal == "SIGALRM" else f"ends the process ({plain.signal})"
        raise OutsideError(f"{file.name}: its start {what} on a region of 65,536 bytes; mend it.")
    if is_freertos:
        tiles = outside_file.first_look(heap, examined, how, [*macros, "OUTSIDE_TILES"])
        is_tiled = tiles.sound and tiles.step == "done"
        if is_tiled:
            promises |= _TILED
        elif (plain.step, plain.signal) == ("free", "SIGABRT"):
            promises -= _FREES  # as heap_1, whose vPortFree() asserts
        mentions = outside_file.constant_mentions(heap, how)
        quoted = " ".join(f'"{macro}"' for macro in macros)
        words += [f"tailscope_outside_freertos({'TILES' if is_tiled else 'PLAIN'} {mentions} {quoted})"]
    elif examined.format == "allocator.h":
        words += ["tailscope_outside_source()"]
    else:
        promises = frozenset(PROMISES)
        words += ["tailscope_outside_source(${block_layer_sources})"]
        if statement.finds is not None:
            finds = f"TAILSCOPE_FINDS=FINDS_{statement.finds.upper()}"
            words += [f"tailscope_index_finds({finds} TAILSCOPE_LEAST_PAYLOAD={statement.smallest_payload}u)"]
    locking = statement.locking or (("scheduler",) if is_freertos else ())
    payload = statement.smallest_payload if examined.format == "index.h" else None
    row_words = build_words(statement.knobs, locking, promises, payload)
    return [*row_words, *words], promises, plain.no_host


def _keep(file: Path, heap: Path, name: str, words: Sequence[str], examined: ExaminedFile) -> Path:
    """The folder with all that the build takes; another one for other content."""
    lines = [f'set(TAILSCOPE_OUTSIDE_FILE "{heap.name}")', *words]
    table = "".join(f"{line}\n" for line in lines).encode()
    parts = [name.encode(), bytes(file.parent), table, examined.text]
    parts += (part for path in examined.included for part in (bytes(path), path.read_bytes()))
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts))
    folder = _BUILDS / digest.hexdigest()[:16]
    files = {heap.name: examined.text, f"{name}.cmake": table}
    if (variables := heap.with_name(_VARIABLES)).exists():
        files[_VARIABLES] = variables.read_bytes()
    with taking_turns(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "beside").is_symlink():
                (folder / "beside").symlink_to(file.parent)
        except OSError as error:
            raise OutsideError(f"{folder} cannot be written: {error.strerror}.") from None
        for file_name, content in files.items():
            if not (folder / file_name).exists():
                write_bytes(folder / file_name, content)
    return folder
