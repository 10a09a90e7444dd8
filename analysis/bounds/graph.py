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

# Machine instructions as operations on registers and memory, for the analysis of values.


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


_LONGEST_RUN_BYTES = 4096
_WIDEST_BYTES = 4
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
    accesses: bool = False
    """Whether it loads or stores."""
    pointer: str = ""
    """Of a call or a branch through a pointer: why it is not known where it goes."""
    service: bool = False
    """True of SVC, which calls its handler."""


@dataclass
class Graph:
    """The flow of the function `name`: its instructions by address.

    `after` maps an address to the addresses that may follow, each with True if a taken branch leads
    there. The instructions in `ends` may leave the function. `unknown` says of an instruction why
    it is not known where it leads.
    """

    name: str
    instructions: dict[int, Instruction] = field(default_factory=dict)
    after: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)
    unknown: dict[int, str] = field(default_factory=dict)


class Disassembler:
    """Graphs of the functions of one program. The branches of the source lines `never` are not
    taken.
    """

    def __init__(self, program: Program, never: frozenset[str] = frozenset()) -> None:
        self._program = program
        self._never = never
        self._decoder = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
        self._decoder.detail = True
        self._graphs: dict[int, Graph] = {}
        self._decoded: dict[int, capstone.CsInsn] = {}
        self._operations: dict[int, Operation] = {}

    def graph(self, entry: int) -> Graph:
        """The flow of the function that begins at `entry`. Raises NoBoundError if some of it cannot
        be followed.
        """
        graph = self.flow(entry)
        for why_not in graph.unknown.values():
            raise NoBoundError(why_not)
        return graph

    def operation(self, address: int) -> Operation:
        """What an instruction of a graph does."""
        if address not in self._operations:
            self._operations[address] = lift(self._decoded[address])
        return self._operations[address]

    def flow(self, entry: int) -> Graph:
        """The flow of the function that begins at `entry`, as far as it can be followed. Raises
        NoBoundError if there is no function.
        """
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
        if entry not in graph.instructions:
            raise NoBoundError(f"{self._program.place(entry)} is called, and is no instruction.")
        return graph

    def _run(self, graph: Graph, start: int, inside: range) -> Iterator[int]:
        """Adds the instructions from `start` up to a branch, and yields where that leads."""
        code = self._program.code(start, min(inside.stop - start, _LONGEST_RUN_BYTES))
        ruled = 0
        for instruction in self._decoder.disasm(code, start):
            if instruction.address in graph.instructions:
                return
            self._decoded[instruction.address] = instruction
            conditional = ruled > 0
            ruled = len(instruction.mnemonic) - 1 if instruction.id == arm.ARM_INS_IT else max(ruled - 1, 0)
            why_not = pointer = ""
            try:
                targets, ends, call = self._flow(instruction, inside)
            except NoBoundError as error:
                why_not, targets, ends, call = str(error), [], False, None
                graph.unknown[instruction.address] = why_not
                pointer = why_not if _goes_through_register(instruction) else ""
                # BLX comes back; a branch through a register is the function's last act.
                ends = bool(pointer) and instruction.id != arm.ARM_INS_BLX
            if (
                self._never
                and self._program.source_line(instruction.address) in self._never
                and _may_fall(instruction)
            ):
                targets = []
            kind, registers = _kind(instruction)
            text, is_svc = (
                f"{instruction.mnemonic} {instruction.op_str}".strip(),
                instruction.id == arm.ARM_INS_SVC,
            )
            graph.instructions[instruction.address] = Instruction(
                instruction.address, instruction.size, text, kind, registers,
                _literal(instruction), call, conditional, kind in _ACCESSES, pointer, is_svc,
            )  # fmt: skip
            if ends:
                graph.ends.add(instruction.address)
            stops = bool(why_not) and not pointer
            falls = not (ends or targets or stops) or conditional or _may_fall(instruction)
            following = instruction.address + instruction.size
            graph.after[instruction.address] = [(target, True) for target in targets]
            if falls:
                graph.after[instruction.address].append((following, False))
            if targets or ends or stops:
                yield from targets
                if falls and not ruled:
                    yield following
                if not falls or not ruled:
                    return
        at = start
        while at in graph.instructions:
            last, at = at, at + graph.instructions[at].size
        if at - start + _WIDEST_BYTES > _LONGEST_RUN_BYTES:
            yield at
        elif at in inside and at > start:
            graph.unknown.setdefault(last, f"{self._program.place(at)} is reached, and is no instruction.")

    def _flow(self, instruction: capstone.CsInsn, inside: range) -> tuple[list[int], bool, int | None]:
        """Targets inside the function; whether it may leave the function; the function it calls."""
        if self.operation(instruction.address).unpredictable:
            raise NoBoundError(
                f"{self._program.place(instruction.address)} is UNPREDICTABLE: "
                f"{instruction.mnemonic} {instruction.op_str}."
            )
        if instruction.id in (arm.ARM_INS_BL,):
            return [], False, int(instruction.operands[0].imm)
        if instruction.id == arm.ARM_INS_BLX:
            raise NoBoundError(
                f"{self._program.place(instruction.address)} calls through a pointer ({instruction.op_str})."
            )
        if instruction.id in (arm.ARM_INS_CBZ, arm.ARM_INS_CBNZ):
            return [int(instruction.operands[1].imm)], False, None
        if instruction.id == arm.ARM_INS_B:
            target = int(instruction.operands[0].imm)
            if target in inside:
                return [target], False, None
            return [], True, target
        if instruction.id in (arm.ARM_INS_TBB, arm.ARM_INS_TBH):
            return self._table(instruction), False, None
        if instruction.id == arm.ARM_INS_BX:
            if instruction.op_str == "lr":
                return [], True, None
            raise NoBoundError(f"{self._program.place(instruction.address)} branches through a register.")
        if instruction.id == arm.ARM_INS_UDF:
            # It raises a fault. A branch to itself stands for it: no path leads on from here.
            return [instruction.address], False, None
        written = {instruction.reg_name(register) for register in instruction.regs_access()[1]}
        if "pc" in written:
            if instruction.id == arm.ARM_INS_POP or (
                instruction.id == arm.ARM_INS_LDR and "[sp]" in instruction.op_str
            ):
                return [], True, None
            if instruction.id == arm.ARM_INS_LDM:
                return [], True, None
            if instruction.id == arm.ARM_INS_LDR and (target := self._far_target(instruction)):
                return [], True, target
            if instruction.id == arm.ARM_INS_LDR and instruction.operands[1].mem.index:
                return self._word_table(instruction, inside), False, None
            raise NoBoundError(
                f"{self._program.place(instruction.address)} computes where it goes ({instruction.op_str})."
            )
        return [], False, None

    def _far_target(self, instruction: capstone.CsInsn) -> int:
        """Where LDR PC leads that reads an address beside the code, as the linker's veneers do; 0
        if it is no such one.
        """
        literal = _literal(instruction)
        word = None if literal is None else self._program.read_only(literal, _WIDEST_BYTES)
        return (word or 0) & ~1

    def _table(self, instruction: capstone.CsInsn) -> list[int]:
        """The targets of TBB or TBH. The comparison before it tells how many there are."""
        count = self._entries(instruction, instruction.operands[0].mem.index)
        if not count or instruction.reg_name(instruction.operands[0].mem.base) != "pc":
            raise NoBoundError(
                f"{self._program.place(instruction.address)} branches by a table of unknown size."
            )
        width = 1 if instruction.id == arm.ARM_INS_TBB else 2
        base = instruction.address + 4
        entries = self._program.code(base, count * width)
        steps = [entries[at : at + width] for at in range(0, len(entries), width)]
        return sorted({base + 2 * int.from_bytes(step, "little") for step in steps})

    def _word_table(self, instruction: capstone.CsInsn, inside: range) -> list[int]:
        """The targets of LDR PC, [table, index, LSL #2], where ADR names the table."""
        memory = instruction.operands[1].mem
        count = self._entries(instruction, memory.index)
        tables = [
            (int(recent.address) + 4 & ~3) + int(recent.operands[-1].imm)
            for recent in self._recent(instruction)
            if _is_address(recent) and recent.operands[0].reg == memory.base
        ]
        if not count or not tables:
            raise NoBoundError(
                f"{self._program.place(instruction.address)} branches by a table of unknown size."
            )
        entries = self._program.code(tables[-1], 4 * count)
        words = {int.from_bytes(entries[at : at + 4], "little") & ~1 for at in range(0, len(entries), 4)}
        return sorted(word for word in words if word in inside)

    def _entries(self, instruction: capstone.CsInsn, index: int) -> int:
        """How many entries a table of branches has; 0 if that is not known."""
        counts = [
            int(recent.operands[1].imm) + 1
            for recent in self._recent(instruction)
            if recent.id == arm.ARM_INS_CMP
            and recent.operands[0].reg == index
            and recent.operands[1].type == arm.ARM_OP_IMM
        ]
        return counts[-1] if counts else 0

    def _recent(self, instruction: capstone.CsInsn) -> list[capstone.CsInsn]:
        """The instructions right before one, in the order of their addresses."""
        before = range(instruction.address - _COMPARISON_BYTES, instruction.address, 2)
        return [self._decoded[at] for at in before if at in self._decoded]


