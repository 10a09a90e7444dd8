# libsigrokdecode reads the declarations below as plain lists and tuples.
# ruff: noqa: RUF012

import binascii
import json
import string
from pathlib import Path

import sigrokdecode as srd

RX, TX = range(2)
ANN_FIELD, ANN_GOOD, ANN_BAD, ANN_WARNING = range(6, 10)
BIN_RECORDS, BIN_DAMAGED = range(2)

LINE_LIMIT_BYTES = 160
CRC_INITIAL = 0xFFFF
U32_MAX = (1 << 32) - 1
KINDS = {
    "A": "allocated",
    "O": "out of memory",
    "F": "freed",
    "N": "nothing to free",
    "E": "free refused",
    "K": "call",
    "S": "skipped",
}


def decimal(least, most):
    """A reader of decimal numbers from `least` to `most`."""

    def read(text):
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise ValueError(f"{text[:12]!r} is no number from {least} to {most}")

    return read


def one_of(*words):
    """A reader of one of these words."""

    def read(text):
        if text not in words:
            raise ValueError(f"{text[:12]!r} is none of {', '.join(words)}")

    return read


def hexadecimal(text):
    if len(text) != 8 or not set(text) <= set(string.hexdigits):
        raise ValueError(f"{text[:12]!r} does not have 8 hexadecimal digits")


def word(text):
    if not text:
        raise ValueError("an empty word")


READERS = {"u32": decimal(0, U32_MAX), "hexadecimal": hexadecimal, "word": word}


def reader(kind):
    """The reader of a field: one of READERS, the ends of a range, or the words that it may be."""
    if isinstance(kind, str):
        return READERS[kind]
    return decimal(*kind) if isinstance(kind[0], int) else one_of(*kind)


class Layout:
    """A record: its class of annotation, and the name and the reader of each of its fields."""

    def __init__(self, annotation, fields):
        self.annotation = [name for name, _ in Decoder.annotations].index(annotation)
        self.names = list(fields)
        self.readers = [reader(kind) for kind in fields.values()]


def check_cost(_instrument, least, most):
    if int(least) > int(most):
        raise ValueError(f"at least {least} and at most {most} cycles")


def check_tick(_cyccnt, countdown, period, handler):
    if max(int(countdown), int(handler)) >= int(period):
        raise ValueError(f"a countdown or a handler as long as the period of {period} cycles")


def check_interrupts(_number, *sums):
    pairs = [(int(sums[i]), int(sums[i + 1])) for i in (0, 2, 4)]
    if not any(number for number, _ in pairs):
        raise ValueError("no answer at all")
    if any(ticks and not number for number, ticks in pairs):
        raise ValueError("ticks of no answer")


def check_statistics(*counts):
    for i in range(4, len(counts), 2):
        least, most = int(counts[i]), int(counts[i + 1])
        if least > most and (least, most) != (U32_MAX, 0):
            raise ValueError(f"at least {least} and at most {most} ticks")


CHECKS = {
    "COST": check_cost,
    "TICK": check_tick,
    "IRQ": check_interrupts,
    "STAT": check_statistics,
}


class ChecksumError(ValueError):
    pass


def read_record(line):
    """The name of the record and its fields as text. Raises ValueError, with why, if it is none."""
    if len(line) + 1 > LINE_LIMIT_BYTES:
        raise ValueError(f"longer than {LINE_LIMIT_BYTES} bytes")
    body, star, digits = line[1:].rpartition(b"*")
    if line[:1] != b"@" or not star:
        raise ValueError("not of the form @...*CRC")
    expected = b"%04X" % binascii.crc_hqx(body, CRC_INITIAL)
    if digits != expected:
        raise ChecksumError(f"wrong checksum, not {expected.decode()}")
    name, *fields = body.decode("ascii").split(",")
    if name not in LAYOUTS:
        raise ValueError(f"unknown record {name[:12]!r}")
    layout = LAYOUTS[name]
    if len(fields) != len(layout.readers):
        raise ValueError(f"{name} has {len(fields)} fields instead of {len(layout.readers)}")
    for read, text in zip(layout.readers, fields, strict=False):
        read(text)
    if name in CHECKS:
        CHECKS[name](*fields)
    return name, fields


