"""The control flow of one function, read from its machine code. Each instruction is a node.

Decoding follows the flow from the function's entry. So it never takes constants for code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import capstone
from capstone import arm

from analysis.errors import NoBoundError
from analysis.explain.program import Program

# Machine instructions as operations on registers and memory, for the analysis of values.


_NUMBERS = {f"r{number}": number for number in range(16)}
_NUMBERS |= {"sb": 9, "sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15}
SP, LR, PC = 13, 14, 15
MASK_NAMES = {"primask", "basepri", "basepri_max", "faultmask"}
_CONDITIONS = ("eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
OF_ZERO = {"cbz": "eq", "cbnz": "ne"}
"""Branches that compare a register with zero, and by which condition."""
INVERSE = {condition: _CONDITIONS[number ^ 1] for number, condition in enumerate(_CONDITIONS)}


@dataclass(frozen=True, slots=True)
class Operand:
    """A register, shifted by `shift` bits the way `how` says; or, without a register, a number.

    A register of floats is -1, and `number` has its bytes.
    """

    register: int | None
    number: int = 0
    how: int = 0
    shift: int = 0

    @property
    def core(self) -> int:
        """The number of one of r0 to lr; else -1."""
        return -1 if self.register is None or self.register == PC else self.register

    @property
    def bytes(self) -> int:
        """Of a register."""
        return self.number if self.register == -1 else 4


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
class Instruction:
    """One instruction. `name` has neither a condition nor the letter that sets flags. `kind` names
    its row of the cost table (costs.py).

    `condition` is "" for one that always executes, and `conditional` are those in an IT block. That
    of CBZ and CBNZ is of their register.
    A load or store transfers the registers `listed`, from or to an address made of the register
    `base` at the least. `words` is how many words these are; all others transfer none.
    `literal` is the address that a load relative to the PC reads. `system` names the special
    register of MRS and MSR, and what CPS changes: `primask` or `faultmask`, with `enables`.

    `call` is the entry of the function that it calls, or that it branches to without coming back.
    Of a call or a branch through a `pointer` that says why it is not known where it goes.
    """

    address: int
    size: int
    text: str
    name: str
    kind: str
    base: int | None
    listed: tuple[Operand, ...]
    condition: str
    conditional: bool
    sets_flags: bool
    operands: tuple[Operand, ...]
    memory: Memory | None
    written: tuple[int, ...]
    literal: int | None
    system: str
    enables: bool
    call: int | None = None
    pointer: str = ""

    @property
    def service(self) -> bool:
        """True of SVC, which calls its handler."""
        return self.name == "svc"

    @property
    def accesses(self) -> bool:
        """Whether it loads or stores."""
        return bool(self.listed)

    @property
    def loads(self) -> bool:
        """Whether it reads memory, if only a table of branches."""
        return self.kind == "table_branch" or (self.accesses and not self.stores)

    @property
    def words(self) -> int:
        return sum(operand.bytes for operand in self.listed) // 4

    @property
    def target(self) -> int:
        """Its first operand, if that is a register of the core; else -1."""
        first = self.operands[0].register if self.operands else None
        return -1 if first is None else first

    @property
    def touches(self) -> bool:
        """Whether it changes a mask."""
        return self.system in MASK_NAMES and self.name != "mrs"

    @property
    def unpredictable(self) -> bool:
        """Whether it uses the program counter as no instruction may (ARM DDI 0403E: A7.7, each
        instruction's UNPREDICTABLE): as a base that is written back, as an index, or as the target
        of what sets flags.
        """
        if self.memory is not None:
            return self.memory.index == PC or (self.memory.base == PC and self.memory.writeback)
        return (self.target == PC and self.sets_flags) or (self.base == PC and PC in self.written)

    @property
    def stores(self) -> bool:
        """Whether it writes memory."""
        return self.name.startswith(("st", "vst", "push", "vpush"))

    @property
    def addressed(self) -> set[int]:
        """The registers that its address is made of."""
        parts = (self.base,) if self.memory is None else (self.memory.base, self.memory.index)
        return {part for part in parts if part is not None}


def lift(instruction: capstone.CsInsn, conditional: bool) -> Instruction:
    """What an instruction is and does. `instruction` has details."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    kind = next((kind for pattern, kind in _KINDS if re.match(pattern, mnemonic)), "processing")
    if mnemonic.startswith("vmov") and len(operands) >= 3:
        kind = "pair_move"
    lifted: list[Operand] = []
    memory = literal = None
    for operand in operands:
        if operand.type == arm.ARM_OP_IMM:
            lifted.append(Operand(None, int(operand.imm) & 0xFFFF_FFFF))
        elif operand.type == arm.ARM_OP_REG:
            register = instruction.reg_name(operand.reg)
            floats = Operand(-1, 8 if register.startswith("d") else 4)
            shift = (int(operand.shift.type), int(operand.shift.value))
            lifted.append(Operand(_NUMBERS[register], 0, *shift) if register in _NUMBERS else floats)
        elif operand.type == arm.ARM_OP_MEM and memory is None:
            last = operands[-1]
            post = int(last.imm) if last.type == arm.ARM_OP_IMM else 0
            memory = Memory(
                base=_NUMBERS[instruction.reg_name(operand.mem.base)],
                index=_NUMBERS.get(instruction.reg_name(operand.mem.index)) if operand.mem.index else None,
                shift=int(operand.shift.value),
                offset=int(operand.mem.disp),
                writeback=bool(instruction.writeback),
                post=post if instruction.post_index else None,
            )
            if memory.base == PC and mnemonic.startswith("ldr"):
                literal = (int(instruction.address) + 4 & ~3) + memory.offset
    base, listed = None, list[Operand]()
    written = [*map(instruction.reg_name, instruction.regs_access()[1])]
    if kind in ("load", "store", "multiple"):
        if memory is not None:
            base, listed = memory.base, lifted[: 2 if kind == "multiple" else 1]
        elif mnemonic.startswith(("ldm", "stm", "vldm", "vstm")):
            base, listed = lifted[0].register, lifted[1:]
        else:
            base, listed = SP, lifted
            # Capstone leaves it out of VPUSH and VPOP.
            written.append("sp")
    # ADDW and SUBW are as ADD and SUB.
    name, system = str(instruction.insn_name()).removesuffix("w"), ""
    words = re.split(r", *", instruction.op_str)
    if name == "cps":
        system = "faultmask" if "f" in instruction.op_str and "i" not in instruction.op_str else "primask"
    elif name in ("mrs", "msr"):
        system = words[name == "mrs"].lower()
    return Instruction(
        address=int(instruction.address),
        size=int(instruction.size),
        text=f"{mnemonic} {instruction.op_str}".strip(),
        name=mnemonic.partition(".")[0] if name == "hint" else name,
        kind=kind,
        base=base,
        listed=tuple(listed),
        condition=OF_ZERO.get(mnemonic) or ("", *_CONDITIONS, "")[instruction.cc],
        conditional=conditional,
        sets_flags=bool(instruction.update_flags),
        operands=tuple(lifted),
        memory=memory,
        written=tuple(_NUMBERS[register] for register in written if register in _NUMBERS),
        literal=literal,
        system=system,
        enables=mnemonic.startswith("cpsie"),
    )


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
_LONGEST_RUN_BYTES = 4096
_WIDEST_BYTES = 4
# A branch by a table has its index compared within so many bytes before it.
_COMPARISON_BYTES = 16


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
        self.decoded: dict[int, Instruction] = {}
        """The instructions of all graphs, by address."""

    def flow(self, entry: int) -> Graph:
        """The flow of the function that begins at `entry`, as far as it can be followed. Raises
        NoBoundError if there is no function.
        """
        if entry not in self._graphs:
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
            self._graphs[entry] = graph
        return self._graphs[entry]

    def _run(self, graph: Graph, start: int, inside: range) -> Iterator[int]:
        """Adds the instructions from `start` up to a branch, and yields where that leads."""
        code = self._program.code(start, min(inside.stop - start, _LONGEST_RUN_BYTES))
        ruled = 0
        for instruction in self._decoder.disasm(code, start):
            address = int(instruction.address)
            if address in graph.instructions:
                return
            lifted = lift(instruction, conditional=ruled > 0)
            self.decoded[address] = lifted
            ruled = len(instruction.mnemonic) - 1 if lifted.name == "it" else max(ruled - 1, 0)
            why_not = pointer = ""
            try:
                targets, ends, call = self._flow(instruction, lifted, inside)
            except NoBoundError as error:
                why_not, targets, ends, call = str(error), [], False, None
                graph.unknown[address] = why_not
                pointer = why_not if lifted.name in ("blx", "bx") else ""
                # BLX comes back; a branch through a register is the function's last act.
                ends = bool(pointer) and lifted.name != "blx"
            if self._never and lifted.condition and self._program.source_line(address) in self._never:
                targets = []
            graph.instructions[address] = replace(lifted, call=call, pointer=pointer)
            if ends:
                graph.ends.add(address)
            stops = bool(why_not) and not pointer
            falls = not (ends or targets or stops) or lifted.conditional or bool(lifted.condition)
            following = address + lifted.size
            graph.after[address] = [(target, True) for target in targets]
            if falls:
                graph.after[address].append((following, False))
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

    def _flow(
        self, instruction: capstone.CsInsn, lifted: Instruction, inside: range
    ) -> tuple[list[int], bool, int | None]:
        """Targets inside the function; whether it may leave the function; the function it calls."""
        place, name = self._program.place(lifted.address), lifted.name
        if lifted.unpredictable:
            raise NoBoundError(f"{place} is UNPREDICTABLE: {instruction.mnemonic} {instruction.op_str}.")
        if name == "bl":
            return [], False, lifted.operands[0].number
        if name == "blx":
            raise NoBoundError(f"{place} calls through a pointer ({instruction.op_str}).")
        if name in OF_ZERO:
            return [lifted.operands[1].number], False, None
        if name == "b":
            target = lifted.operands[0].number
            return ([target], False, None) if target in inside else ([], True, target)
        if name in ("tbb", "tbh"):
            return self._table(lifted, inside), False, None
        if name == "bx":
            if instruction.op_str == "lr":
                return [], True, None
            raise NoBoundError(f"{place} branches through a register.")
        if name == "udf":
            # It raises a fault. A branch to itself stands for it: no path leads on from here.
            return [lifted.address], False, None
        if PC not in lifted.written:
            return [], False, None
        if name in ("pop", "ldm") or (name == "ldr" and "[sp]" in instruction.op_str):
            return [], True, None
        if name == "ldr" and lifted.literal is not None:
            # An address beside the code, as the linker's veneers read it.
            word = self._program.read_only(lifted.literal, _WIDEST_BYTES)
            if target := (word or 0) & ~1:
                return [], True, target
        if name == "ldr" and lifted.memory is not None and lifted.memory.index is not None:
            return self._table(lifted, inside), False, None
        raise NoBoundError(f"{place} computes where it goes ({instruction.op_str}).")

    def _table(self, branch: Instruction, inside: range) -> list[int]:
        """The targets of TBB or TBH, or of LDR PC, [table, index, LSL #2], where ADR names the
        table, or ADDW of the PC, which is the same (ARM DDI 0403E, A7.7.7). The comparison before
        it tells how many there are.
        """
        memory, pc = branch.memory, branch.address + 4
        before = range(branch.address - _COMPARISON_BYTES, branch.address, 2)
        recent = [self.decoded[at] for at in before if at in self.decoded]
        counts = [
            code.operands[1].number + 1
            for code in recent
            if code.name == "cmp"
            and memory
            and code.target == memory.index
            and code.operands[1].register is None
        ]
        width = {"tbb": 1, "tbh": 2}.get(branch.name, 4)
        tables = [
            (code.address + 4 & ~3) + code.operands[-1].number & 0xFFFF_FFFF
            for code in recent
            if memory and width == 4 and code.target == memory.base
            if code.name == "adr"
            or (code.name == "add" and [operand.register for operand in code.operands[1:]] == [PC, None])
        ]
        if width < 4 and memory and memory.base == PC:
            tables = [pc]
        if not counts or not tables:
            raise NoBoundError(f"{self._program.place(branch.address)} branches by a table of unknown size.")
        entries = self._program.code(tables[-1], counts[-1] * width)
        words = (int.from_bytes(entries[at : at + width], "little") for at in range(0, len(entries), width))
        if width < 4:
            return sorted({pc + 2 * word for word in words})
        return sorted({word & ~1 for word in words if word & ~1 in inside})
