"""The addresses that executed instructions read, told by the trace of the virtual board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import capstone
import capstone.arm

from simulator.outputs import State

_LOADS = {"ldr": 4, "ldrd": 8, "ldrh": 2, "ldrb": 1, "ldrsh": 2, "ldrsb": 1}

Registers = Mapping[str, int]


@dataclass(frozen=True)
class Load:
    """A load that began at `cycle`, from `address`."""

    cycle: int
    address: int


def loads(
    trace: Sequence[Mapping[str, Any]], before: State, registers: Registers | None = None
) -> Iterator[Load]:
    """The loads of a trace, in order, by the registers before each.

    One counts only if its register then holds what lay there `before`. So a load whose condition
    failed is left out, and one of a word that was written since. `registers` are those at the
    beginning of the trace; without them those of `before`.
    """
    held = dict(before.registers if registers is None else registers)
    decoder = _Decoder()
    for entry in trace:
        if "opcode" not in entry:
            continue
        after = held | {name: int(value, 16) for name, value in entry["registers"].items()}
        for instruction in decoder.of(int(entry["pc"], 16), int(entry["opcode"], 16)):
            address = _read(instruction, held, after, before)
            if address is not None:
                yield Load(entry["cycle"], address)
        held = after


class _Decoder:
    """Decodes each instruction once: a search executes the same ones many times."""

    def __init__(self) -> None:
        self._capstone = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
        self._capstone.detail = True
        self._known: dict[tuple[int, int], list[capstone.CsInsn]] = {}

    def of(self, pc: int, opcode: int) -> list[capstone.CsInsn]:
        """The instruction at `pc`; nothing where it is none."""
        if (pc, opcode) not in self._known:
            halves = (opcode >> 16, opcode & 0xFFFF) if opcode > 0xFFFF else (opcode,)
            code = b"".join(half.to_bytes(2, "little") for half in halves)
            self._known[pc, opcode] = list(self._capstone.disasm(code, pc, 1))
        return self._known[pc, opcode]


def _read(instruction: capstone.CsInsn, registers: Registers, after: Registers, before: State) -> int | None:
    """The address that the instruction read; None where it is no load, or read nothing."""
    size = _LOADS.get(instruction.mnemonic.partition(".")[0])
    memory = next(
        (operand for operand in instruction.operands if operand.type == capstone.arm.ARM_OP_MEM), None
    )
    if size is None or memory is None or memory.mem.base == capstone.arm.ARM_REG_PC:
        return None
    address = registers[_called(instruction, memory.mem.base)]
    if not instruction.post_index:
        index = registers[_called(instruction, memory.mem.index)] if memory.mem.index else 0
        address += (index << memory.shift.value) + memory.mem.disp
    held = after[_called(instruction, instruction.operands[0].reg)]
    there = address - before.sram_address
    bits = (1 << 8 * min(size, 4)) - 1
    if not 0 <= there < len(before.sram):
        return None
    lay = int.from_bytes(before.sram[there : there + min(size, 4)], "little")
    return address if lay == held & bits else None


def _called(instruction: capstone.CsInsn, register: int) -> str:
    """A register as the virtual board calls it: r9 to r12 have other names for capstone."""
    name = str(instruction.reg_name(register))
    return {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}.get(name, name)
