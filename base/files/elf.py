"""ELF files: what pyelftools raises where one is damaged, and for which core one was made."""

from __future__ import annotations

import struct

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct.core import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection

DAMAGED = (
    *(ELFError, DWARFError, ConstructError, struct.error, ValueError, LookupError, TypeError),
    *(AttributeError, AssertionError, ArithmeticError, RecursionError, MemoryError, NotImplementedError),
)
"""Whatever it stumbles over."""

# Tag_CPU_arch ("Addenda to, and Errata in, the ABI for the Arm Architecture", IHI 0045, 3.3.5.2).
_V7, _V7E_M = 10, 13
_MADE_FOR = {
    **dict.fromkeys(range(10), "an Arm core before the Cortex (Armv4 to Armv6K)"),
    _V7: "a Cortex-A or Cortex-R (Armv7-A, Armv7-R)",
    **dict.fromkeys((11, 12), "a Cortex-M0 or Cortex-M0+ (Armv6-M)"),
    **dict.fromkeys((14, 15, 18, 19, 20, 22), "a Cortex-A or Cortex-R (Armv8, Armv9)"),
    16: "a Cortex-M23 (Armv8-M Baseline)",
    **dict.fromkeys((17, 21), "a Cortex-M33 or a later one (Armv8-M)"),
}
_MADE_FOR_M = {_V7: "a Cortex-M3 (Armv7-M)", _V7E_M: "a Cortex-M4 or Cortex-M7 (Armv7E-M)"}
_NOT_M = {ord("A"), ord("R")}


_RUNS_ON = {"cortex-m0": (11, 12), "cortex-m3": (_V7,), "cortex-m4": (_V7, _V7E_M)}
"""The architectures whose programs are taken on a core."""


def other_core(elf: ELFFile, core: str = "cortex-m4") -> str:
    """The core that an Arm program was made for, if its build attributes say that it is another
    than `core`.

    Empty if they do not. Every Armv7-M program runs on a Cortex-M4. Raises what DAMAGED has.
    """
    section = elf.get_section_by_name(".ARM.attributes")
    if not isinstance(section, ARMAttributesSection):
        return ""
    found: dict[str, int] = {}
    for vendor in section.iter_subsections("aeabi"):
        for scope in vendor.iter_subsubsections("TAG_FILE"):
            found = {one.tag: one.value for one in scope.iter_attributes()}
    architecture = found.get("TAG_CPU_ARCH")
    of_m = architecture != _V7 or found.get("TAG_CPU_ARCH_PROFILE") not in _NOT_M
    if architecture is None or (of_m and architecture in _RUNS_ON[core]):
        return ""
    return _MADE_FOR_M[architecture] if of_m and architecture in _MADE_FOR_M else _named(architecture)


def _named(architecture: int) -> str:
    return _MADE_FOR.get(architecture, "another core")
