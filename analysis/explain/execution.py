"""The instructions of the worst sample with their cycles, and the call stack at an instant.

A stack is made as the simulator does it for its log of masks (`observe/stacks` of its crate
`machine`): it ends where nothing tells the caller. It may be short, but no frame is guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from analysis.explain.program import Program
from base.files.elf import DAMAGED
from base.run_folder.explanation import Frame, Total
from simulator.outputs import State

EXCEPTION = 0
"""The address of a step that enters or leaves an exception."""


@dataclass(frozen=True)
class Step:
    """An instruction that began at `cycle` and took `cycles`, its stalls included."""

    cycle: int
    cycles: int
    address: int
    function: str
    place: str
    text: str
    source: str


def steps(program: Program, trace: Iterable[dict[str, Any]], start: int, end: int) -> list[Step]:
    """The steps from cycle `start` to before cycle `end`.

    Of the instruction under way at `start` only the rest counts. The cycles between two
    instructions belong to the first. Entering or leaving an exception is a step of its own.
    """
    entries = [entry for entry in trace if entry["cycle"] < end]
    first = max((n for n, entry in enumerate(entries) if entry["cycle"] <= start), default=0)
    executed = []
    for entry, then in zip(entries[first:], [*entries[first + 1 :], {"cycle": end}], strict=True):
        cycle = max(entry["cycle"], start)
        cycles = then["cycle"] - cycle
        if "mode" in entry:
            text = f"now in {entry['mode']}"
            executed.append(Step(cycle, cycles, EXCEPTION, "(exception)", "(exception)", text, ""))
            continue
        address = int(entry["pc"], 16)
        function = program.function_at(address)
        name = function.name if function else "(no function)"
        text = program.instruction_text(address, int(entry["opcode"], 16))
        place, source = program.place(address), program.source_line(address)
        executed.append(Step(cycle, cycles, address, name, place, text, source))
    return executed


def by_function(executed: Iterable[Step]) -> list[Total]:
    """Totals by function, the most expensive first. Executions count instructions."""
    return _totals((step.function, "", step.cycles) for step in executed)


def by_instruction(executed: Iterable[Step], most: int = 12) -> list[Total]:
    """Totals of the `most` most expensive instructions, in that order."""
    return _totals((f"{s.place}: {s.text}", s.source, s.cycles) for s in executed)[:most]


def by_line(executed: Iterable[Step], most: int = 12) -> list[Total]:
    """Totals of the `most` most expensive source lines, in that order.

    Executions count instructions. A line's name is the function that it was compiled into.
    """
    return _totals((step.function, step.source, step.cycles) for step in executed if step.source)[:most]


def _totals(rows: Iterable[tuple[str, str, int]]) -> list[Total]:
    executions, cycles = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for name, source, taken in rows:
        executions[name, source] += 1
        cycles[name, source] += taken
    totals = [
        Total(name=name, executions=n, cycles=cycles[name, source], source=source)
        for (name, source), n in executions.items()
    ]
    return sorted(totals, key=lambda total: (-total.cycles, total.name))


_SP, _LR, _PC, _STATUS = 13, 14, 15, 16
_MOST_FRAMES = 64
# ARMv7-M Architecture Reference Manual: EXC_RETURN (B1.5.8), and the frame that an exception stacks
# (B1.5.6). After a reset LR holds another value that looks like EXC_RETURN.
_BASIC_FRAME = 0x10
_EXC_RETURNS = frozenset((0xFFFF_FFF1, 0xFFFF_FFF9, 0xFFFF_FFFD))
_BASIC_FRAME_BYTES, _EXTENDED_FRAME_BYTES = 0x20, 0x68
_STACKED = (0, 1, 2, 3, 12, _LR, _PC, _STATUS)

Registers = dict[int, int]


def unwind(program: Program, state: State) -> list[Frame]:
    """The calls under way, innermost first, out to where the task or the start-up code begins."""
    names = [*(f"r{number}" for number in range(13)), "sp", "lr", "pc"]
    registers: Registers | None = {number: state.registers[name] for number, name in enumerate(names)}
    exact, likely = True, False
    frames: list[Frame] = []
    while registers is not None and len(frames) < _MOST_FRAMES:
        address = registers[_PC] & ~1
        # A call may be the last instruction of its function: so look up the call, not what follows.
        looked_up = address if exact else address - 1
        function = program.function_at(address)
        # No call returns to where a function begins: the kernel starts a task as if it had been
        # called from such an address.
        begins = not exact and function is not None and function.address == address
        if begins or program.function_at(looked_up) is None:
            break
        source = program.source_line(looked_up)
        doubt = {"likely": True} if likely else {}
        frames.append(Frame(address=address, place=program.place(address), source=source, **doubt))
        registers = _caller(program, state, registers, looked_up, exact)
        if registers is not None and (exact := registers[_PC] | _BASIC_FRAME in _EXC_RETURNS):
            registers = _interrupted(program, state, registers)
        likely = not exact and not program.tells_caller(looked_up)
    return frames


def _caller(
    program: Program, state: State, registers: Registers, address: int, exact: bool
) -> Registers | None:
    """The registers after the return from the function at `address`; None if nothing tells them.

    `exact` is whether the instruction at `address` is the one that comes next.
    """
    unsaved = None
    if exact:
        # LR, where it still holds the return address. Once the function has called another, LR
        # points into itself: a naked handler saves it where no table says.
        here, there = program.function_at(address), program.function_at((registers[_LR] & ~1) - 1)
        unsaved = None if here is not None and here == there else registers[_LR]
    rules_there = _rules(program, address)
    if rules_there is None:
        return None if unsaved is None else {**registers, _PC: unsaved}
    rules, return_register = rules_there
    cfa = rules["cfa"]
    if cfa.reg is None:
        return None
    base = registers[cfa.reg] + cfa.offset
    restored = {**registers, _SP: base}
    for number, rule in rules.items():
        if isinstance(number, int) and rule.type == "OFFSET":
            word = state.word(base + rule.arg)
            if word is None:
                return None
            restored[number] = word
    saved = return_register in rules
    back = restored[return_register] if saved else unsaved
    return None if back is None else {**restored, _PC: back}


def _rules(program: Program, address: int) -> tuple[dict[Any, Any], int] | None:
    """The frame table's row for `address`, and the register that holds the return address.

    None if the table has no such row, or is damaged there.
    """
    try:
        for entry in program.call_frames:
            first = entry.header.initial_location
            if first <= address < first + entry.header.address_range:
                assert entry.cie is not None
                rows = [row for row in entry.get_decoded().table if row["pc"] <= address]
                return (rows[-1], int(entry.cie.header.return_address_register)) if rows else None
    except DAMAGED:
        pass
    return None


def _interrupted(program: Program, state: State, registers: Registers) -> Registers | None:
    """The registers before an exception, from the frame that it stacked; None if not in SRAM."""
    returning = registers[_PC]
    base = state.registers["psp"] if returning & 4 else registers[_SP]
    words = [state.word(base + 4 * number) for number in range(len(_STACKED))]
    stacked = {number: word for number, word in zip(_STACKED, words, strict=True) if word is not None}
    if len(stacked) < len(_STACKED):
        return None
    status = stacked.pop(_STATUS)
    size = _BASIC_FRAME_BYTES if returning & _BASIC_FRAME else _EXTENDED_FRAME_BYTES
    stack = base + size + (4 if status & 0x200 else 0)
    return {**registers, **stacked, _SP: stack + _pushed(program, stacked[_PC], status)}


# EPSR.ICI, the register from which a multiple goes on; none if bits that IT uses too are set
# (B1.4.2).
_CONTINUES_AT, _IT_ONLY = 0xF000, 0x0600_0C00


def _pushed(program: Program, address: int, status: int) -> int:
    """The bytes by which the interrupted PUSH at `address` has lowered SP.

    The frame information knows SP before and after it only. `status` is the stacked xPSR. 0 where
    it was no PUSH, or had not begun.
    """
    if not status & _CONTINUES_AT or status & _IT_ONLY:
        return 0
    code = program.code(address & ~1, 4)
    first, second = (int.from_bytes(half, "little") for half in (code[:2], code[2:]))
    # PUSH T1, T2 (A7.7.101), VPUSH (A7.7.249): the list, or the number of words.
    if first & 0xFE00 == 0xB400:
        return 4 * (first & 0x1FF).bit_count()
    if first == 0xE92D:
        return 4 * second.bit_count()
    return 4 * (second & 0xFF) if first in (0xED2D, 0xED6D) else 0


@dataclass(eq=False)
class Called:
    """A call from cycle `begin` to before cycle `end`. `own` are the numbers of its own steps."""

    name: str
    begin: int
    end: int
    caller: Called | None
    in_handler: bool
    own: list[int] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many calls are around it."""
        return 0 if self.caller is None else 1 + self.caller.depth


