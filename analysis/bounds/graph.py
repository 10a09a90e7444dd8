"""The control flow of one function, read from its machine code. Each instruction is a node.

Decoding follows the flow from the function's entry. So it never takes constants for code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import capstone
from capstone import arm

from analysis.errors import NoBoundError
from analysis.explain.program import Program

_LONGEST_RUN_BYTES = 4096
# A branch by a table has its index compared within so many bytes before it.
_COMPARISON_BYTES = 16


@dataclass(frozen=True)
class Instruction:
    """One instruction. `kind` names its row of the cost table (costs.py).

    `registers` is how many registers a multiple load or store transfers, and 0 for all others.
    """

    address: int
    size: int
    text: str
    kind: str
    registers: int = 0
    literal: int | None = None
    """The address that a load relative to the PC reads."""
    call: int | None = None
    """The entry of the function that it calls, or that it branches to without coming back."""
    conditional: bool = False
    """Whether it stands in an IT block."""


@dataclass
class Graph:
    """The flow of the function `name`: its instructions by address.

    `after` maps an address to the addresses that may follow, each with True if a taken branch leads
    there. The instructions in `ends` may leave the function.
    """

    name: str
    instructions: dict[int, Instruction] = field(default_factory=dict)
    after: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)


class Disassembler:
    """Graphs of the functions of one program. Raises NoBoundError if it cannot follow the flow."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._decoder = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
        self._decoder.detail = True
        self._graphs: dict[int, Graph] = {}
        self._decoded: dict[int, capstone.CsInsn] = {}

    def graph(self, entry: int) -> Graph:
        """The flow of the function that begins at `entry`."""
        if entry not in self._graphs:
            self._graphs[entry] = self._follow(entry)
        return self._graphs[entry]

    def _follow(self, entry: int) -> Graph:
        function = self._program.function_at(entry)
        if function is None:
            raise NoBoundError(f"No function is known at {entry:#010x}, which is called.")
        graph = Graph(function.name)
        inside = range(function.address, function.address + function.size)
        waiting = [entry]
        while waiting:
            at = waiting.pop()
            if at not in graph.instructions:
                waiting += self._run(graph, at, inside)
        return graph

    def _run(self, graph: Graph, start: int, inside: range) -> Iterator[int]:
        """Adds the instructions from `start` up to a branch, and yields where that leads."""
        code = self._program.code(start, min(inside.stop - start, _LONGEST_RUN_BYTES))
        ruled = 0
        for found in self._decoder.disasm(code, start):
            if found.address in graph.instructions:
                return
            self._decoded[found.address] = found
            conditional = ruled > 0
            ruled = len(found.mnemonic) - 1 if found.id == arm.ARM_INS_IT else max(ruled - 1, 0)
            targets, ends, call = self._flow(found, inside)
            kind, registers = _kind(found)
            graph.instructions[found.address] = Instruction(
                found.address, found.size, f"{found.mnemonic} {found.op_str}".strip(), kind, registers,
                _literal(found), call, conditional,
            )  # fmt: skip
            if ends:
                graph.ends.add(found.address)
            falls = not (ends or targets) or conditional or _may_fall(found)
            following = found.address + found.size
            graph.after[found.address] = [(target, True) for target in targets]
            if falls:
                graph.after[found.address].append((following, False))
            if targets or ends:
                yield from targets
                if falls and not ruled:
                    yield following
                if not falls or not ruled:
                    return

    def _flow(self, found: capstone.CsInsn, inside: range) -> tuple[list[int], bool, int | None]:
        """Targets inside the function; whether it may leave the function; the function it calls."""
        if found.id in (arm.ARM_INS_BL,):
            return [], False, int(found.operands[0].imm)
        if found.id == arm.ARM_INS_BLX:
            raise NoBoundError(
                f"{self._program.place(found.address)} calls through a pointer ({found.op_str})."
            )
        if found.id in (arm.ARM_INS_CBZ, arm.ARM_INS_CBNZ):
            return [int(found.operands[1].imm)], False, None
        if found.id == arm.ARM_INS_B:
            target = int(found.operands[0].imm)
            if target in inside:
                return [target], False, None
            return [], True, target
        if found.id in (arm.ARM_INS_TBB, arm.ARM_INS_TBH):
            return self._table(found), False, None
        if found.id == arm.ARM_INS_BX:
            if found.op_str == "lr":
                return [], True, None
            raise NoBoundError(f"{self._program.place(found.address)} branches through a register.")
        if found.id == arm.ARM_INS_UDF:
            # It raises a fault. A branch to itself stands for it: no path leads on from here.
            return [found.address], False, None
        written = {found.reg_name(register) for register in found.regs_access()[1]}
        if "pc" in written:
            if found.id == arm.ARM_INS_POP or (found.id == arm.ARM_INS_LDR and "[sp]" in found.op_str):
                return [], True, None
            if found.id == arm.ARM_INS_LDM:
                return [], True, None
            raise NoBoundError(
                f"{self._program.place(found.address)} computes where it goes ({found.op_str})."
            )
        return [], False, None

    def _table(self, found: capstone.CsInsn) -> list[int]:
        """The targets of TBB or TBH. The comparison before it tells how many there are."""
        index = found.reg_name(found.operands[0].mem.index)
        before = range(found.address - _COMPARISON_BYTES, found.address, 2)
        recent = [self._decoded[at] for at in before if at in self._decoded]
        counts = [
            int(one.operands[1].imm) + 1
            for one in recent
            if one.id == arm.ARM_INS_CMP
            and one.reg_name(one.operands[0].reg) == index
            and one.operands[1].type == arm.ARM_OP_IMM
        ]
        if not counts or found.reg_name(found.operands[0].mem.base) != "pc":
            raise NoBoundError(f"{self._program.place(found.address)} branches by a table of unknown size.")
        width = 1 if found.id == arm.ARM_INS_TBB else 2
        base = found.address + 4
        entries = self._program.code(base, counts[-1] * width)
        steps = [entries[at : at + width] for at in range(0, len(entries), width)]
        return sorted({base + 2 * int.from_bytes(step, "little") for step in steps})


