# libsigrokdecode reads the declarations below as plain lists and tuples.
# ruff: noqa: RUF012

import binascii
import json
import re
from pathlib import Path

import sigrokdecode as srd

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


def check_field(kind, text):
    """Raises ValueError, with why, where the text of a field is not what records.json says: a word,
    hexadecimal digits, any number of 32 bits, one in a range, or one of some words.
    """
    least, most = (0, U32_MAX) if kind == "u32" else (kind[0], kind[-1])
    if kind == "word":
        fits, why = text, "an empty word"
    elif kind == "hexadecimal":
        fits, why = re.fullmatch("[0-9A-Fa-f]{8}", text), f"{text[:12]!r} does not have 8 hexadecimal digits"
    elif isinstance(least, int):
        fits = text.isascii() and text.isdigit() and least <= int(text) <= most
        why = f"{text[:12]!r} is no number from {least} to {most}"
    else:
        fits, why = text in kind, f"{text[:12]!r} is none of {', '.join(kind)}"
    if not fits:
        raise ValueError(why)


def check_together(name, fields):
    """Raises ValueError, with why, where the fields of a record contradict each other."""
    if name == "TICK":
        _, countdown, period, handler = map(int, fields)
        if max(countdown, handler) >= period:
            raise ValueError(f"a countdown or a handler as long as the period of {period} cycles")
    elif name == "IRQ":
        answers, ticks = list(map(int, fields[1::2])), list(map(int, fields[2::2]))
        if not any(answers):
            raise ValueError("no answer at all")
        if any(sum_ and not number for number, sum_ in zip(answers, ticks, strict=True)):
            raise ValueError("ticks of no answer")
    elif name in ("COST", "STAT"):
        first, unit = (1, "cycles") if name == "COST" else (4, "ticks")
        for least, most in zip(map(int, fields[first::2]), map(int, fields[first + 1 :: 2]), strict=True):
            if least > most and (unit, least, most) != ("ticks", U32_MAX, 0):
                raise ValueError(f"at least {least} and at most {most} {unit}")


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
    kinds = LAYOUTS[name]["fields"].values()
    if len(fields) != len(kinds):
        raise ValueError(f"{name} has {len(fields)} fields instead of {len(kinds)}")
    for kind, text in zip(kinds, fields, strict=True):
        check_field(kind, text)
    check_together(name, fields)
    return name, fields


class Line:
    """The bytes of a line so far, each with its samples; as many as a record can have."""

    def __init__(self):
        self.bytes = bytearray()
        self.places = []
        self.no_stop_bit = False

    def add(self, start, end, byte):
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
            self.line(line, line.places[0][0] if line.places else ss, es)
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
        annotation = [id for id, _ in self.annotations].index(layout["annotation"])
        named = [f"{label} {text}" for label, text in zip(layout["fields"], fields, strict=True)]
        texts = [f"{name}: {', '.join(named)}", f"{name} {' '.join(fields[:2])}", name]
        if name == "OP":
            texts = self.operation_texts(fields)
        self.put(start, end, self.out_ann, [annotation, texts])
        at = len(name) + 2
        for words, text in zip(named, fields, strict=True):
            first, last = line.places[at], line.places[at + len(text) - 1]
            self.put(first[0], last[1], self.out_ann, [ANN_FIELD, [words, text]])
            at += len(text) + 1
        self.put(line.places[at - 1][0], line.places[-1][1], self.out_ann, [ANN_GOOD, ["CRC good", "Good"]])
        if name == "BOOT":
            if self.log_crc32 is not None:
                self.warn(start, end, "The board was reset: a second BOOT", "Reset")
            self.core_hz = int(fields[3])
            self.begin(0)
        elif name == "OP":
            self.operation(fields, start, end)
        elif name == "HEAP" and fields[3] == "0":
            self.warn(start, end, "The heap's invariants do not hold", "Heap broken")
        elif name == "END":
            self.run_ends(fields, start, end)
        elif name == "FAIL":
            self.warn(start, end, f"The firmware gave up: {fields[0]} {fields[1]}", "FAIL")

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

    def run_ends(self, fields, start, end):
        self.put(start, end, self.out_good, self.good)
        self.put(start, end, self.out_damaged, self.damaged)
        if self.log_crc32 is None:
            return
        if int(fields[0]) != self.operations:
            self.warn(start, end, f"END tells of {fields[0]} operations, {self.operations} came", "Missing")
        if int(fields[1], 16) != self.log_crc32:
            self.warn(start, end, "Other bytes came than were sent: the CRC-32 of all differs", "CRC-32")

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


LAYOUTS = json.loads(Path(__file__).with_name("records.json").read_text(encoding="utf-8"))