def calls(executed: Sequence[Step]) -> list[Called]:
    """The calls of these steps, the first to begin first; of several the outermost first.

    A step in a function that is under way goes on with it. Any other one is a call; or behind an
    instruction that returns it is of who called before the trace began, and lasts from its start;
    or behind a handler it is another task's. A function that calls itself is one call.
    """
    called: list[Called] = []
    stack: list[Called] = []
    # Of each handler under way how the trace names it, and how many calls are around it.
    handlers: list[tuple[str, int]] = []
    before: Step | None = None
    instruction: Step | None = None

    def leave(around: int, cycle: int) -> None:
        for call in stack[around:]:
            call.end = cycle
        del stack[around:]

    for number, step in enumerate(executed):
        leaves = instruction is not None and _leaves(instruction)
        if step.address == EXCEPTION:
            if handlers and leaves:
                leave(handlers.pop()[1], step.cycle)
            if not step.text.endswith("Thread mode") and step.text not in dict(handlers):
                handlers.append((step.text, len(stack)))
        else:
            around = handlers[-1][1] if handlers else 0
            at = [place for place in range(around, len(stack)) if stack[place].name == step.function]
            if at:
                leave(at[-1] + 1, step.cycle)
            else:
                is_back = before is not None and before.address == EXCEPTION
                begin, root = step.cycle, stack[0] if stack else None
                if not handlers and (is_back or leaves):
                    leave(0, step.cycle)
                call = Called(step.function, begin, -1, stack[-1] if stack else None, bool(handlers))
                if root is not None and not stack and not is_back:
                    call.begin, root.caller = root.begin, call
                called.append(call)
                stack.append(call)
            stack[-1].own.append(number)
            instruction = step
        before = step
    if executed:
        leave(0, executed[-1].cycle + executed[-1].cycles)
    return sorted(called, key=lambda call: (call.begin, call.depth))