def _may_fall(found: capstone.CsInsn) -> bool:
    return found.id in (arm.ARM_INS_CBZ, arm.ARM_INS_CBNZ) or found.cc not in (
        arm.ARM_CC_AL,
        arm.ARM_CC_INVALID,
    )


def _literal(found: capstone.CsInsn) -> int | None:
    if not found.mnemonic.startswith("ldr"):
        return None
    for operand in found.operands:
        if operand.type == arm.ARM_OP_MEM and found.reg_name(operand.mem.base) == "pc":
            return (int(found.address) + 4 & ~3) + int(operand.mem.disp)
    return None


_KINDS = (
    (r"(u|s)div", "divide"),
    (r"mla|mls|v(f?n?ml[as]|fma)", "accumulate"),
    (r"tb[bh]", "table_branch"),
    (r"(cbz|cbnz|bx|blx)", "late_branch"),
    (r"bl?(\.w)?$|b(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|cs|cc)(\.w)?$", "branch"),
    (r"pop|push|ldm|stm|ldrd|strd|vpush|vpop|vldm|vstm", "multiple"),
    (r"v?ldr", "load"),
    (r"v?str", "store"),
    (r"mrs|msr|cps|v?mrs|vmsr|dsb|dmb|isb", "special"),
    (r"vdiv|vsqrt", "float_divide"),
)


def _kind(found: capstone.CsInsn) -> tuple[str, int]:
    """The row of the cost table, and how many registers a multiple load or store transfers."""
    kind = next((kind for pattern, kind in _KINDS if re.match(pattern, found.mnemonic)), "processing")
    if kind != "multiple":
        return kind, 0
    if found.mnemonic.startswith(("ldrd", "strd")):
        return kind, 2
    registers = sum(operand.type == arm.ARM_OP_REG for operand in found.operands)
    return kind, registers
