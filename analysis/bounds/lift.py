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


def lift(instruction: capstone.CsInsn) -> Operation:
    """What an instruction does. `instruction` has details."""
    operands = tuple(
        _operand(instruction, operand)
        for operand in instruction.operands
        if operand.type in (arm.ARM_OP_REG, arm.ARM_OP_IMM)
    )
    memory = next(
        (_memory(instruction, operand) for operand in instruction.operands if operand.type == arm.ARM_OP_MEM),
        None,
    )
    name = (
        instruction.mnemonic.partition(".")[0]
        if instruction.id == arm.ARM_INS_HINT
        else str(instruction.insn_name())
    )
    if instruction.mnemonic.startswith("movt"):
        name = "movt"
    condition = "" if instruction.cc in _ALWAYS else _CONDITIONS[instruction.cc]
    written = tuple(
        _NUMBERS[register]
        for register in map(instruction.reg_name, instruction.regs_access()[1])
        if register in _NUMBERS
    )
    return Operation(
        instruction.address,
        instruction.size,
        name,
        condition,
        bool(instruction.update_flags),
        operands,
        memory,
        written,
        *_system(instruction),
    )


def _system(instruction: capstone.CsInsn) -> tuple[str, bool]:
    if instruction.id == arm.ARM_INS_CPS:
        what = "faultmask" if "f" in instruction.op_str and "i" not in instruction.op_str else "primask"
        return what, instruction.mnemonic.startswith("cpsie")
    if instruction.id not in (arm.ARM_INS_MRS, arm.ARM_INS_MSR):
        return "", False
    words = re.split(r", *", instruction.op_str)
    return words[1 if instruction.id == arm.ARM_INS_MRS else 0].lower(), False


def _operand(instruction: capstone.CsInsn, operand: arm.ArmOp) -> Operand:
    if operand.type == arm.ARM_OP_IMM:
        return Operand(None, int(operand.imm) & 0xFFFF_FFFF)
    name = instruction.reg_name(operand.reg)
    if name not in _NUMBERS:
        return Operand(-1, 8 if name.startswith("d") else 4)
    return Operand(_NUMBERS[name], 0, int(operand.shift.type), int(operand.shift.value))


def _memory(instruction: capstone.CsInsn, operand: arm.ArmOp) -> Memory:
    post = None
    if instruction.post_index:
        last = instruction.operands[-1]
        post = int(last.imm) if last.type == arm.ARM_OP_IMM else 0
    index = _NUMBERS.get(instruction.reg_name(operand.mem.index)) if operand.mem.index else None
    base = _NUMBERS[instruction.reg_name(operand.mem.base)]
    return Memory(
        base, index, int(operand.shift.value), int(operand.mem.disp), bool(instruction.writeback), post
    )