def _is_address(instruction: capstone.CsInsn) -> bool:
    """Whether it is ADR, or ADDW of the PC, which is the same (ARM DDI 0403E, A7.7.7)."""
    adds = instruction.id in (arm.ARM_INS_ADD, arm.ARM_INS_ADDW) and len(instruction.operands) == 3
    from_here = adds and instruction.operands[1].reg == arm.ARM_REG_PC
    return instruction.id == arm.ARM_INS_ADR or (from_here and instruction.operands[2].type == arm.ARM_OP_IMM)


def _goes_through_register(instruction: capstone.CsInsn) -> bool:
    return instruction.id in (arm.ARM_INS_BLX, arm.ARM_INS_BX)


def _may_fall(instruction: capstone.CsInsn) -> bool:
    return instruction.id in (arm.ARM_INS_CBZ, arm.ARM_INS_CBNZ) or instruction.cc not in (
        arm.ARM_CC_AL,
        arm.ARM_CC_INVALID,
    )


def _literal(instruction: capstone.CsInsn) -> int | None:
    if not instruction.mnemonic.startswith("ldr"):
        return None
    for operand in instruction.operands:
        if operand.type == arm.ARM_OP_MEM and instruction.reg_name(operand.mem.base) == "pc":
            return (int(instruction.address) + 4 & ~3) + int(operand.mem.disp)
    return None


