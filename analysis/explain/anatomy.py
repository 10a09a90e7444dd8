"""What a worst sample is made of: parts, a sentence, bands of time, calls, what its search read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

import capstone
import capstone.arm

from analysis.explain.execution import (
    Step,
    by_function,
    by_line,
    calls,
    dominating,
    without,
)
from analysis.explain.program import Program, encoded, vector
from analysis.explain.replay import Replay, Worst
from analysis.explain.sources import Sources, within
from base.run_folder.explanation import (
    MOST_CALLS,
    MOST_VISITED,
    Anatomy,
    Block,
    Call,
    HeapMap,
    Loop,
    Part,
    Piece,
    Search,
)
from base.run_folder.named_quantities import INTERRUPT, TASK
from simulator.outputs import Change, State

_MASKS = ("primask", "faultmask", "basepri")
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
    changed = sorted(_states(masks), key=lambda state: state.cycle)
    clamped = (state._replace(cycle=max(state.cycle, start)) for state in changed if state.cycle < end)
    # Of several changes in a cycle the last one holds.
    states = [*{state.cycle: state for state in (_State(start), *clamped)}.values()]
    quantity, woken = worst.quantity, states[-1].task

    def key(state: _State) -> tuple[str, str, int | None]:
        """What the time goes to, in words, and whose doing: of several, what holds others off."""
        if state.exception:
            entry = vector(program, state.exception) & ~1
            handler = program.function_at(entry)
            words = f"handler {handler.name}" if handler else f"exception {state.exception}"
            return "exception", words, entry or None
        if quantity == TASK and state.task == woken != states[0].task:
            return "running", _WOKEN, None
        if quantity == TASK and state.scheduler:
            return "scheduler", *state.scheduler
        if quantity not in (INTERRUPT, TASK):
            return "running", "the section's own code", None
        return next(
            (("masked", *held) for held in state.masks.values()), ("running", "nothing held it off", None)
        )

    spans = [(held, next(rows).cycle) for held, rows in groupby(states, key=key)]
    return [
        Part(
            what=what,  # type: ignore[arg-type]  # Pydantic checks it
            words=words,
            begin_cycle=begin,
            cycles=(following[1] if following else end) - begin,
            place="" if pc is None else program.place(pc),
            source="" if pc is None else program.source_line(pc),
        )
        for ((what, words, pc), begin), following in zip_longest(spans, spans[1:])
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
            held = {what: (f"interrupts masked by {what.upper()}{level}", seen)} if value else {}
            state = state._replace(masks=others | held)
        elif what == "scheduler":
            suspended = ("scheduler suspended", seen)
            state = state._replace(scheduler=(state.scheduler or suspended) if value else None)
        yield state


# The addresses that executed instructions read, told by the trace of the virtual board.

_LOADS = {"ldr": 4, "ldrd": 8, "ldrh": 2, "ldrb": 1, "ldrsh": 2, "ldrsb": 1}

Registers = Mapping[str, int]


def loads(trace: list[dict[str, Any]], heap: State, begin: State) -> Iterator[tuple[int, int]]:
    """When each load of a trace began, and from which address, by the registers before it. The
    trace goes on from `begin`, and memory is as in `heap`.

    One counts only if its register then holds what lay there before the sample. So a load whose
    condition failed is left out, and one of a word that was written since.
    """
    held = dict(begin.registers)
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
            address = _read(instruction, held, after, heap)
            if address is not None:
                yield entry["cycle"], address
        held = after


def _read(instruction: capstone.CsInsn, registers: Registers, after: Registers, before: State) -> int | None:
    """The address that the instruction read; None where it is no load, or read nothing."""
    size = _LOADS.get(instruction.mnemonic.partition(".")[0])
    memory = next(
        (operand for operand in instruction.operands if operand.type == capstone.arm.ARM_OP_MEM), None
    )
    if size is None or memory is None or memory.mem.base == capstone.arm.ARM_REG_PC:
        return None

    def value(of: Registers, number: int) -> int:
        """The virtual board's register: r9 to r12 have other names for capstone."""
        name = str(instruction.reg_name(number))
        return of[{"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}.get(name, name)]

    address = value(registers, memory.mem.base)
    if not instruction.post_index:
        index = value(registers, memory.mem.index) if memory.mem.index else 0
        address += (index << memory.shift.value) + memory.mem.disp
    held = value(after, instruction.operands[0].reg)
    there, size = address - before.sram_address, min(size, 4)
    if not 0 <= there < len(before.sram):
        return None
    lay = int.from_bytes(before.sram[there : there + size], "little")
    return address if lay == held & ((1 << 8 * size) - 1) else None


_SMALLEST_BLOCK_BYTES = 16
"""A header of 8 bytes and a payload of 8 (firmware/heap/block_layer.h)."""


def anatomy(
    program: Program,
    sources: Sources,
    replayed: Replay,
    worst: Worst,
    start: int,
    executed: Sequence[Step],
    parts: Sequence[Part],
    heap: HeapMap,
) -> Anatomy:
    """The anatomy of a sample that was replayed, and begins at cycle `start`."""
    whole = sum(step.cycles for step in executed)
    # Handlers, from where the core began to enter them.
    handlers = [part for part in parts if part.what == "exception"]
    away = [(part.begin_cycle, part.begin_cycle + part.cycles) for part in handlers]
    spans = calls(executed)
    ran = dominating(spans, executed, away)
    loop = None
    if ran is not None:
        place, source = program.place(ran.head), program.source_line(ran.head)
        stretches = [[begin - start, end - begin] for begin, end in ran.stretches]
        loop = Loop(place=place, source=source, passes=ran.passes, cycles=ran.cycles, stretches=stretches)
        most, cycles = f"{loop.passes:,} × the loop at {source or place}", loop.cycles
    else:
        # The handler, with all that it calls, or the function by itself.
        took: Counter[str] = Counter()
        for part in handlers:
            took[part.words] += part.cycles
        own = [step for step in executed if step.address and not within(away, step.cycle)]
        took.update({total.name: total.cycles for total in by_function(own)})
        most, cycles = next(iter(took.most_common(1)), ("nothing", 0))
    longest = set(sorted(spans, key=lambda call: call.begin - call.end)[:MOST_CALLS])
    shown = [
        Call(
            depth=call.depth,
            name=call.name,
            begin_cycle=call.begin - start,
            cycles=call.end - call.begin,
            own_cycles=sum(step.cycles for step in call.own),
            source=next((line.source for line in by_line(call.own)), ""),
        )
        for call in spans
        if call in longest
    ]
    # What an allocation read of the heap in the loop, or outside of handlers.
    search, region, asked_bytes = None, program.variable("heap_region"), worst.maximum.size
    if region is not None and worst.maximum.kind == "A" and asked_bytes is not None:
        times = ran.stretches if ran else list(without((start, start + whole), away))
        pieces = heap.pieces
        blocks = bool(pieces) and all(piece.what != "unknown" or not piece.bytes for piece in pieces)
        read = [
            address - region
            for cycle, address in loads(replayed.trace, replayed.heap, replayed.begin)
            if 0 <= address - region < heap.region_bytes and within(times, cycle)
        ]
        search = Search(
            region_address=region,
            asked_bytes=asked_bytes,
            blocks=blocks,
            visited=_visited(read, pieces, blocks)[:MOST_VISITED],
        )
    return Anatomy(
        schema=2,
        quantity=worst.quantity.name,  # type: ignore[arg-type]  # Pydantic checks it
        sentence=f"{most} took most: {100 * cycles / max(whole, 1):.0f} %, {cycles:,} of {whole:,} cycles.",
        cycles=whole,
        loop=loop,
        calls=shown,
        search=search,
        sources=sources.lines([*([loop.source] if loop else []), *(call.source for call in shown)]),
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
        place = Block(offset=offset, bytes=0)
        if blocks:
            piece = pieces[bisect_right(pieces, offset, key=lambda piece: piece.offset) - 1]
            place = Block(offset=piece.offset, bytes=piece.bytes)
        if not places or place != places[-1]:
            places.append(place)
    return places
