"""The instructions by which a function is left."""

from __future__ import annotations

import re

from analysis.errors import LatencyError
from analysis.explain.program import Function, Program

_RETURNS = re.compile(r"bx(\w\w)?$")
_LOADS = ("pop", "ldm", "ldr")
_BRANCH = re.compile(r"b(eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?(\.w|\.n)?$")


def exits_of(program: Program, function: Function) -> dict[int, bool]:
    """The instructions by which a function may be left; True if each execution of it leaves it.

    The others are branches, which leave it if they are taken. Raises LatencyError if none is found.
    """
    exits = {}
    end = function.address + function.size
    for address, _, mnemonic, operands in program.instructions(function):
        base = mnemonic.split(".")[0]
        if _RETURNS.match(base) or (base.startswith(_LOADS) and re.search(r"\bpc\b", operands)):
            # A table of jumps also loads the PC; then the next instruction lies within.
            exits[address] = base.startswith(("pop", "ldm")) or operands == "lr"
        elif base.startswith("mov") and operands.startswith("pc,"):
            exits[address] = operands == "pc, lr"
        elif _BRANCH.match(mnemonic) and operands.startswith("#"):
            target = int(operands[1:], 16)
            if not function.address <= target < end:
                exits[address] = False
    if not exits:
        raise LatencyError(
            f"No way out of {function.name} was found in its code: give both ends, {function.name}..PLACE."
        )
    return exits
