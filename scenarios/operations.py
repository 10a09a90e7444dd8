"""Operations and the image that carries them to the firmware: docs/reference/operation-image.md.

An `Image` is always well-formed, whether a generator made it or `decode` read it from anywhere.
Every field fits its place. No allocation goes into a live slot, and only live slots are freed.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from base.files.elf import address_of
from base.run_folder.records import CLOCKS
from scenarios.errors import ImageError, ScenarioError, quoted
from scenarios.stimulus import MODES, Stimulus

_PLACE = "operation_image"
"""The linker script's name of where the firmware looks for the image."""
_IMAGE_ADDRESS = 0x0804_0000
"""The place in an image that has lost its symbols: that of the first board."""

MAGIC = 0x504F5354
VERSION = 1
MAX_SLOTS = 2048
MAX_ENTRIES = 21_840
MAX_NAME_BYTES = 31

# What may carry the records. The place in this list is the number in the header.
RECORDS = ("uart", "rtt")
# What may feed the core's clock are CLOCKS, likewise.

BAUD_UNIT = 100
BAUD_MIN, BAUD_MAX = 115_200, 1_000_000
DEFAULT_BAUD = BAUD_MAX

_HEADER = struct.Struct("<IHHHBBIHHIIBBH32s")
_ENTRY = struct.Struct("<BBHIHBB")
_ALLOCATE, _FREE, _MARK, _CALL = 1, 2, 3, 4
_MEASURED, _RETRY, _LAST_IF_REFUSED = 1, 2, 4
_U32 = 0xFFFF_FFFF
_U16 = 0xFFFF
_KEPT = 4
MIN_STIMULUS_OFFSET = 32

# What an operation may call instead of the heap. The place in this list is the number in the image.
CALLS = (
    "empty",
    "queue_send",
    "queue_receive",
    "notify_give",
    "notify_take",
    "task_create",
    "task_delete",
    "timer_start",
    "timer_stop",
    "heap_stats",
    "urgent_task",
)
KERNEL_CALLS = CALLS[1:-1]
EXTRAS = {**dict.fromkeys(KERNEL_CALLS, "kernel_calls"), CALLS[-1]: "urgent_task"}
"""The calls that the firmware must be built for, and what they ask of the build."""


# Of operations that did what they were to do (docs/reference/records.md).
_WORDS = {
    "A": "allocation of {size:,} bytes",
    "O": "allocation of {size:,} bytes, out of memory",
    "F": "free of {size:,} bytes",
    "N": "free without a block: its {size:,} bytes had not been allocated",
    "E": "free of {size:,} bytes, refused by the allocator",
    "S": "operation that was skipped",
}


def call_name(number: int) -> str:
    """The kernel's call of an operation whose `size` is `number`."""
    return CALLS[number] if number < len(CALLS) else f"call {number}"


def in_words(kind: str, size: int) -> str:
    """An operation in words. The size of a call is its number."""
    if kind == "K":
        return f"call of {call_name(size)}" if size < len(CALLS) else call_name(size)
    return _WORDS.get(kind, "operation").format(size=size)


def entries_in(image_bytes: int) -> int:
    """How many entries an image of so many bytes has at most."""
    return min(MAX_ENTRIES, (image_bytes - _HEADER.size) // _ENTRY.size)


def image_address(elf: Path) -> int:
    """Where this firmware looks for the image, and every loader puts it."""
    return address_of(elf, _PLACE) or _IMAGE_ADDRESS


@dataclass(frozen=True, slots=True)
class Allocate:
    """Allocate `size` bytes into slot `id`, aligned to 2 to the power of `align_log2`.

    0 is the allocator's own alignment. `stimulus_offset`, here and below, is the ticks from the
    arming of a swept stimulus to the stimulus; 0 is no stimulus.

    A `retry` runs only if the operation before it was refused: an allocation into the same slot.
    If one is refused that is `last_if_refused`, the allocations up to the next free are skipped.
    """

    id: int
    size: int
    measured: bool = True
    align_log2: int = 0
    stimulus_offset: int = 0
    retry: bool = False
    last_if_refused: bool = False


@dataclass(frozen=True, slots=True)
class Free:
    """Free the block in slot `id`."""

    id: int
    measured: bool = True
    stimulus_offset: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """Call `name`, one of CALLS, between the markers of an operation. The heap is not called."""

    name: str
    measured: bool = True
    stimulus_offset: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """The operations that follow belong to label number `label`."""

    label: int


Operation: TypeAlias = Allocate | Free | Call | Mark


@dataclass(frozen=True)
class Image:
    """What one run executes. Raises ImageError, with the entry, for what
    docs/reference/operation-image.md forbids."""

    name: str
    stimulus: Stimulus
    operations: tuple[Operation, ...]
    records: str = "uart"
    baud: int = DEFAULT_BAUD
    clock: str = CLOCKS[0]
    debugger_leaves: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.name.encode(errors="replace")) <= MAX_NAME_BYTES or not self.name.isprintable():
            raise ImageError(
                f"The name {quoted(self.name)} must have 1 to {MAX_NAME_BYTES} bytes of printable characters."
            )
        if not BAUD_MIN <= self.baud <= BAUD_MAX or self.baud % BAUD_UNIT:
            raise ImageError(
                f"The serial line cannot have {quoted(self.baud)} baud; choose {BAUD_MIN:,} to {BAUD_MAX:,}, "
                "in hundreds."
            )
        for what, names in ((self.clock, CLOCKS), (self.records, RECORDS)):
            if what not in names:
                raise ImageError(f"An image cannot have {quoted(what)}; choose {' or '.join(names)}.")
        if len(self.operations) > MAX_ENTRIES:
            raise ImageError(
                f"{len(self.operations):,} entries do not fit: an image holds at most {MAX_ENTRIES:,}; "
                "make the scenario shorter."
            )
        live: set[int] = set()
        before: Operation | None = None
        for entry, operation in enumerate(self.operations):
            wrong = ""
            if not _fits(operation, self.stimulus.mode):
                wrong = f", {operation}, is not one of an image (docs/reference/operation-image.md)."
            elif isinstance(operation, Allocate) and operation.retry:
                if not isinstance(before, Allocate) or before.retry or before.id != operation.id:
                    wrong = (
                        f" is a retry, but no allocation into slot {operation.id} stands right before it; "
                        "put it behind one."
                    )
            elif isinstance(operation, Allocate):
                if operation.id in live:
                    wrong = f" allocates into slot {operation.id}, which is live; free it first."
                live.add(operation.id)
            elif isinstance(operation, Free):
                if operation.id not in live:
                    wrong = f" frees slot {operation.id}, which holds no block."
                live.discard(operation.id)
            if wrong:
                raise ImageError(f"Entry {entry}{wrong}")
            before = operation

    @property
    def slot_count(self) -> int:
        """The greatest slot in use + 1; 0 if no operation uses a slot."""
        return max((o.id for o in self.operations if isinstance(o, Allocate | Free)), default=-1) + 1


