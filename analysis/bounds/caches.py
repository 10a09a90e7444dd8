"""Which loops keep what they read in the caches of the flash.

A cache that forgets what was least recently used keeps all lines of a loop whose lines fit in it.
So each of them is read at most once for each time that the loop is entered, whatever the order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

from analysis.bounds.costs import Costs
from analysis.bounds.flow import Node
from analysis.bounds.longest import components, is_loop


class Hot(NamedTuple):
    """Whether all lines of code, and of data, are in the caches."""

    code: bool = False
    data: bool = False

    def __or__(self, other: Hot) -> Hot:
        return Hot(self.code or other.code, self.data or other.data)


COLD = Hot()


@dataclass(frozen=True)
class Lines:
    """The lines of the flash that are read as code and as data; None if they are not known."""

    code: frozenset[int] | None = frozenset()
    data: frozenset[int] | None = frozenset()

    def __or__(self, other: Lines) -> Lines:
        return Lines(_both(self.code, other.code), _both(self.data, other.data))

    def fit(self, costs: Costs) -> Hot:
        """Which of them stay in the caches that there are."""
        places = costs.lines

        def fits(lines: frozenset[int] | None, most: int) -> bool:
            return lines is not None and len({line // places.together for line in lines}) <= most

        return Hot(
            costs.code_cache and fits(self.code, places.code),
            costs.data_cache and fits(self.data, places.data),
        )

    def first_reads(self, costs: Costs, hot: Hot) -> int:
        """Cycles that reading them once adds to finding them. A read may wait for another, and one
        of data holds up one of code besides; and the prefetch unit is not where it would be.
        """
        behind = 2 * costs.read_cycles - 2
        code = len(self.code or ()) * behind if hot.code else 0
        data = len(self.data or ()) * (behind + costs.read_cycles) if hot.data else 0
        return code + data + (3 * costs.read_cycles if code or data else 0)


UNKNOWN = Lines(None, None)


def full(costs: Costs) -> Lines:
    """As many as there can be."""
    places = costs.lines
    code, data = places.code * places.together, places.data * places.together
    return Lines(frozenset(range(code)), frozenset(range(data)))


def _both(ours: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    return None if ours is None or other is None else ours | other


@dataclass
class Kept:
    """The nodes whose lines stay in a cache while a loop runs, and what it costs to enter it."""

    hot: dict[Node, Hot]
    loops: dict[Node | None, frozenset[int]] = field(default_factory=lambda: defaultdict(frozenset))
    """For each node the loops that keep its code or its data, by number."""
    entering: list[int] = field(default_factory=list)
    """For each loop what its first reads cost."""

    def enters(self, before: Node | None, node: Node) -> int:
        """The first reads of the loops that a way into `node` enters."""
        return sum(self.entering[loop] for loop in self.loops[node] - self.loops[before])

    def keep(
        self,
        successors: Mapping[Node, Sequence[Node]],
        lines: Callable[[Node], Lines],
        costs: Costs,
        which: Hot,
        inside: set[Node],
    ) -> None:
        """Marks the outermost loops of a graph whose lines fit in a cache."""
        for loop in _loops(successors, inside):
            all_lines = reduce(or_, map(lines, loop))
            fits = all_lines.fit(costs)
            if fits | which == fits:
                for node in loop:
                    self.loops[node] |= {len(self.entering)}
                    self.hot[node] |= which
                self.entering.append(all_lines.first_reads(costs, which))
                continue
            outside = (following for u, following in successors.items() if u not in loop)
            entries = {node for following in outside for node in loop.intersection(following)}
            entries = entries or {min(loop, key=repr)}
            cut = {u: [v for v in following if v not in entries] for u, following in successors.items()}
            self.keep(cut, lines, costs, which, loop)


def _loops(successors: Mapping[Node, Sequence[Node]], inside: set[Node]) -> Iterable[set[Node]]:
    own = {u: [v for v in following if v in inside] for u, following in successors.items() if u in inside}
    return (set(component) for component in components(own, own) if is_loop(component, own))


# The prefetch unit and the flash behind it: when instructions come, at the latest.
#
# It is the unit of the simulator (docs/reference/timing.md), run over code whose past is only
# partly known. Cycles are counted from when the core is free for the first instruction. Every one
# kept here is the latest that it can be. While `exact` holds, it is also the one that it is: then
# the unit knows whether a branch finds it reading the line behind the branch, which that branch
# must wait for. Else it takes the worse of the two.


CODE_END = 0x2000_0000
"""Code from here on comes without wait states."""
_WORD_BYTES = 4
_BUFFER_WORDS = 3
_WORDS_KEPT = 4
_DECODE_CYCLES = 2
AHEAD_BYTES = (_BUFFER_WORDS - 1) * _WORD_BYTES
"""So far behind an instruction the unit may have read on."""
_LONG_AGO = -16
"""What was so long ago delays nothing any more."""


class Fetch:
    """The unit before one instruction. The cycles are those of `costs`."""

    def __init__(self, costs: Costs, target: int) -> None:
        """The word at `target`, to which a branch led, arrives in cycle 0."""
        self._costs = costs
        self._line_bytes = costs.lines.bytes
        self.arrived(target, 0)
        self.data_line: int | None = None
        self.exact = costs.certain

    def arrived(self, target: int, at: int) -> None:
        """The buffer was emptied; the word at `target` arrives in cycle `at`."""
        word = target // _WORD_BYTES
        self._next = word + 1
        self._bus_free = self._array_free = self._line_arrival = at
        self._arrival = [_LONG_AGO] * _WORDS_KEPT
        self._arrival[word % _WORDS_KEPT] = at
        self._room = [_LONG_AGO] * _WORDS_KEPT
        self._issued = at - 1
        self._line = target // self._line_bytes

    def forget(self, pc: int) -> None:
        """Nothing is known of how the instruction at `pc` was come to, but that it was without a
        branch: the instruction before has just been executed.
        """
        self.arrived(pc - 1, 0)
        self._room = [0] * _WORDS_KEPT
        self.data_line, self.exact = None, False

    def holds_data(self, address: int) -> None:
        """The line of `address` was the last that was read for data."""
        self.data_line = address // self._line_bytes if self._costs.lines.keeps_data else None

    def copy(self) -> Fetch:
        other = Fetch.__new__(Fetch)
        vars(other).update(vars(self), _arrival=[*self._arrival], _room=[*self._room])
        return other

    def since(self, now: int) -> None:
        """Counts cycles from `now` on."""
        self._arrival = [max(arrival - now, _LONG_AGO) for arrival in self._arrival]
        self._room = [max(arrival - now, _LONG_AGO) for arrival in self._room]
        for name in ("_bus_free", "_array_free", "_line_arrival", "_issued"):
            setattr(self, name, max(getattr(self, name) - now, _LONG_AGO))

    def key(self) -> Hashable:
        """Two units with the same key do the same."""
        return (
            *self._arrival,
            *self._room,
            *(it for it in vars(self).values() if isinstance(it, int | None)),
        )

    def issue(self, pc: int, size: int, free: int, at_once: bool) -> int:
        """The cycle in which the instruction at `pc` executes, if the core is free from `free`
        on. `at_once`: that is the cycle after the one before was issued, always.
        """
        last = (pc + size - 1) // _WORD_BYTES
        while self._next <= last:
            at = self._next_address_cycle()
            if self._next * _WORD_BYTES >= CODE_END or self._line == self._line_of_next:
                self._fetched(at + 1)
            else:
                self._fetch_from_line(at)
        unhindered = max(self.decoded(pc, size), self._issued + 1)
        self._issued = max(free, unhindered)
        # What is decoded earlier than in the worst case may wait for the core instead.
        waits = free > unhindered or (free == unhindered and not self.exact and not at_once)
        self._leave(pc, size, free if waits else unhindered - 1)
        return self._issued

    def advance(self, pc: int, size: int) -> None:
        """The instruction issued last begins a cycle earlier, beside the one before it."""
        self._issued -= 1
        self._leave(pc, size, self._issued - 1)

    def decoded(self, pc: int, size: int) -> int:
        """The first cycle in which the instruction issued last could execute."""
        return self._arrival[(pc + size - 1) // _WORD_BYTES % _WORDS_KEPT] + _DECODE_CYCLES

    def branch(self, target: int | None, fall_through: int, at: int) -> int:
        """The cycle in which the word at `target` arrives. Its address could be on the bus in cycle
        `at`. Without `target` it is in a line that nobody knows.
        """
        return max(self._arrival_at(target, *way) for way in self._ways_out(fall_through, at))

    def _ways_out(self, fall_through: int, at: int) -> list[tuple[int, int]]:
        """When the bus may be free at `at`, with the line that the unit has then."""
        stays = (max(self._bus_free, at), self._line)
        if not self._may_reach_next_line(fall_through):
            return [stays]
        ahead = self.copy()
        due = ahead._next_line_address_cycle(fall_through, at if self.exact else None)
        if self.exact:
            if due is None:
                return [stays]
            ahead._read_line(self._line + 1, due)
            return [(max(ahead._array_free, at), self._line + 1)]
        # A read of the next line may have been asked for in the cycle before, behind one of data.
        busy = max(at - 1, self._array_free) + self._costs.read_cycles
        if self._costs.reads_on:
            busy = max(stays[0], busy)
            return [stays, (busy, self._line + 1), (busy, self._line + 2)]
        arrival = at if due is None else ahead._line_after(due)
        return [stays, (max(stays[0], min(arrival, busy)), self._line + 1)]

    def _arrival_at(self, target: int | None, free: int, line: int) -> int:
        if target is not None and (target >= CODE_END or target // self._line_bytes == line):
            return free + 1
        if not self._costs.hot_code:
            return self._costs.other_line(max(free, self._array_free if self.exact else free))
        if not self._costs.prefetch:
            return free + 1
        # A line in the cache, or one that the prefetch is reading: that is in no cache.
        went_on = line != self._line and (target is None or target // self._line_bytes == line + 1)
        ahead = free if went_on else max(self._line_arrival, self._array_free)
        return max(free + 1, ahead + self._costs.read_cycles)

    def data(self, address: int | None, at: int, pc: int) -> int:
        """The cycle in which the data at `address` in the flash arrives, requested in cycle `at`,
        while the next instruction is at `pc`. Without `address` it is in a line that nobody knows.
        """
        line = None if address is None else address // self._line_bytes
        if self._costs.hot_data or (line is not None and line == self.data_line):
            return at + 1
        read = self._costs.read_cycles
        if self._may_reach_next_line(pc):
            if self.exact:
                due = self._next_line_address_cycle(pc, at)
                if due is not None:
                    self._fetch_from_line(due)
            else:
                self._array_free = max(self._array_free, at - 1) + read
        elif self._costs.prefetch:
            self._array_free = max(self._array_free, at - 1 + read)
        self.data_line = line if self._costs.lines.keeps_data else None
        self._array_free = max(at, self._array_free) + read
        return self._array_free

    def _fetch_from_line(self, at: int) -> None:
        self._fetched(self._read_line(self._line_of_next, at))

    def _read_line(self, line: int, at: int) -> int:
        """The cycle in which the line behind the one that was read last arrives."""
        arrival = self._line_after(at)
        self._line, self._line_arrival = line, arrival
        return arrival

    def _line_after(self, at: int) -> int:
        if self._costs.hot_code and not self._costs.prefetch:
            return at + 1
        since = self._line_arrival if self._costs.prefetch else at
        self._array_free = max(since, self._array_free) + self._costs.read_cycles
        return max(at + 1, self._array_free)

    @property
    def _line_of_next(self) -> int:
        return self._next * _WORD_BYTES // self._line_bytes

    def _fetched(self, arrival: int) -> None:
        self._arrival[self._next % _WORDS_KEPT] = arrival
        self._bus_free = arrival
        self._next += 1

    def _next_address_cycle(self) -> int:
        return max(self._bus_free, self._room[self._next % _WORDS_KEPT])

    def _leave(self, pc: int, size: int, at: int) -> None:
        """A word leaves the buffer with its last half."""
        if pc % _WORD_BYTES + size >= _WORD_BYTES:
            self._room[(pc // _WORD_BYTES + _BUFFER_WORDS) % _WORDS_KEPT] = at

    def _may_reach_next_line(self, pc: int) -> bool:
        last = pc + AHEAD_BYTES
        return last < CODE_END and last // self._line_bytes > self._line

    def _next_line_address_cycle(self, pc: int, before: int | None) -> int | None:
        """The cycle in which the address of the next line is on the bus; None if that is not
        before cycle `before`.
        """
        first = (self._line + 1) * self._line_bytes // _WORD_BYTES
        if pc // _WORD_BYTES + _BUFFER_WORDS <= first:
            return None
        while self._next <= first:
            at = self._next_address_cycle()
            if before is not None and at >= before:
                return None
            if self._next == first:
                return at
            self._fetched(at + 1)
        return None