class Line:
    """The bytes of a line so far, each with its samples; as many as a record can have."""

    def __init__(self):
        self.bytes = bytearray()
        self.places = []
        self.start = None
        self.no_stop_bit = False

    def add(self, start, end, byte):
        if self.start is None:
            self.start = start
        if len(self.bytes) < LINE_LIMIT_BYTES:
            self.bytes.append(byte)
            self.places.append((start, end))


class Decoder(srd.Decoder):
    api_version = 3
    id = "alloc_records"
    name = "Allocator records"
    longname = "Records of a heap allocator's test bench"
    desc = "Checksummed lines that tell of each heap operation."
    license = "mit"
    inputs = ["uart"]
    outputs = []
    tags = ["Debug/trace", "Embedded/industrial"]
    options = (
        {"id": "core_hz", "desc": "Core clock until BOOT (Hz)", "default": 84000000},
        {"id": "limit_cycles", "desc": "Warn beyond (cycles)", "default": 0},
    )
    annotations = (
        ("run", "Run (BOOT, PROOF, PLAN)"),
        ("calibration", "Calibration (CAL, COST, TICK)"),
        ("operation", "Heap operation (OP)"),
        ("interrupts", "Answers in an operation (IRQ)"),
        ("mark", "Mark (MARK)"),
        ("end", "End (STAT, HEAP, END, FAIL)"),
        ("field", "Field"),
        ("checksum-good", "Right checksum"),
        ("checksum-bad", "Wrong checksum"),
        ("warning", "Warning"),
    )
    annotation_rows = (
        ("records", "Records", tuple(range(ANN_FIELD))),
        ("fields", "Fields", (ANN_FIELD,)),
        ("checksums", "Checksums", (ANN_GOOD, ANN_BAD)),
        ("warnings", "Warnings", (ANN_WARNING,)),
    )
    binary = (("records", "Good record lines"), ("damaged", "Damaged lines"))

    def __init__(self):
        self.reset()

    def reset(self):
        self.lines = [Line(), Line()]
        self.core_hz = None
        self.good = 0
        self.damaged = 0
        self.longest = -1
        self.begin()

    def begin(self, number=None):
        """Before the first record, or (with the `number` that comes first) at BOOT."""
        self.due = number
        self.operations = 0
        self.log_crc32 = None if number is None else 0

    def start(self):
        self.out_ann = self.register(srd.OUTPUT_ANN)
        self.out_binary = self.register(srd.OUTPUT_BINARY)
        self.out_longest = self.register(
            srd.OUTPUT_META, meta=(int, "Longest section", "Longest critical section so far (cycles)")
        )
        self.out_good = self.register(srd.OUTPUT_META, meta=(int, "Records", "Good records"))
        self.out_damaged = self.register(
            srd.OUTPUT_META, meta=(int, "Damaged lines", "Lines that are no records")
        )
        if self.options["core_hz"] <= 0:
            raise ValueError("core_hz must be positive.")
        self.core_hz = self.options["core_hz"]

    def decode(self, ss, es, data):
        kind, direction, value = data
        line = self.lines[direction]
        if kind == "INVALID STOPBIT":
            line.no_stop_bit = True
        elif kind == "DATA" and value[0] == ord("\n"):
            self.lines[direction] = Line()
            self.line(line, ss if line.start is None else line.start, es)
        elif kind == "DATA":
            line.add(ss, es, value[0] & 0xFF)

    def line(self, line, start, end):
        """A whole line, from its first byte to the end of its newline."""
        text = bytes(line.bytes)
        try:
            name, fields = read_record(text)
        except ValueError as error:
            self.damage(line, text, start, end, error)
        else:
            self.record(name, fields, line, start, end)
            self.put(start, end, self.out_binary, [BIN_RECORDS, text + b"\n"])
        if self.log_crc32 is not None:
            self.log_crc32 = binascii.crc32(text + b"\n", self.log_crc32)

    def damage(self, line, text, start, end, error):
        if not self.good:
            return
        self.damaged += 1
        if isinstance(error, ChecksumError):
            at = text.rindex(b"*")
            self.put(line.places[at][0], line.places[-1][1], self.out_ann, [ANN_BAD, ["Wrong CRC", "Bad"]])
        why = "a byte has no stop bit, the baud rate may be another" if line.no_stop_bit else str(error)
        self.warn(start, end, f"Damaged line: {why}", "Damaged line")
        self.put(start, end, self.out_binary, [BIN_DAMAGED, text + b"\n"])

    def record(self, name, fields, line, start, end):
        self.good += 1
        layout = LAYOUTS[name]
        remark = {
            "BOOT": self.boot,
            "OP": self.operation,
            "HEAP": self.heap,
            "END": self.run_ends,
            "FAIL": self.fail,
        }.get(name)
        texts = self.operation_texts(fields) if name == "OP" else self.texts(name, layout, fields)
        self.put(start, end, self.out_ann, [layout.annotation, texts])
        self.fields(layout, fields, line, len(name) + 2)
        at = line.bytes.rindex(b"*")
        self.put(line.places[at][0], line.places[-1][1], self.out_ann, [ANN_GOOD, ["CRC good", "Good"]])
        if remark is not None:
            remark(fields, start, end)

    def fields(self, layout, fields, line, at):
        """Annotates each field where it stands; the first begins at byte `at` of the line."""
        for name, text in zip(layout.names, fields, strict=False):
            first, last = line.places[at], line.places[at + len(text) - 1]
            self.put(first[0], last[1], self.out_ann, [ANN_FIELD, [f"{name} {text}", text]])
            at += len(text) + 1

    def boot(self, fields, start, end):
        if self.log_crc32 is not None:
            self.warn(start, end, "The board was reset: a second BOOT", "Reset")
        self.core_hz = int(fields[3])
        self.begin(0)

    def operation(self, fields, start, end):
        number, cycles = int(fields[0]), int(fields[3])
        if self.due is not None and number != self.due:
            self.warn(start, end, f"Operation {number} where {self.due} is due", "Gap")
        self.due = number + 1
        self.operations += 1
        if cycles > self.longest:
            self.longest = cycles
            self.put(start, end, self.out_longest, cycles)
        if 0 < self.options["limit_cycles"] < cycles:
            self.warn(start, end, f"Longer than {self.options['limit_cycles']} cycles", "Long")

    def heap(self, fields, start, end):
        if fields[3] == "0":
            self.warn(start, end, "The heap's invariants do not hold", "Heap broken")

    def run_ends(self, fields, start, end):
        self.put(start, end, self.out_good, self.good)
        self.put(start, end, self.out_damaged, self.damaged)
        if self.log_crc32 is None:
            return
        if int(fields[0]) != self.operations:
            self.warn(start, end, f"END tells of {fields[0]} operations, {self.operations} came", "Missing")
        if int(fields[1], 16) != self.log_crc32:
            self.warn(start, end, "Other bytes came than were sent: the CRC-32 of all differs", "CRC-32")

    def fail(self, fields, start, end):
        self.warn(start, end, f"The firmware gave up: {fields[0]} {fields[1]}", "FAIL")

    def warn(self, start, end, *texts):
        self.put(start, end, self.out_ann, [ANN_WARNING, list(texts)])

    def operation_texts(self, fields):
        number, kind, size, cycles, whole, probes, live, used = fields
        what = f"call {size}" if kind == "K" else f"{size} bytes {KINDS[kind]}"
        nanoseconds = f"{round(int(cycles) * 1e9 / self.core_hz, 1):.12g} ns"
        return [
            f"#{number}: {what}, critical {cycles} cycles, {nanoseconds}; operation {whole} cycles, "
            f"{probes} probes; {live} live, {used} bytes in use",
            f"#{number}: {what}, {cycles} cycles",
            f"#{number}",
        ]

    def texts(self, name, layout, fields):
        named = ", ".join(f"{label} {text}" for label, text in zip(layout.names, fields, strict=False))
        return [f"{name}: {named}", f"{name} {' '.join(fields[:2])}", name]


LAYOUTS = {
    name: Layout(**layout)
    for name, layout in json.loads(
        Path(__file__).with_name("records.json").read_text(encoding="utf-8")
    ).items()
}
