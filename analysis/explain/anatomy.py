"""What a worst sample is made of: parts, a sentence, bands of time, calls, what its search read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple

import capstone
import capstone.arm

from analysis.explain.execution import (
    Ran,
    Step,
    Stretch,
    by_function,
    calls,
    dearest_source,
    dominating,
    own_cycles,
    without,
)
from analysis.explain.program import Program, encoded
from analysis.explain.replay import Replay, Worst
from analysis.explain.sources import Sources
from base.anatomy import MOST_CALLS, MOST_VISITED, Anatomy, Band, Block, Call, Loop, Search
from base.run_folder.explanation import HeapMap, Part, Piece
from base.run_folder.named_quantities import INTERRUPT, TASK
from simulator.outputs import Change, State
from simulator.program import FLASH_ADDRESS

_MASKS = {"primask": "PRIMASK", "faultmask": "FAULTMASK", "basepri": "BASEPRI"}
_WORD_BYTES = 4
_WOKEN = "the woken task"

# A sample's cycles in parts, by the board's log of what holds interrupts and tasks off
# (docs/reference/simulator-files.md).

_Held = tuple[str, int | None]
"""A mask or the scheduler's lock in words, and the instruction that set it, if that was seen."""


class _State(NamedTuple):
    """The state from `cycle` on. `masks` are in the order in which they were set."""

    cycle: int
    exception: int = 0
    masks: Mapping[str, _Held] = {}
    scheduler: _Held | None = None
    task: int | None = None


def parts(program: Program, masks: Sequence[Change], worst: Worst, start: int, end: int) -> list[Part]:
    """The parts from cycle `start` to before `end`; they are without gaps.

    An exception lasts from where the core begins to enter it to where it is back from it. A mask
    counts in an interrupt's and a task's latency. In a task's the scheduler's lock does too, before
    masks within it, and what the woken task does itself is no waiting.
    """
    states = sorted(_states(masks), key=lambda state: state.cycle)
    before = [state for state in states if state.cycle <= start]
    first = (before[-1] if before else _State(start))._replace(cycle=start)
    states = [first, *(state for state in states if start < state.cycle < end)]
    quantity, woken = worst.quantity, states[-1].task

    def key(state: _State) -> tuple[str, str, int | None]:
        """What the time goes to, in words, and whose doing: of several, what holds others off."""
        if state.exception:
            # The address of its handler, from the vector table.
            word = program.code(FLASH_ADDRESS + state.exception * _WORD_BYTES, _WORD_BYTES)
            entry = int.from_bytes(word, "little") & ~1 if word else None
            handler = None if entry is None else program.function_at(entry)
            words = f"handler {handler.name}" if handler else f"exception {state.exception}"
            return "exception", words, entry
        if quantity == TASK and state.task == woken != first.task:
            return "running", _WOKEN, None
        if quantity == TASK and state.scheduler:
            return "scheduler", *state.scheduler
        if quantity not in (INTERRUPT, TASK):
            return "running", "the section's own code", None
        return next(
            (("masked", *held) for held in state.masks.values()), ("running", "nothing held it off", None)
        )

    spans: list[tuple[tuple[str, str, int | None], int]] = []
    for state in states:
        if spans and spans[-1][1] == state.cycle:
            spans.pop()
        if not spans or spans[-1][0] != key(state):
            spans.append((key(state), state.cycle))
    ends = [*(cycle for _, cycle in spans[1:]), end]
    return [
        Part(
            what=what,  # type: ignore[arg-type]  # Pydantic checks it
            words=words,
            begin_cycle=begin,
            cycles=until - begin,
            place="" if pc is None else program.place(pc),
            source="" if pc is None else program.source_line(pc),
        )
        for ((what, words, pc), begin), until in zip(spans, ends, strict=True)
    ]