def _leaves(step: Step) -> bool:
    """True of an instruction that returns: one that sets PC from LR or from the stack."""
    name, _, operands = step.text.partition(" ")
    plain = name.partition(".")[0]
    if (plain == "bx" and operands == "lr") or (plain == "mov" and operands.startswith("pc")):
        return True
    return (plain.startswith(("pop", "ldm")) and "pc" in operands) or (
        plain.startswith("ldr") and operands.startswith("pc")
    )


def own_cycles(call: Called, executed: Sequence[Step]) -> int:
    """The cycles of its own instructions, without what it called."""
    return sum(executed[number].cycles for number in call.own)


def dearest_source(call: Called, executed: Sequence[Step]) -> str:
    """The source line that took most of its own cycles; empty if none is known."""
    lines = by_line((executed[number] for number in call.own), 1)
    return lines[0].source if lines else ""


# The loops that a trace shows, and the one that took most of its time.


Stretch = tuple[int, int]
"""From a cycle to before another."""

MOST_OF_IT = 0.5
"""A loop that took at least this share of the time is what it went to."""


@dataclass(frozen=True)
class Ran:
    """A loop: the code of `function` from `head` to `last`, as far back as a branch leads.

    `passes` are the executions of its most often executed instruction, `stretches` when it ran:
    with all that it calls, without handlers that interrupted it. `cycles` are those of the
    stretches.
    """

    function: str
    head: int
    last: int
    passes: int
    stretches: tuple[Stretch, ...]

    @property
    def cycles(self) -> int:
        return sum(end - begin for begin, end in self.stretches)


def dominating(calls: Sequence[Called], executed: Sequence[Step], away: Sequence[Stretch]) -> Ran | None:
    """The loop that took at least MOST_OF_IT of the time; of several around each other the
    innermost. None without such a loop.

    `away` are the stretches in which handlers ran.
    """
    whole = sum(step.cycles for step in executed)
    loops = [_ran(calls, executed, away, *place) for place in _heads(calls, executed)]
    long = [loop for loop in loops if loop.cycles >= MOST_OF_IT * whole > 0]
    return max(long, key=lambda loop: (loop.passes, -loop.cycles), default=None)


def _heads(calls: Sequence[Called], executed: Sequence[Step]) -> Iterator[tuple[str, int, int]]:
    """Function, first and last address of each loop: where a branch led back within one call."""
    last: dict[tuple[str, int], int] = {}
    for call in calls:
        if call.in_handler:
            continue
        for before, after in pairwise(call.own):
            source, target = executed[before].address, executed[after].address
            if target < source:
                key = call.name, target
                last[key] = max(last.get(key, 0), source)
    return ((name, head, end) for (name, head), end in last.items())


def _ran(
    calls: Sequence[Called],
    executed: Sequence[Step],
    away: Sequence[Stretch],
    name: str,
    head: int,
    last: int,
) -> Ran:
    times: Counter[int] = Counter()
    stretches: list[Stretch] = []
    for call in calls:
        if call.name != name or call.in_handler:
            continue
        begin: int | None = None
        for number in call.own:
            step = executed[number]
            inside = head <= step.address <= last
            # What an interrupt cut off is executed again, and took no time before.
            times[step.address] += inside and step.cycles > 0
            if inside and begin is None:
                begin = step.cycle
            elif not inside and begin is not None:
                stretches.append((begin, step.cycle))
                begin = None
        if begin is not None:
            stretches.append((begin, call.end))
    cut = tuple(piece for stretch in stretches for piece in without(stretch, away))
    return Ran(name, head, last, max(times.values(), default=0), cut)


def without(stretch: Stretch, away: Sequence[Stretch]) -> Iterator[Stretch]:
    """What is left of a stretch without those `away`, which are in order."""
    begin, end = stretch
    for leaves, comes in away:
        if leaves < end and comes > begin:
            if leaves > begin:
                yield begin, leaves
            begin = max(begin, comes)
    if begin < end:
        yield begin, end
