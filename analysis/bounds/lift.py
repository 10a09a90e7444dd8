"""Machine instructions as operations on registers and memory, for the analysis of values."""

from __future__ import annotations

import re
from dataclasses import dataclass

import capstone
from capstone import arm

_NUMBERS = {f"r{number}": number for number in range(16)}
_NUMBERS |= {"sb": 9, "sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15}
SP, LR, PC = 13, 14, 15
MULTIPLES = ("stm", "ldm", "vstm", "vldm")
_ALWAYS = (arm.ARM_CC_AL, arm.ARM_CC_INVALID)
_CONDITIONS = ["al", "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"]
INVERSE = {
    "eq": "ne", "ne": "eq", "hs": "lo", "lo": "hs", "mi": "pl", "pl": "mi", "vs": "vc", "vc": "vs",
    "hi": "ls", "ls": "hi", "ge": "lt", "lt": "ge", "gt": "le", "le": "gt",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operand:
    """A register, shifted by `shift` bits the way `how` says; or, without a register, a number.

    A register of floats is -1, and `number` has its bytes.
    """

    register: int | None
    number: int = 0
    how: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """An address: the base, plus the index shifted, plus `offset`."""

    base: int
    index: int | None
    shift: int
    offset: int
    writeback: bool
    post: int | None
    """What is added to the base after the access; None where the address itself is written back."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One instruction. `name` has neither a condition nor the letter that sets flags.

    `condition` is "" for one that always executes. `system` names the special register of MRS and
    MSR, and what CPS changes: `primask` or `faultmask`, with `enables`.
    """

    address: int
    size: int
    name: str
    condition: str
    sets_flags: bool
    operands: tuple[Operand, ...]
    memory: Memory | None
    written: tuple[int, ...]
    system: str = ""
    enables: bool = False

    @property
    def unpredictable(self) -> bool:
        """Whether it uses the program counter as no instruction may (ARM DDI 0403E: A7.7, each
        instruction's UNPREDICTABLE): as a base that is written back, as an index, or as the target
        of what sets flags.
        """
        first = self.operands[0].register if self.operands else None
        if self.memory is not None:
            return self.memory.index == PC or (self.memory.base == PC and self.memory.writeback)
        moved = self.name.startswith(MULTIPLES) and PC in self.written
        return first == PC and (self.sets_flags or moved)

    @property
    def stores(self) -> bool:
        """Whether it writes memory."""
        return self.name.startswith(("st", "vst", "push", "vpush"))

    @property
    def addressed(self) -> set[int]:
        """The registers that its address is made of."""
        if self.memory is not None:
            return {self.memory.base, *(() if self.memory.index is None else (self.memory.index,))}
        if self.name.endswith(("push", "pop")):
            return {SP}
        first = self.operands[0].register if self.operands else None
        return set() if first is None else {first}


def lift(found: capstone.CsInsn) -> Operation:
    """What an instruction does. `found` has details."""
    operands = tuple(
        _operand(found, one) for one in found.operands if one.type in (arm.ARM_OP_REG, arm.ARM_OP_IMM)
    )
    memory = next((_memory(found, one) for one in found.operands if one.type == arm.ARM_OP_MEM), None)
    name = found.mnemonic.partition(".")[0] if found.id == arm.ARM_INS_HINT else str(found.insn_name())
    if found.mnemonic.startswith("movt"):
        name = "movt"
    condition = "" if found.cc in _ALWAYS else _CONDITIONS[found.cc]
    written = tuple(
        _NUMBERS[register] for register in map(found.reg_name, found.regs_access()[1]) if register in _NUMBERS
    )
    return Operation(
        found.address,
        found.size,
        name,
        condition,
        bool(found.update_flags),
        operands,
        memory,
        written,
        *_system(found),
    )


def _system(found: capstone.CsInsn) -> tuple[str, bool]:
    if found.id == arm.ARM_INS_CPS:
        what = "faultmask" if "f" in found.op_str and "i" not in found.op_str else "primask"
        return what, found.mnemonic.startswith("cpsie")
    if found.id not in (arm.ARM_INS_MRS, arm.ARM_INS_MSR):
        return "", False
    words = re.split(r", *", found.op_str)
    return words[1 if found.id == arm.ARM_INS_MRS else 0].lower(), False


def _operand(found: capstone.CsInsn, one: arm.ArmOp) -> Operand:
    if one.type == arm.ARM_OP_IMM:
        return Operand(None, int(one.imm) & 0xFFFF_FFFF)
    name = found.reg_name(one.reg)
    if name not in _NUMBERS:
        return Operand(-1, 8 if name.startswith("d") else 4)
    return Operand(_NUMBERS[name], 0, int(one.shift.type), int(one.shift.value))


def _memory(found: capstone.CsInsn, one: arm.ArmOp) -> Memory:
    post = None
    if found.post_index:
        last = found.operands[-1]
        post = int(last.imm) if last.type == arm.ARM_OP_IMM else 0
    index = _NUMBERS.get(found.reg_name(one.mem.index)) if one.mem.index else None
    base = _NUMBERS[found.reg_name(one.mem.base)]
    return Memory(base, index, int(one.shift.value), int(one.mem.disp), bool(found.writeback), post)