def _states(masks: Sequence[Change]) -> Iterator[_State]:
    """The state after each change. What the log begins with was set before, nobody knows where."""
    state, active, began_at = _State(0), [0], masks[0].cycle if masks else None
    for cycle, what, value, pc, began, task, _ in masks:
        seen = None if cycle == began_at else pc
        state = state._replace(cycle=cycle, task=task)
        if what == "exception":
            if value in active:
                del active[active.index(value) + 1 :]
            else:
                active.append(value)
                state = state._replace(cycle=cycle if began is None else began)
            state = state._replace(exception=value)
        elif what in _MASKS:
            others = {mask: held for mask, held in state.masks.items() if mask != what}
            level = f" {value:#x}" if what == "basepri" else ""
            held = {what: (f"interrupts masked by {_MASKS[what]}{level}", seen)} if value else {}
            state = state._replace(masks=others | held)
        elif what == "scheduler":
            suspended = ("scheduler suspended", seen)
            state = state._replace(scheduler=(state.scheduler or suspended) if value else None)
        yield state


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
    decoder = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    decoder.detail = True

    @cache
    def decoded(pc: int, opcode: int) -> list[capstone.CsInsn]:
        """A search executes the same instructions many times."""
        return list(decoder.disasm(encoded(opcode), pc, 1))

    for entry in trace:
        if "opcode" not in entry:
            continue
        after = held | {name: int(value, 16) for name, value in entry["registers"].items()}
        for instruction in decoded(int(entry["pc"], 16), int(entry["opcode"], 16)):
            address = _read(instruction, held, after, before)
            if address is not None:
                yield Load(entry["cycle"], address)
        held = after


def _read(instruction: capstone.CsInsn, registers: Registers, after: Registers, before: State) -> int | None:
    """The address that the instruction read; None where it is no load, or read nothing."""
    size = _LOADS.get(instruction.mnemonic.partition(".")[0])
    memory = next(
        (operand for operand in instruction.operands if operand.type == capstone.arm.ARM_OP_MEM), None
    )
    if size is None or memory is None or memory.mem.base == capstone.arm.ARM_REG_PC:
        return None

    def register(number: int) -> str:
        """As the virtual board calls it: r9 to r12 have other names for capstone."""
        name = str(instruction.reg_name(number))
        return {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}.get(name, name)

    address = registers[register(memory.mem.base)]
    if not instruction.post_index:
        index = registers[register(memory.mem.index)] if memory.mem.index else 0
        address += (index << memory.shift.value) + memory.mem.disp
    held = after[register(instruction.operands[0].reg)]
    there, size = address - before.sram_address, min(size, 4)
    if not 0 <= there < len(before.sram):
        return None
    lay = int.from_bytes(before.sram[there : there + size], "little")
    return address if lay == held & ((1 << 8 * size) - 1) else None


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
    def handlers(self) -> list[Part]:
        """Those that ran, from where the core began to enter them."""
        return [part for part in self.parts if part.what == "exception"]

    @cached_property
    def away(self) -> list[Stretch]:
        """When handlers ran."""
        return [(part.begin_cycle, part.begin_cycle + part.cycles) for part in self.handlers]


def anatomy(measured: Known) -> Anatomy:
    """The anatomy of a sample that was replayed."""
    program, executed = measured.program, measured.executed
    spans = calls(executed)
    ran = dominating(spans, executed, measured.away)
    loop = None
    if ran is not None:
        place, source = program.place(ran.head), program.source_line(ran.head)
        loop = Loop(place=place, source=source, passes=ran.passes, cycles=ran.cycles)
    longest = set(map(id, sorted(spans, key=lambda call: call.begin - call.end)[:MOST_CALLS]))
    shown = [
        Call(
            depth=call.depth,
            name=call.name,
            begin_cycle=call.begin - measured.start,
            cycles=call.end - call.begin,
            own_cycles=own_cycles(call, executed),
            source=dearest_source(call, executed),
        )
        for call in spans
        if id(call) in longest
    ]
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
        passes = f"{loop.passes:,} pass{'' if loop.passes == 1 else 'es'}"
        words, cycles = f"{passes} of the loop at {loop.source or loop.place} took", loop.cycles
    else:
        took: Counter[str] = Counter()
        for part in measured.handlers:
            took[part.words] += part.cycles
        own = [step for step in measured.executed if step.address and not _within(step.cycle, measured.away)]
        took.update({total.name: total.cycles for total in by_function(own)})
        if not took:
            return "Nothing was executed."
        ((most, cycles),) = took.most_common(1)
        words = f"No loop took half of it; {most} took most,"
    whole = measured.cycles
    return f"{words} {100 * cycles / max(whole, 1):.0f} %: {cycles:,} of {whole:,} cycles."


