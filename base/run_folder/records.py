"""The firmware's records: lines of ASCII, each with a checksum (docs/reference/records.md).

Nothing that arrives is dropped in silence. A line that cannot be read is kept with the reason, and
the bytes after the last newline are kept as a line that was cut off.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from string import hexdigits
from typing import Annotated, Literal, TypeVar, dataclass_transform, get_args, get_type_hints

from .channels import MOST_LOG_BYTES as MOST_LOG_BYTES
from .channels import OPERATION_KINDS as OPERATION_KINDS

FORMAT_VERSION = 7
LINE_LIMIT_BYTES = 160
MOST_LINES = 1 << 17
"""A run has at most 21,840 operations and marks, as many `IRQ` and `OFF`, and some hundred more."""
CRC_INITIAL = 0xFFFF

# What the firmware can send: its numbers have 32 bits, SysTick counts down 24 (ARMv7-M, B3.3). No
# core of its kind is slower or faster than these, and no kernel ticks faster.
_U32_MAX = (1 << 32) - 1
_SYSTICK_MAX = 1 << 24
_CORE_HZ = (1_000_000, 1_000_000_000)
_TICK_PERIOD_MIN_CYCLES = 1000
# At both ends of a run (docs/reference/records.md).
_CALIBRATION_INDEX_MAX = 31
_STIMULUS_MODE_MAX = 4

HEAP_NOT_CALLED = ("N", "S")
ALLOCATION_KINDS = ("A", "O")
Locking = Literal["basepri", "primask", "scheduler"]
COST_INSTRUMENTS = ("READ", "PIN", "TIMER")
INTERNAL_CLOCK = "internal"
CLOCKS = ("bypass", "crystal", INTERNAL_CLOCK)
"""What the core's clock may come from: a clock at OSC_IN, a crystal there, the chip's own HSI."""


def _decimal(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is not a decimal number")
    return int(text)


def _from_to(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = _decimal(text)
        if not least <= number <= most:
            raise ValueError(f"{text} is not from {least} to {most}")
        return number

    return read


def _version(text: str) -> int:
    version = _decimal(text)
    if version != FORMAT_VERSION:
        raise ValueError(
            f"records of format {version}, and only {FORMAT_VERSION} is read here; run the scenario again"
        )
    return version


def _hexadecimal(text: str) -> int:
    if len(text) != 8 or not set(text) <= set(hexdigits):
        raise ValueError(f"{text!r} does not have 8 hexadecimal digits")
    return int(text, 16)


def _text(text: str) -> str:
    if not text:
        raise ValueError("an empty word")
    return text


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r} is none of {', '.join(words)}")
        return text

    return read


U32 = Annotated[int, _from_to(0, _U32_MAX)]
_Hexadecimal = Annotated[int, _hexadecimal]
_Text = Annotated[str, _text]


RECORDS: dict[str, type[Record]] = {}
"""Of each name in a log what its fields are."""


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Record:
    """A record of a log: a frozen dataclass, whose fields say how each is read."""

    def __init_subclass__(cls, name: str) -> None:
        RECORDS[name] = dataclass(frozen=True)(cls)


class Boot(Record, name="BOOT"):
    """First record of a run: what was built, and the heap before the first operation."""

    version: Annotated[int, _version]
    allocator: _Text
    heap_bytes: U32
    core_hz: Annotated[int, _from_to(*_CORE_HZ)]
    flash_acr: _Hexadecimal
    kernel: _Text
    free_blocks: U32
    free_bytes: U32
    locking: Annotated[str, _one_of(*get_args(Locking))]
    knobs: _Text
    clock: Annotated[str, _one_of(*CLOCKS)]
    """What the core's clock comes from, one of CLOCKS."""
    reset_flags: _Hexadecimal
    """RCC_CSR's flags of every reset since the one that the firmware saw last, as the board's
    family has them (firmware/build/families.toml).
    """
    board: _Text
    """The folder of the board that it was built for."""

    @property
    def knob_values(self) -> dict[str, str]:
        """The knobs of the allocator's build, by name. The record has NAME=VALUE/NAME=VALUE."""
        return dict(word.split("=", 1) for word in self.knobs.split("/") if "=" in word)


class Proof(Record, name="PROOF"):
    """DWT and TIM5 over one interval: the evidence that the cycle counter counts."""

    dwt_cycles: U32
    timer_ticks: U32


class StillRecord(Proof, name="STILL"):
    """The same as Proof, once more at the end of the run."""


class CounterOffRecord(Record, name="OFF"):
    """The cycle counter was found off at operation `seq`, and was turned on again.

    `operations` from `seq` on, 1 or 0, have no cycles: 0 where it was off before the operation.
    """

    seq: U32
    operations: Annotated[int, _from_to(0, 1)]