_KINDS = (
    (r"(u|s)div", "divide"),
    (r"vf?n?m[l]?[as]", "float_accumulate"),
    (r"ml[as]", "accumulate"),
    (r"[us]mull", "long_multiply"),
    (r"[us]mlal", "long_accumulate"),
    (r"tb[bh]", "table_branch"),
    (r"(cbz|cbnz|bx|blx)", "late_branch"),
    (r"bl?(\.w)?$|b(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|cs|cc)(\.w)?$", "branch"),
    (r"pop|push|ldm|stm|ldrd|strd|vpush|vpop|vldm|vstm", "multiple"),
    (r"v?ldr", "load"),
    (r"v?str", "store"),
    (r"mrs|msr|cps|v?mrs|vmsr|dsb|dmb|isb", "special"),
    (r"vdiv|vsqrt", "float_divide"),
)


_ACCESSES = {"load", "store", "multiple"}


def _kind(instruction: capstone.CsInsn) -> tuple[str, int]:
    """The row of the cost table, and how many registers a multiple load or store transfers."""
    if instruction.mnemonic.startswith("vmov") and len(instruction.operands) >= 3:
        return "pair_move", 0
    kind = next((kind for pattern, kind in _KINDS if re.match(pattern, instruction.mnemonic)), "processing")
    if kind != "multiple":
        return kind, 0
    if instruction.mnemonic.startswith(("ldrd", "strd")):
        return kind, 2
    registers = [operand for operand in instruction.operands if operand.type == arm.ARM_OP_REG]
    doubles = sum(instruction.reg_name(register.reg).startswith("d") for register in registers)
    has_base = instruction.mnemonic.startswith(("ldm", "stm", "vldm", "vstm"))
    return kind, len(registers) + doubles - has_base
