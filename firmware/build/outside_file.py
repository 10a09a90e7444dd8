"""What an allocator's file from outside defines and needs: compiled and linked, not parsed.

It is compiled for the target as the firmware would, with stand-ins for FreeRTOS's headers. Its
symbols say what it is written against, and what it lacks.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from base.files.errors import TailscopeError
from base.heap_size import DEFAULT_BYTES
from base.paths import ROOT
from base.processes import children
from firmware.build.catalogue import Format

HEAP = ROOT / "firmware" / "heap"
_STAND_INS = HEAP / "tests" / "freertos"
_INCLUDES = ("-I", str(HEAP), "-I", str(HEAP / "allocators" / "freertos" / ".."), "-I", str(_STAND_INS))
_TARGET = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
_HOST = ("gcc", "-m32")
_COMMON = (
    *("-std=gnu11", "-O2", "-w", "-fmax-errors=1", f"-DTAILSCOPE_HEAP_BYTES={DEFAULT_BYTES}"),
    *("-DTAILSCOPE_SMALLEST_PAYLOAD=8", '-DTAILSCOPE_FILE_NAME="x"'),
)
_WITHIN_S = 60.0

_FREERTOS = ("pvPortMalloc", "vPortFree", "xPortGetFreeHeapSize")
_RENAMED = (
    *_FREERTOS,
    *("pvPortCalloc", "xPortGetMinimumEverFreeHeapSize", "xPortResetHeapMinimumEverFreeHeapSize"),
    *("vPortInitialiseBlocks", "vPortGetHeapStats", "vPortHeapResetState", "vPortDefineHeapRegions"),
)
_LIBC_HEAP = {
    *("malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "sbrk"),
    *("_malloc_r", "_calloc_r", "_realloc_r", "_free_r", "_sbrk", "_sbrk_r"),
}
_DECLARED = re.compile(
    r"^(?!static|typedef)\w[\w \*]*?\b((?:allocator|heap_index)_\w+)\([^;{]*\);", re.MULTILINE
)
_ERROR = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>[0-9]+):(?:[0-9]+:)? (?:fatal )?error: (?P<why>.*)$", re.MULTILINE
)
_OWN_ARRAY = re.compile(r"\bstatic(\s+(?:PRIVILEGED_DATA\s+)?uint8_t\s+ucHeap\s*\[)")


class OutsideError(TailscopeError):
    """An allocator from outside cannot be used. The message says why, in one sentence."""


class ExaminedFile(NamedTuple):
    """What a file is.

    `defined` are the names of its functions and variables that others see; `variables` all its
    variables but ucHeap. `included` are the files that it includes from its own project.
    """

    format: Format
    defined: set[str]
    variables: list[str]
    included: Sequence[Path]
    text: bytes
    """What is to be compiled: the file, with its own ucHeap made the bench's if it had one."""


class FirstLook(NamedTuple):
    """How far the first steps came on this machine: a step of first_look.c, or `done`."""

    step: str = "init"
    sound: bool = False
    signal: str = ""
    """What ended the process: SIGALRM if it did not return; empty if it ended as it should."""
    no_host: str | None = None
    """Where it cannot be built for this machine, why, in a sentence."""


def required(format_: Format) -> tuple[str, ...]:
    """The names that a file of this format must define."""
    if format_ == "FreeRTOS heap":
        return _FREERTOS
    names = tuple(_DECLARED.findall((HEAP / format_).read_text(encoding="utf-8")))
    constants = ("allocator_overhead", "allocator_largest_alignment")
    return (*names, *constants) if format_ == "allocator.h" else names


def options(beside: Path, knobs: Mapping[str, int]) -> tuple[str, ...]:
    """How a file is compiled for any machine. What it includes is looked for in `beside` too, so a
    library finds headers beside its adapter; with <…>, after the compiler's own.
    """
    macros = (f"-DTAILSCOPE_{name}={value}u" for name, value in knobs.items())
    return (*_COMMON, *_INCLUDES, "-iquote", str(beside), "-idirafter", str(beside), *macros)


def examine(file: Path, how: Sequence[str], scratch: Path) -> ExaminedFile:
    """Compiles `file` with the options `how` into the folder `scratch`. Raises OutsideError."""
    if shutil.which(_TARGET[0]) is None:
        raise OutsideError(f"{_TARGET[0]} is not on the PATH: install the Debian package gcc-arm-none-eabi.")
    object_file = scratch / "file.o"
    if said := _compile(file, object_file, how, "-MMD", "-MF", str(scratch / "file.d")):
        raise OutsideError(f"{file.name} does not compile: {said}")
    symbols = _symbols(object_file)
    format_ = _format(file, symbols)
    if lacking := [name for name in required(format_) if name not in symbols.defined]:
        raise OutsideError(
            f"{file.name} is written against {format_} and lacks {', '.join(lacking)}: define what is "
            "missing (docs/tutorial/my-allocator.md)."
        )
    text = file.read_bytes()
    if format_ == "FreeRTOS heap" and "ucHeap" in symbols.variables:
        text, symbols = _with_the_benchs_array(file, text, how, scratch)
    return ExaminedFile(
        format_,
        symbols.defined,
        [name for name in symbols.variables if name != "ucHeap"],
        _included(scratch / "file.d", file),
        text,
    )


