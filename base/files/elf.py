"""What pyelftools raises where a file of ELF or DWARF is damaged: whatever it stumbles over."""

from __future__ import annotations

import struct

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct.core import ConstructError

DAMAGED = (
    *(ELFError, DWARFError, ConstructError, struct.error, ValueError, LookupError, TypeError),
    *(AttributeError, AssertionError, ArithmeticError, RecursionError, MemoryError, NotImplementedError),
)