def encode(image: Image) -> bytes:
    """The image as the firmware reads it at image_address(): a header, then 12 bytes per entry."""
    body = b"".join(_ENTRY.pack(*_fields(operation)) for operation in image.operations)
    header = _HEADER.pack(
        MAGIC,
        VERSION,
        _HEADER.size,
        len(image.operations),
        CLOCKS.index(image.clock),
        image.debugger_leaves,
        zlib.crc32(body),
        image.slot_count,
        0 if image.baud == DEFAULT_BAUD else image.baud // BAUD_UNIT,
        image.stimulus.period_ticks,
        image.stimulus.control_period_ticks,
        MODES.index(image.stimulus.mode),
        RECORDS.index(image.records),
        image.stimulus.parameter,
        image.name.encode(),
    )
    return header + body


def body_crc32(data: bytes) -> int:
    """CRC-32 (IEEE 802.3) over the entries of an encoded image: the header's body_crc32."""
    return zlib.crc32(data[_HEADER.size :])


@lru_cache(maxsize=_KEPT)
def decode(data: bytes) -> Image:
    """Reads an encoded image. Raises ImageError for anything that `encode` would not write.

    The latest are kept: several rules of the verdict ask for that of one run.
    """
    if data[:4] != MAGIC.to_bytes(4, "little"):
        raise ImageError("This is no operation image.")
    try:
        *_, clock, leaves, _, _, hundreds, period, control, mode, records, number, name = _HEADER.unpack(
            data[: _HEADER.size]
        )
        image = Image(
            name.rstrip(b"\0").decode(),
            Stimulus(MODES[mode], period, control, number),
            tuple(map(_decode_entry, _ENTRY.iter_unpack(data[_HEADER.size :]))),
            RECORDS[records],
            hundreds * BAUD_UNIT or DEFAULT_BAUD,
            CLOCKS[clock],
            bool(leaves),
        )
        if encode(image) == data:
            return image
    except ScenarioError as error:
        raise ImageError(str(error)) from None
    except (struct.error, IndexError, UnicodeDecodeError):
        pass
    raise ImageError("The image is damaged, or of another version; compile the scenario again.")


def _fits(operation: Operation, mode: str) -> bool:
    """Whether every field fits its place; a stimulus of its own is one of a sweep."""
    if isinstance(operation, Mark):
        return 0 <= operation.label <= _U32
    offset = operation.stimulus_offset
    fits = not offset or (mode == "sweep" and MIN_STIMULUS_OFFSET <= offset <= _U16)
    if isinstance(operation, Call):
        return fits and operation.name in CALLS
    if isinstance(operation, Allocate):
        fits = fits and 1 <= operation.size <= _U32 and 0 <= operation.align_log2 <= 31
    return fits and 0 <= operation.id < MAX_SLOTS


def _fields(operation: Operation) -> tuple[int, ...]:
    """The entry's seven fields, in the order of docs/reference/operation-image.md."""
    if isinstance(operation, Mark):
        return (_MARK, 0, 0, operation.label, 0, 0, 0)
    flags, offset = operation.measured * _MEASURED, operation.stimulus_offset
    if isinstance(operation, Call):
        return (_CALL, flags, 0, CALLS.index(operation.name), offset, 0, 0)
    if isinstance(operation, Free):
        return (_FREE, flags, operation.id, 0, offset, 0, 0)
    flags |= operation.retry * _RETRY | operation.last_if_refused * _LAST_IF_REFUSED
    return (_ALLOCATE, flags, operation.id, operation.size, offset, operation.align_log2, 0)


def _decode_entry(fields: tuple[int, ...]) -> Operation:
    kind, flags, slot, argument, offset, align_log2, _ = fields
    measured = bool(flags & _MEASURED)
    if kind == _ALLOCATE:
        retry, last = bool(flags & _RETRY), bool(flags & _LAST_IF_REFUSED)
        return Allocate(slot, argument, measured, align_log2, offset, retry, last)
    others = (
        Free(slot, measured, offset),
        Mark(argument),
        Call(CALLS[argument % len(CALLS)], measured, offset),
    )
    return others[kind - 2]