What = Literal["entry", "loop", "interrupt", "rest"]


def bands(parts: Sequence[Part], ran: Ran | None, start: int, *, answered: bool) -> list[Band]:
    """The time in bands, without gaps. With `answered` the last handler is the one that is waited
    for.
    """
    loop = ran.stretches if ran else ()
    cut = [piece for part in parts for piece in _pieces(part, loop, part is parts[-1] and answered)]
    first = next((begin for what, _, begin, _ in cut if what == "loop"), None)
    named: list[tuple[What, str, int, int]] = []
    for what, words, begin, cycles in cut:
        if not words:
            words = "other code" if first is None else f"{'before' if begin < first else 'after'} the loop"
        named.append((what, words, begin, cycles))
    merged = []
    for (what, words), several in groupby(named, key=lambda item: item[:2]):
        rows = list(several)
        cycles = sum(row[3] for row in rows)
        merged.append(Band(what=what, words=words, begin_cycle=rows[0][2] - start, cycles=cycles))
    return merged


def _pieces(part: Part, loop: Sequence[Stretch], entry: bool) -> Iterator[tuple[What, str, int, int]]:
    """A part as (what, words, begin, cycles); the words of the rest are left open."""
    begin, end = part.begin_cycle, part.begin_cycle + part.cycles
    if part.what == "exception":
        name = part.words.removeprefix("handler ")
        yield ("entry" if entry else "interrupt"), f"entry of {name}" if entry else name, begin, end - begin
        return
    inside = [(max(begin, low), min(end, high)) for low, high in loop if low < end and high > begin]
    for low, high in sorted([*inside, *without((begin, end), inside)]):
        is_loop = (low, high) in inside
        words = "the loop" if is_loop else part.words if part.words == _WOKEN else ""
        yield "loop" if is_loop else "rest", words, low, high - low


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
    # The block that it got; None where it had not returned when the sample ended.
    payload = _result(measured)
    served = None
    if payload is not None and 0 <= payload - region < measured.heap.region_bytes:
        offset = payload - region
        served = _block_at(offset, pieces) if blocks else Block(offset=offset, bytes=maximum.size)
    return Search(
        region_address=region,
        asked_bytes=maximum.size,
        blocks=blocks,
        visited=_visited(read, pieces, blocks)[:MOST_VISITED],
        served=served,
    )


def _visited(read: Sequence[int], pieces: Sequence[Piece], blocks: bool) -> list[Block]:
    """The blocks that these reads are of, one after another. Without known blocks reads that lie
    closer than the smallest block are of one place, that of the first: a block's size, flags and
    links are several words.
    """
    places: list[Block] = []
    for offset in read:
        if not blocks and places and abs(offset - places[-1].offset) < _SMALLEST_BLOCK_BYTES:
            continue
        place = _block_at(offset, pieces) if blocks else Block(offset=offset, bytes=0)
        if not places or place != places[-1]:
            places.append(place)
    return places


def _within(cycle: int, times: Sequence[Stretch]) -> bool:
    return any(begin <= cycle < end for begin, end in times)


def _block_at(offset: int, pieces: Sequence[Piece]) -> Block:
    """The block that has this byte."""
    piece = pieces[bisect_right(pieces, offset, key=lambda piece: piece.offset) - 1]
    return Block(offset=piece.offset, bytes=piece.bytes)


def _result(measured: Known) -> int | None:
    """What the allocation returned; None where it had not when the sample ended.

    Its result lies where its caller told in R0 (AAPCS32, 6.4), on the caller's stack.
    """
    function = measured.program.function(_ALLOCATE)
    registers = dict(measured.replayed.begin.registers)
    at: int | None = None
    back: int | None = None
    for step in measured.replayed.trace:
        if function is None or step["cycle"] >= measured.start + measured.cycles:
            break
        pc = int(step["pc"], 16) if "pc" in step else None
        if pc == function.address and at is None:
            at, back = registers["r0"], registers["lr"] & ~1
        elif at is not None and pc == back:
            return measured.replayed.end.word(at)
        registers |= {name: int(value, 16) for name, value in step.get("registers", {}).items()}
    return None