class PlanRecord(Record, name="PLAN"):
    """The image that the firmware found in its flash."""

    scenario: _Text
    operations: U32
    body_crc32: _Hexadecimal
    stimulus_mode: Annotated[int, _from_to(0, _STIMULUS_MODE_MAX)]
    stimulus_period_ticks: U32
    control_period_ticks: U32


class CalibrationRecord(Record, name="CAL"):
    """One empty section on `channel`, CRIT or OP: its length by DWT, and CYCCNT at its begin."""

    channel: Annotated[str, _one_of("CRIT", "OP")]
    index: Annotated[int, _from_to(0, _CALIBRATION_INDEX_MAX)]
    dwt_cycles: U32
    begin_cycles: U32


class CostRecord(Record, name="COST"):
    """What an instrument costs, as the least and the most of several times.

    `instrument` is READ, a read of CYCCNT; PIN, the same read with a pin raised before it; or
    TIMER, the same with the store to a pin and the read of a timer's counter before it.
    """

    instrument: Annotated[str, _one_of(*COST_INSTRUMENTS)]
    least_cycles: U32
    most_cycles: U32

    def __post_init__(self) -> None:
        if self.least_cycles > self.most_cycles:
            raise ValueError(f"at least {self.least_cycles} cycles and at most {self.most_cycles}")


class TickRecord(Record, name="TICK"):
    """The kernel's tick.

    It is due `countdown_cycles` after CYCCNT was `at_cycles`, and from then on every
    `period_cycles`. Its handler keeps the processor for `handler_cycles`.
    """

    at_cycles: U32
    countdown_cycles: U32
    period_cycles: Annotated[int, _from_to(_TICK_PERIOD_MIN_CYCLES, _SYSTICK_MAX)]
    handler_cycles: U32

    def __post_init__(self) -> None:
        if max(self.countdown_cycles, self.handler_cycles) >= self.period_cycles:
            raise ValueError(f"a countdown or a handler as long as the period of {self.period_cycles} cycles")


class MarkRecord(Record, name="MARK"):
    """A mark of the image: the operations after it belong to this label."""

    label: U32


class OperationRecord(Record, name="OP"):
    """One operation as the firmware saw it; cycles are differences of DWT_CYCCNT."""

    seq: U32
    kind: Annotated[str, _one_of(*OPERATION_KINDS)]
    size: U32
    critical_cycles: U32
    operation_cycles: U32
    probes: U32
    live: U32
    bytes_in_use: U32


@dataclass(frozen=True, slots=True)
class LatencyRange:
    """The least and the greatest latency by the timer of the answers that met no operation."""

    least_ticks: int
    most_ticks: int


class InterruptsRecord(Record, name="IRQ"):
    """The answers that found OP high in operation `seq`, as
    the stimulus timers' counters tell of them.

    Ticks are those of the core clock, from the stimulus to a read right after the pin's rise.
    """

    seq: U32
    isr_entries: U32
    isr_ticks: U32
    task_wakes: U32
    task_ticks: U32
    control_entries: U32
    control_ticks: U32

    def __post_init__(self) -> None:
        answers = (
            (self.isr_entries, self.isr_ticks),
            (self.task_wakes, self.task_ticks),
            (self.control_entries, self.control_ticks),
        )
        if not any(number for number, _ in answers):
            raise ValueError("no answer at all")
        if any(ticks and not number for number, ticks in answers):
            raise ValueError("ticks of no answer")


class StatRecord(Record, name="STAT"):
    """What the handlers kept of the whole run: their
    counts, and the latencies that met no operation.

    Where there was none the least is 4294967295 and the most 0.
    """

    isr_entries: U32
    task_wakes: U32
    control_entries: U32
    preempted_operations: U32
    isr_least_ticks: U32
    isr_most_ticks: U32
    task_least_ticks: U32
    task_most_ticks: U32
    control_least_ticks: U32
    control_most_ticks: U32

    def __post_init__(self) -> None:
        for of in ("isr", "task", "control"):
            least, most = self._ends(of)
            if least > most and (least, most) != (_U32_MAX, 0):
                raise ValueError(f"at least {least} ticks and at most {most}")

    def between(self, of: str) -> LatencyRange | None:
        """The latencies between operations of isr, task or control; None where there was none."""
        least, most = self._ends(of)
        return None if least > most else LatencyRange(least, most)

    def _ends(self, of: str) -> tuple[int, int]:
        return getattr(self, f"{of}_least_ticks"), getattr(self, f"{of}_most_ticks")


class HeapRecord(Record, name="HEAP"):
    """The heap after the last operation."""

    free_bytes: U32
    largest_free_block: U32
    free_blocks: U32
    invariants_hold: Annotated[int, _from_to(0, 1)]


class EndRecord(Record, name="END"):
    """Last record of a run that reached its end.

    `log_crc32` is the CRC-32 of all that was sent before it.
    """

    operations: U32
    log_crc32: _Hexadecimal


class FailRecord(Record, name="FAIL"):
    """Why the firmware stopped by itself: one word and a number."""

    reason: _Text
    detail: U32


