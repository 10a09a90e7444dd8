"""What a worst sample is made of: the sentence, bands of time, calls, and what its search read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import capstone
import capstone.arm

from analysis.explain.calls import (
    Called,
    Ran,
    Stretch,
    calls,
    dearest_source,
    dominating,
    own_cycles,
    without,
)
from analysis.explain.execution import Step, by_function
from analysis.explain.parts import WOKEN
from analysis.explain.program import Program
from analysis.explain.replay import Replay
from analysis.explain.sources import Sources
from analysis.explain.worst import Worst
from base.anatomy import MOST_CALLS, MOST_VISITED, Anatomy, Band, Block, Call, Loop, Search
from base.run_folder.explanation import HeapMap, Part, Piece
from base.run_folder.named_quantities import INTERRUPT
from simulator.outputs import State

# The addresses that executed instructions read, told by the trace of the virtual board.


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


_SMALLEST_BLOCK_BYTES = 16
"""A header of 8 bytes and a payload of 8 (firmware/heap/block_layer.h)."""
_REGION, _ALLOCATE = "heap_region", "allocator_allocate"


@dataclass(frozen=True)
class Known:
    """What the replay and the explanation know of a sample, which begins at cycle `start`."""

    program: Program
    sources: Sources
    replayed: Replay
    worst: Worst
    start: int
    executed: Sequence[Step]
    parts: Sequence[Part]
    heap: HeapMap

    @cached_property
    def cycles(self) -> int:
        """How long it lasted."""
        return sum(step.cycles for step in self.executed)

    @cached_property
    def away(self) -> list[Stretch]:
        """When handlers ran, from where the core began to enter them."""
        parts = filter(_handler, self.parts)
        return [(part.begin_cycle, part.begin_cycle + part.cycles) for part in parts]


def anatomy(measured: Known) -> Anatomy:
    """The anatomy of a sample that was replayed."""
    spans = calls(measured.executed)
    ran = dominating(spans, measured.executed, measured.away)
    loop = None if ran is None else _loop(measured.program, ran)
    shown = _calls(spans, measured)
    places = [loop.source] if loop else []
    return Anatomy(
        schema=1,
        quantity=measured.worst.quantity.name,  # type: ignore[arg-type]  # Pydantic checks it
        sentence=_sentence(measured, loop),
        cycles=measured.cycles,
        loop=loop,
        bands=bands(measured.parts, ran, measured.start, answered=measured.worst.quantity == INTERRUPT),
        calls=shown,
        search=_search(measured, ran),
        sources=measured.sources.lines([*places, *(call.source for call in shown)]),
    )


def _sentence(measured: Known, loop: Loop | None) -> str:
    """What took most of the time: the loop; else the handler, or the function by itself, that did.

    A handler counts with all that it calls.
    """
    if loop is not None:
        times = "1 pass" if loop.passes == 1 else f"{loop.passes:,} passes"
        return (
            f"{times} of the loop at {loop.source or loop.place} took {_share(loop.cycles, measured.cycles)}."
        )
    took: Counter[str] = Counter()
    for part in filter(_handler, measured.parts):
        took[part.words] += part.cycles
    own = [step for step in measured.executed if step.address and not _within(step.cycle, measured.away)]
    took.update({total.name: total.cycles for total in by_function(own)})
    if not took:
        return "Nothing was executed."
    most, cycles = max(took.items(), key=lambda item: item[1])
    return f"No loop took half of it; {most} took most, {_share(cycles, measured.cycles)}."


def _share(cycles: int, whole: int) -> str:
    return f"{100 * cycles / max(whole, 1):.0f} %: {cycles:,} of {whole:,} cycles"


def _loop(program: Program, ran: Ran) -> Loop:
    place, source = program.place(ran.head), program.source_line(ran.head)
    return Loop(place=place, source=source, passes=ran.passes, cycles=ran.cycles)


def _handler(part: Part) -> bool:
    return part.what == "exception"


def bands(parts: Sequence[Part], ran: Ran | None, start: int, *, answered: bool) -> list[Band]:
    """The time in bands, without gaps. With `answered` the last handler is the one that is waited
    for.
    """
    loop = ran.stretches if ran else ()
    cut = [piece for part in parts for piece in _pieces(part, loop, part is parts[-1] and answered)]
    first = next((begin for what, _, begin, _ in cut if what == "loop"), None)
    named = [(what, words or _beside(begin, first), begin, cycles) for what, words, begin, cycles in cut]
    merged = []
    for (what, words), several in groupby(named, key=lambda item: item[:2]):
        rows = list(several)
        cycles = sum(row[3] for row in rows)
        merged.append(Band(what=what, words=words, begin_cycle=rows[0][2] - start, cycles=cycles))
    return merged


What = Literal["entry", "loop", "interrupt", "rest"]


def _pieces(part: Part, loop: Sequence[Stretch], entry: bool) -> Iterator[tuple[What, str, int, int]]:
    """A part as (what, words, begin, cycles); the words of the rest are left open."""
    begin, end = part.begin_cycle, part.begin_cycle + part.cycles
    if _handler(part):
        name = part.words.removeprefix("handler ")
        yield ("entry" if entry else "interrupt"), f"entry of {name}" if entry else name, begin, end - begin
        return
    inside = [(max(begin, low), min(end, high)) for low, high in loop if low < end and high > begin]
    outside = list(without((begin, end), inside))
    for low, high in sorted([*inside, *outside]):
        what: What = "loop" if (low, high) in inside else "rest"
        words = "the loop" if what == "loop" else part.words if part.words == WOKEN else ""
        yield what, words, low, high - low


def _beside(begin: int, loop: int | None) -> str:
    if loop is None:
        return "other code"
    return "before the loop" if begin < loop else "after the loop"


def _calls(spans: Sequence[Called], measured: Known) -> list[Call]:
    longest = sorted(spans, key=lambda call: call.begin - call.end)[:MOST_CALLS]
    longest_ids = set(map(id, longest))
    return [
        Call(
            depth=call.depth,
            name=call.name,
            begin_cycle=call.begin - measured.start,
            cycles=call.end - call.begin,
            own_cycles=own_cycles(call, measured.executed),
            source=dearest_source(call, measured.executed),
        )
        for call in spans
        if id(call) in longest_ids
    ]


def _search(measured: Known, ran: Ran | None) -> Search | None:
    """What an allocation read of the heap: its loop if one took most, else all of it."""
    region = measured.program.data_address(_REGION)
    maximum, end = measured.worst.maximum, measured.start + measured.cycles
    if region is None or maximum.kind != "A" or maximum.size is None:
        return None
    times = list(without((measured.start, end), measured.away)) if ran is None else ran.stretches
    pieces = measured.heap.pieces
    blocks = bool(pieces) and all(piece.what != "unknown" or not piece.bytes for piece in pieces)
    read = [
        load.address - region
        for load in loads(measured.replayed.trace, measured.replayed.heap, measured.replayed.begin.registers)
        if 0 <= load.address - region < measured.heap.region_bytes and _within(load.cycle, times)
    ]
    return Search(
        region_address=region,
        asked_bytes=maximum.size,
        blocks=blocks,
        visited=_visited(read, pieces, blocks)[:MOST_VISITED],
        served=_served(measured, region, blocks),
    )


def _visited(read: Sequence[int], pieces: Sequence[Piece], blocks: bool) -> list[Block]:
    """The blocks that these reads are of, one after another. Without known blocks reads that lie
    closer than the smallest block are of one place, that of the first: a block's size, flags and
    links are several words.
    """
    places: list[Block] = []
    for offset in read:
        if blocks:
            place = _place(offset, pieces)
        elif places and abs(offset - places[-1].offset) < _SMALLEST_BLOCK_BYTES:
            continue
        else:
            place = Block(offset=offset, bytes=0)
        if not places or place != places[-1]:
            places.append(place)
    return places


def _within(cycle: int, times: Sequence[Stretch]) -> bool:
    return any(begin <= cycle < end for begin, end in times)


def _place(offset: int, pieces: Sequence[Piece]) -> Block:
    """The block that has this byte."""
    piece = pieces[bisect_right(pieces, offset, key=lambda piece: piece.offset) - 1]
    return Block(offset=piece.offset, bytes=piece.bytes)


def _served(measured: Known, region: int, blocks: bool) -> Block | None:
    """The block that the allocation got; None where it had not returned when the sample ended.

    Its result lies where its caller told in R0 (AAPCS32, 6.4), on the caller's stack.
    """
    function = measured.program.function(_ALLOCATE)
    if function is None:
        return None
    at, returned = _result_at(measured, function.address)
    payload = measured.replayed.end.word(at) if at is not None and returned else None
    if payload is None or not 0 <= payload - region < measured.heap.region_bytes:
        return None
    offset = payload - region
    if blocks:
        return _place(offset, measured.heap.pieces)
    return Block(offset=offset, bytes=measured.worst.maximum.size or 0)


def _result_at(measured: Known, entry: int) -> tuple[int | None, bool]:
    """Where the result of the function at `entry` goes, and whether it had returned by the end."""
    end = measured.start + measured.cycles
    registers = dict(measured.replayed.begin.registers)
    at: int | None = None
    back: int | None = None
    for step in measured.replayed.trace:
        if step["cycle"] >= end:
            break
        pc = int(step["pc"], 16) if "pc" in step else None
        if pc == entry and at is None:
            at, back = registers["r0"], registers["lr"] & ~1
        elif at is not None and pc == back:
            return at, True
        registers |= {name: int(value, 16) for name, value in step.get("registers", {}).items()}
    return at, False
