"""The prefetch unit and the flash behind it: when instructions come, at the latest.

It is the unit of the simulator (docs/reference/timing.md), run over code whose past is only partly
known. Cycles are counted from when the core is free for the first instruction. Every one kept here
is the latest that it can be. While `exact` holds, it is also the one that it is: then the unit
knows whether a branch finds it reading the line behind the branch, which that branch must wait for.
Else it takes the worse of the two.
"""

from __future__ import annotations

from collections.abc import Hashable

from analysis.bounds.costs import Costs

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

    __slots__ = (
        "_array_free",
        "_arrival",
        "_bus_free",
        "_costs",
        "_issued",
        "_line",
        "_line_arrival",
        "_line_bytes",
        "_next",
        "_room",
        "data_line",
        "exact",
    )

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
        for name in Fetch.__slots__:
            setattr(other, name, getattr(self, name))
        other._arrival = list(self._arrival)
        other._room = list(self._room)
        return other

    def since(self, now: int) -> None:
        """Counts cycles from `now` on."""
        self._arrival = [max(arrival - now, _LONG_AGO) for arrival in self._arrival]
        self._room = [max(arrival - now, _LONG_AGO) for arrival in self._room]
        self._bus_free = max(self._bus_free - now, _LONG_AGO)
        self._array_free = max(self._array_free - now, _LONG_AGO)
        self._line_arrival = max(self._line_arrival - now, _LONG_AGO)
        self._issued = max(self._issued - now, _LONG_AGO)

    def key(self) -> Hashable:
        """Two units with the same key do the same."""
        return (
            self._next, self._bus_free, *self._arrival, *self._room, self._issued, self._line,
            self._array_free, self._line_arrival, self.data_line, self.exact,
        )  # fmt: skip

    def issue(self, pc: int, size: int, free: int) -> int:
        """The cycle in which the instruction at `pc` executes, if the core is free from `free`
        on.
        """
        last = (pc + size - 1) // _WORD_BYTES
        while self._next <= last:
            self._fetch_next()
        unhindered = max(self.decoded(pc, size), self._issued + 1)
        self._issued = max(free, unhindered)
        self._leave(pc, size, free if free > unhindered else unhindered - 1)
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
        read = self._costs.read_cycles
        if self._costs.reads_on:
            busy = max(stays[0], at - 1 + read)
            return [stays, (busy, self._line + 1), (busy, self._line + 2)]
        arrival = at if due is None else ahead._line_after(due)
        return [stays, (max(stays[0], min(arrival, at - 1 + read)), self._line + 1)]

    def _arrival_at(self, target: int | None, free: int, line: int) -> int:
        if target is not None and (target >= CODE_END or target // self._line_bytes == line):
            return free + 1
        if self._costs.hot_code:
            return self._cached(target, free, line)
        return self._costs.other_line(max(free, self._array_free if self.exact else free))

    def _cached(self, target: int | None, free: int, line: int) -> int:
        """The same of a line in the cache, or one that the prefetch is reading: that is in no
        cache.
        """
        if not self._costs.prefetch:
            return free + 1
        read = self._costs.read_cycles
        went_on = line != self._line and (target is None or target // self._line_bytes == line + 1)
        ahead = free if went_on else max(self._line_arrival, self._array_free)
        return max(free + 1, ahead + read)

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
                self._array_free = max(self._array_free, at - 1 + read)
        elif self._costs.prefetch:
            self._array_free = max(self._array_free, at - 1 + read)
        self.data_line = line if self._costs.lines.keeps_data else None
        self._array_free = max(at, self._array_free) + read
        return self._array_free

    def _fetch_next(self) -> None:
        at = self._next_address_cycle()
        if self._next * _WORD_BYTES >= CODE_END or self._line == self._line_of_next:
            self._fetched(at + 1)
        else:
            self._fetch_from_line(at)

    def _fetch_from_line(self, at: int) -> None:
        self._fetched(self._read_line(self._line_of_next, at))

    def _read_line(self, line: int, at: int) -> int:
        """The cycle in which the line behind the one that was read last arrives."""
        arrival = self._line_after(at)
        self._line, self._line_arrival = line, arrival
        return arrival

    def _line_after(self, at: int) -> int:
        read = self._costs.read_cycles
        if self._costs.hot_code and not self._costs.prefetch:
            return at + 1
        if self._costs.prefetch:
            self._array_free = max(self._line_arrival, self._array_free) + read
            return max(at + 1, self._array_free)
        self._array_free = max(at, self._array_free) + read
        return self._array_free

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