@cache
def _layout(name: str) -> tuple[Callable[..., Record], tuple[Callable[[str], object], ...]]:
    """The class of a record, and how each of its fields is read."""
    hints = get_type_hints(RECORDS[name], include_extras=True)
    return RECORDS[name], tuple(hint.__metadata__[0] for hint in hints.values())


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line that is no record: its number in the log (from 1), its bytes, and why it is none."""

    number: int
    line: bytes
    why: str


R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class RecordLog:
    """Every record of a log, in order, and everything else in it.

    `damaged` are the lines that are no records. `preamble` holds the lines before the first BOOT,
    which a board said before it was reset: they belong to no run and are no failures. `earlier` are
    the records among them, and `stray` the bytes before BOOT in its own line: noise of a line that
    floats, or of a board that was reset in the midst of a line. `cut_line` is
    what came after the last newline. `crc32` is of the bytes from the first BOOT to the last line,
    which is END's in a run that reached its end.
    """

    records: tuple[Record, ...] = ()
    damaged: tuple[DamagedLine, ...] = ()
    preamble: tuple[bytes, ...] = ()
    earlier: tuple[Record, ...] = ()
    stray: bytes = b""
    cut_line: bytes = b""
    byte_count: int = 0
    crc32: int = 0

    def all(self, kind: type[R]) -> tuple[R, ...]:
        """The records of one type, in order."""
        return tuple(record for record in self.records if type(record) is kind)

    def first(self, kind: type[R]) -> R | None:
        """The first record of one type, or None."""
        return next(iter(self.all(kind)), None)

    @property
    def sequence_gaps(self) -> int:
        """How often an operation's number is not one more than the number before it, from 0 on."""
        numbers = [record.seq for record in self.all(OperationRecord)]
        expected = (0, *(number + 1 for number in numbers))
        return sum(number != due for number, due in zip(numbers, expected, strict=False))


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE of `data`: polynomial 0x1021, initial value 0xFFFF, not reflected."""
    return binascii.crc_hqx(data, CRC_INITIAL)


def encode(body: str) -> bytes:
    """The line that carries `body`, e.g. "END,1200" as b"@END,1200*XXXX\\n"."""
    return b"@%b*%04X\n" % (body.encode("ascii"), crc16(body.encode("ascii")))


def parse_line(line: bytes) -> Record:
    """Reads one line, without its newline. Raises ValueError, with why, if it is no record."""
    if len(line) + 1 > LINE_LIMIT_BYTES:
        raise ValueError(f"longer than {LINE_LIMIT_BYTES} bytes")
    body, star, digits = line[1:].rpartition(b"*")
    if line[:1] != b"@" or not star:
        raise ValueError("not of the form @…*CRC")
    if digits != b"%04X" % crc16(body):
        raise ValueError("wrong checksum")
    name, *fields = body.decode("ascii").split(",")
    if name not in RECORDS:
        raise ValueError(f"unknown record {name!r}")
    make, readers = _layout(name)
    if name == "BOOT" and fields:
        _version(fields[0])
    if len(fields) != len(readers):
        raise ValueError(f"{name} has {len(fields)} fields instead of {len(readers)}")
    return make(*(read(text) for read, text in zip(readers, fields, strict=True)))


def parse(log: bytes) -> RecordLog:
    """Reads a whole log as it came from the serial line. No bytes of `log` can make this fail.

    Of more lines than MOST_LINES after the first BOOT the rest counts as one damaged line.
    """
    begin = max(log.find(_FIRST), 0)
    *preamble, stray = log[:begin].split(b"\n")
    *lines, cut_line = log[begin:].split(b"\n", MOST_LINES)
    records: list[Record] = []
    damaged: list[DamagedLine] = []
    for number, line in enumerate(lines, len(preamble) + 1):
        try:
            records.append(parse_line(line))
        except ValueError as error:
            damaged.append(DamagedLine(number, line, str(error)))
            # The BOOT behind a line that a reset cut short.
            if (at := line.rfind(_FIRST)) > 0:
                records += _readable(line[at:])
    if b"\n" in cut_line:
        number, words = len(preamble) + MOST_LINES + 1, f"more than {MOST_LINES:,} lines"
        damaged.append(DamagedLine(number, cut_line[:LINE_LIMIT_BYTES], f"{words}, and no run has as many"))
        cut_line = b""
    return RecordLog(
        records=tuple(records),
        damaged=tuple(damaged),
        preamble=tuple(preamble),
        earlier=tuple(record for line in preamble[:MOST_LINES] for record in _readable(line)),
        stray=stray,
        cut_line=cut_line,
        byte_count=len(log),
        crc32=binascii.crc32(b"".join(b"%b\n" % line for line in lines[:-1])),
    )


_FIRST = b"@BOOT,"


def _readable(line: bytes) -> Iterator[Record]:
    with suppress(ValueError):
        yield parse_line(line)
