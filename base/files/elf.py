"""ELF files: reading one, what pyelftools raises where it is damaged, the core it was made for."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct.core import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection, SymbolTableSection

from .errors import TailscopeError

DAMAGED = (
    *(ELFError, DWARFError, ConstructError, struct.error, ValueError, LookupError, TypeError),
    *(AttributeError, AssertionError, ArithmeticError, RecursionError, MemoryError, NotImplementedError),
)
"""Whatever it stumbles over."""


@contextmanager
def opened(path: Path, error: type[TailscopeError]) -> Iterator[ELFFile]:
    """The file of a build, to read. Raises `error` where it is not there, or no ELF file."""
    try:
        with path.open("rb") as file:
            yield ELFFile(file)
    except (OSError, ELFError) as why:
        raise error(f"{path} could not be read: {why}. Build it again.") from None


# Tag_CPU_arch ("Addenda to, and Errata in, the ABI for the Arm Architecture", IHI 0045, 3.3.5.2).
_V7 = 10
_V6M, _V7M, _V7E_M = {11: "armv6-m", 12: "armv6s-m"}, {_V7: "armv7-m"}, {13: "armv7e-m"}
"""With the names that GCC has for them (-march)."""
_MADE_FOR = {
    **dict.fromkeys(range(10), "an Arm core before the Cortex (Armv4 to Armv6K)"),
    _V7: "a Cortex-A or Cortex-R (Armv7-A, Armv7-R)",
    **dict.fromkeys(_V6M, "a Cortex-M0 or Cortex-M0+ (Armv6-M)"),
    **dict.fromkeys((14, 15, 18, 19, 20, 22), "a Cortex-A or Cortex-R (Armv8, Armv9)"),
    16: "a Cortex-M23 (Armv8-M Baseline)",
    **dict.fromkeys((17, 21), "a Cortex-M33 or a later one (Armv8-M)"),
}
_MADE_FOR_M = {_V7: "a Cortex-M3 (Armv7-M)", 13: "a Cortex-M4 or Cortex-M7 (Armv7E-M)"}
_NOT_M = {ord("A"), ord("R")}


_RUNS_ON = {"cortex-m0": _V6M, "cortex-m0plus": _V6M, "cortex-m3": _V7M, "cortex-m4": _V7M | _V7E_M}
"""The architectures whose programs are taken on a core."""


def other_core(elf: ELFFile, core: str) -> str:
    """The core that an Arm program was made for, if its build attributes say that it is another
    than `core`.

    Empty if they do not. Every Armv7-M program runs on a Cortex-M4. Raises what DAMAGED has.
    """
    attributes = _build_attributes(elf)
    architecture = attributes.get("TAG_CPU_ARCH")
    of_m = architecture != _V7 or attributes.get("TAG_CPU_ARCH_PROFILE") not in _NOT_M
    if architecture is None or (of_m and architecture in _RUNS_ON[core]):
        return ""
    by_profile = _MADE_FOR_M if of_m else {}
    return by_profile.get(architecture) or _MADE_FOR.get(architecture, "another core")


_ARCHITECTURE = re.compile(rb"-march=([a-z0-9-]+(?:\.[a-z]+)?)")


def mostly_for(elf: ELFFile, core: str) -> bool:
    """Whether most units of a program were compiled for `core`, by the command lines that the
    compiler wrote down. The whole has the greatest attributes: one stray object changes them.
    Raises what DAMAGED has.
    """
    units = elf.get_dwarf_info().iter_CUs() if elf.has_dwarf_info() else ()
    producers = (unit.get_top_DIE().attributes.get("DW_AT_producer") for unit in units)
    lines = (_ARCHITECTURE.search(producer.value) for producer in producers if producer)
    fits = [line[1].decode().partition("+")[0] in _RUNS_ON[core].values() for line in lines if line]
    return 2 * sum(fits) > len(fits)


def _build_attributes(elf: ELFFile) -> dict[str, int]:
    """Those of the whole file, by their tags."""
    section = elf.get_section_by_name(".ARM.attributes")
    if not isinstance(section, ARMAttributesSection):
        return {}
    return {
        attribute.tag: attribute.value
        for vendor in section.iter_subsections("aeabi")
        for scope in vendor.iter_subsubsections("TAG_FILE")
        for attribute in scope.iter_attributes()
    }


def address_of(elf: Path, symbol: str) -> int | None:
    """The value of a symbol; None of a file that has it not, or that cannot be read.

    A process reads a file that did not change once: to read its symbols takes 15 ms, and each run
    of a campaign asks for some.
    """
    try:
        changed_ns = elf.stat().st_mtime_ns
    except OSError:
        return None  # who uses the file says so
    return _address_of(elf.resolve(), symbol, changed_ns)


@lru_cache(maxsize=256)
def _address_of(elf: Path, symbol: str, _changed_ns: int) -> int | None:
    try:
        with elf.open("rb") as file:
            section = ELFFile(file).get_section_by_name(".symtab")
            symbols = section.get_symbol_by_name(symbol) if isinstance(section, SymbolTableSection) else None
            return int(symbols[0]["st_value"]) if symbols else None
    except (OSError, *DAMAGED):
        return None