def constant_mentions(heap: Path, how: Sequence[str]) -> int:
    """How often a FreeRTOS heap needs configTOTAL_HEAP_SIZE to be a constant, at its beginning."""
    for mentions in range(1, 9):
        any_size = ("-DTAILSCOPE_REGION_OF_ANY_SIZE", f"-DTAILSCOPE_CONSTANT_MENTIONS={mentions}")
        command = [*_HOST, *how, *any_size, "-c", str(heap), "-o", str(heap.with_suffix(".o"))]
        if not _run(command).returncode:
            return mentions
    return 1


def first_look(heap: Path, file: ExaminedFile, how: Sequence[str], macros: Sequence[str]) -> FirstLook:
    """The first steps on this machine.

    `macros` are those of a FreeRTOS heap (outside.cmake); with OUTSIDE_TILES its blocks are read.
    """
    program = heap.with_name("first_look")
    # The copy comes before the file that it is made of.
    command = [*_HOST, "-iquote", str(heap.parent), *how]
    names = ["outside/first_look.c"]
    if file.format == "FreeRTOS heap":
        adapter = "allocators/freertos/shipped.c" if "OUTSIDE_TILES" in macros else "outside/freertos_plain.c"
        names += ["outside/freertos_file.c", "allocators/freertos/start.c", adapter]
        renamed = (f"{name}=shipped_{name}" for name in _RENAMED)
        own = (*renamed, "ucHeap=heap_region", f'TAILSCOPE_OUTSIDE_FILE="{heap.name}"', *macros)
        command += (f"-D{macro}" for macro in own)
    else:
        names += ["block_layer.c", "free_list.c", "power_bins.c"] if file.format == "index.h" else []
        command += [str(heap)]
    built = _run([*command, *(str(HEAP / name) for name in names), "-o", str(program)])
    if built.returncode:
        return FirstLook(no_host=_first_error(built.stderr))
    try:
        ran = children.run([program], within_s=_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return FirstLook(no_host=f"it did not run: {error}.")
    said = ran.stdout.split()
    steps = ["init", *(word for word in said if word in ("allocate", "free", "done"))]
    signal_ = signal.Signals(-ran.returncode).name if ran.returncode else ""
    return FirstLook(steps[-1], said[-1:] == ["sound"], signal_)


class _Symbols(NamedTuple):
    defined: set[str]
    variables: list[str]
    undefined: set[str]


def _symbols(path: Path) -> _Symbols:
    with path.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = _Symbols(set(), [], set())
        for symbol in table.iter_symbols():
            place, kind = symbol["st_shndx"], symbol["st_info"]["type"]
            if place == "SHN_UNDEF":
                symbols.undefined.add(symbol.name)
            elif symbol["st_info"]["bind"] != "STB_LOCAL":
                symbols.defined.add(symbol.name)
            section = elf.get_section(place).name if isinstance(place, int) else place
            if kind == "STT_OBJECT" and section.startswith((".data", ".bss", "SHN_COMMON")):
                symbols.variables.append(symbol.name)
    return symbols


def _format(file: Path, symbols: _Symbols) -> Format:
    if taken := sorted(_LIBC_HEAP & symbols.undefined):
        raise OutsideError(
            f"{file.name} calls {taken[0]}() of the C library, whose heap is not the one that is measured: "
            "let it take its memory from the region that it is given."
        )
    formats: list[Format] = [each for each in get_args(Format) if set(required(each)) & symbols.defined]
    if len(formats) != 1:
        raise OutsideError(
            f"{file.name} defines {'functions' if formats else 'no function'} of "
            f"{' and of '.join(formats or get_args(Format))}: write it against one of them "
            "(docs/tutorial/my-allocator.md)."
        )
    return formats[0]


def _with_the_benchs_array(
    file: Path, text: bytes, how: Sequence[str], scratch: Path
) -> tuple[bytes, _Symbols]:
    """The text with `static uint8_t ucHeap[…]` declared as what another file defines."""
    changed = _OWN_ARRAY.sub(r"extern\1", text.decode(errors="surrogateescape"))
    copy = scratch / "shared.c"
    copy.write_bytes(changed.encode(errors="surrogateescape"))
    object_file = scratch / "shared.o"
    said = _compile(copy, object_file, how)
    symbols = None if said else _symbols(object_file)
    if symbols is None or "ucHeap" in symbols.variables:
        raise OutsideError(
            f"{file.name} has a ucHeap of its own that the bench cannot lay where its region is: let "
            "configAPPLICATION_ALLOCATED_HEAP leave it to the application, as FreeRTOS's heaps do."
        )
    return copy.read_bytes(), symbols


def _compile(file: Path, object_file: Path, how: Sequence[str], *more: str) -> str | None:
    """None, or the compiler's first error."""
    done = _run([*_TARGET, *how, *more, "-c", str(file), "-o", str(object_file)])
    return _first_error(done.stderr) if done.returncode else None


def _first_error(said: str) -> str:
    match = _ERROR.search(said)
    return f"{match['file']}:{match['line']}: {match['why']}" if match else children.last_words(said)


def _included(depends: Path, file: Path) -> list[Path]:
    """The files of a list of make that are neither the file itself nor the bench's."""
    _, _, words = depends.read_text(errors="surrogateescape").replace("\\\n", " ").partition(": ")
    paths = [
        Path(word.replace("\\ ", " ").replace("$$", "$")) for word in re.split(r"(?<!\\)\s+", words) if word
    ]
    resolved = {path.resolve() for path in paths}
    return sorted(path for path in resolved - {file.resolve()} if not path.is_relative_to(HEAP.parent))


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return children.run(["env", "LC_ALL=C", *command], within_s=_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OutsideError(f"{command[0]} did not run: {error}.") from None
