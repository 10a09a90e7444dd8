"""The faults that a desk can have: what is injected, and what the bench must make of it.

Samples count from the capture's first, at 24 MS/s. The board leaves reset at 480,000 and has ended
before 2,500,000. Bytes count from the first that the board sends, of about 5,000; about the 3,100th
stand records of operations, with no other between.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COMPLETE, TRUNCATED, INCONCLUSIVE, REFUSED = "complete", "truncated", "inconclusive", "refused"
"""Verdicts, and REFUSED where nothing was captured and a sentence says why."""

DESK, VIRTUAL = "desk", "virtual"


@dataclass(frozen=True)
class DeskFault:
    """One fault.

    `verdict` is the outcome that is due, and `says` part of a sentence that must come with it; an
    ellipsis in it stands for any words.
    `requests` are lines for the desk's control socket (docs/how-to/desk.md), sent before
    the run. `act` is done when the bench is at `step` (acts.py). `records` says what carries the
    records, uart or rtt. `other_firmware`: the flash holds the firmware of another allocator at
    first. `notes` is part of a warning that a complete run must have. `loses_cycles`: some
    operations have no cycles by DWT, so that statistic may differ from a run without.
    """

    name: str
    injected: str
    verdict: str
    detected_by: str
    says: str
    requests: tuple[str, ...] = ()
    step: str = ""
    act: str = ""
    records: str = "uart"
    other_firmware: bool = False
    notes: str = ""
    loses_cycles: bool = False
    boards: tuple[str, ...] = (DESK,)

    @property
    def exit_status(self) -> int:
        """Of the command: 0 for a complete run alone, 143 after a SIGTERM."""
        if self.act == "terminate":
            return 143
        return 0 if self.verdict == COMPLETE else 1

    def is_said_in(self, sentence: str) -> bool:
        """True if a sentence is the one that is due."""
        return _is_part(self.says, sentence)

    def is_noted_in(self, warning: str) -> bool:
        """True if a warning is the one that is due."""
        return _is_part(self.notes, warning)

    @property
    def kept(self) -> str:
        """What is kept of the run."""
        return "nothing" if self.verdict == REFUSED else "all that came"


def _is_part(words: str, sentence: str) -> bool:
    return re.search(".*".join(map(re.escape, words.split("…"))), sentence) is not None


NONE = DeskFault("none", "nothing", COMPLETE, "–", "", boards=(DESK, VIRTUAL))

SHORT = "The capture is short: … are missing; capture again."
NO_END = "The records stop without END after … bytes…; check the line and run again."
LINE_LOST = (
    "Gaps in the numbers of the operation records: …; check the serial line, lower its baud if it recurs, "
    "and run again."
)
NO_ANALYZER = "sigrok-cli captures nothing (…); check the analyzer's cable and bench.toml, then run again."
ABSENT = (
    "sigrok-cli finds no analyzer of the driver fx2lafw that answers (…); check the analyzer's cable and "
    "bench.toml, then run again."
)
UNREADABLE = (
    "Lines of the serial log that cannot be read: …; check the cable, lower baud in bench.toml if it "
    "recurs, and run again."
)
LOST = "leaves its timer's line about sample …: samples were lost, doubled or changed; run again"
HUNG = "The firmware has not faulted: it was at … (…); look there for a loop that does not end."
HARD_FAULT = "The firmware hard-faulted: an instruction fetch from where nothing answers, at 0x60000000."
STARTED_TWICE = "The board started 2 times during the run; check its power supply and run again."
STARTED_OFTEN = "The board started … times during the run; check its power supply and run again."
OTHER_FIRMWARE = "Of its allocator the firmware says seglist, not tlsf; build and load it again."
INTERRUPTED = "The run was interrupted, by Ctrl-C or another signal; run it again to its end."
NO_PROBE = "pyOCD cannot load the board: …; check its USB cable and bench.toml."
PORT_BACK = (
    "The serial line /dev/ttyACM0 broke after … bytes (…) and came back as /dev/ttyACM1; "
    "what the board said meanwhile is lost: check the cable, then run again."
)
RTT_BROKE = (
    "Reading the records by RTT broke after … bytes (…); "
    "check the debug probe and the board's power, then run again."
)
KILLED = "sigrok-cli was killed by signal 9; capture again."
PORT_GONE = "The serial line /dev/ttyACM0 broke after … bytes (…); check the cable and the board's power"


RINGS = (
    "1 operations show more than one pulse on CRIT, the first is … with 4; check the CRIT clip and its "
    "ground."
)
NO_END_FRAME = "SYNC shows no end frame"
PROTECTED = (
    "pyOCD cannot load the board: its flash is read-protected (RDP level 1 in the option bytes); set level 0 "
    "with STM32CubeProgrammer, which erases the flash."
)
STRAY = "… bytes came right before BOOT and were ignored: the serial line was not quiet at the reset"
COUNTER_OFF = "The cycle counter was found off at operation … and started again"
DIPPED = "The board started 2 times during the run, the last by a brown-out; check its power supply"


def _analyzer(name: str, injected: str, verdict: str, by: str, says: str, *requests: str) -> DeskFault:
    return DeskFault(f"analyzer-{name}", injected, verdict, by, says, requests)


def _serial(name: str, injected: str, verdict: str, by: str, says: str, request: str) -> DeskFault:
    return DeskFault(f"serial-{name}", injected, verdict, by, says, (f"serial {request}",))


FAULTS: tuple[DeskFault, ...] = (
    NONE,
    DeskFault(
        "terminated",
        "SIGTERM to the bench as the capture begins",
        TRUNCATED,
        "signal",
        INTERRUPTED,
        step="capturing",
        act="terminate",
        boards=(VIRTUAL,),
    ),
    DeskFault(
        "terminated-early",
        "SIGTERM to the bench before the board's reset",
        REFUSED,
        "signal",
        "Stopped by SIGTERM.",
        step="capturing",
        act="terminate",
    ),
    _analyzer(
        "absent", "analyzer unplugged before the run", REFUSED, "sigrok-cli --show", ABSENT,
        "unplug analyzer",
    ),
    _analyzer(
        "unplugged", "analyzer unplugged at sample 1,300,000", TRUNCATED, "number of samples", SHORT,
        "fault unplug at 1300000",
    ),
    DeskFault(
        "analyzer-unplugged-early", "analyzer unplugged as the flashing begins", REFUSED,
        "start of the capture", NO_ANALYZER, step="loading the board", act="unplug analyzer",
    ),
    DeskFault(
        "sigrok-killed", "SIGKILL to sigrok-cli once the board has spoken", TRUNCATED, "its exit status",
        KILLED, step="capturing", act="kill sigrok-cli",
    ),
    _analyzer(
        "refuses", "analyzer stalls the start command", REFUSED, "start of the capture", NO_ANALYZER,
        "fault refuse start",
    ),
    _analyzer(
        "firmware", "analyzer's firmware says 2.4", INCONCLUSIVE, "words of sigrok-cli",
        "Expected firmware version 1.x, got 2.4; replug the analyzer", "fault version 2.4",
    ),
    _analyzer(
        "stalled", "endpoint stalls at sample 1,300,000", TRUNCATED, "number of samples", SHORT,
        "fault stall at 1300000",
    ),
    _analyzer(
        "bus-error", "bus errors from sample 1,300,000 on", TRUNCATED, "number of samples", SHORT,
        "fault error at 1300000",
    ),
    _analyzer(
        "stopped", "no sample after the 1,300,000th", TRUNCATED, "number of samples", SHORT,
        "fault stop at 1300000",
    ),
    _analyzer(
        "overflow", "100,000 samples dropped at 1,300,000, silently", INCONCLUSIVE,
        "records, timers and wire differ", LOST,
        "fault lose 100000 at 1300000",
    ),
    _analyzer(
        "overflow-of-1us", "24 samples dropped at 1,300,000, silently", INCONCLUSIVE,
        "timers' lines on the wire", LOST, "fault lose 24 at 1300000",
    ),
    _analyzer(
        "hub-stall", "the hub passes nothing on for 50 ms from sample 1,300,000: its buffers overflow",
        TRUNCATED, "number of samples", SHORT, "fault hub 1200000 at 1300000",
    ),
    _analyzer(
        "hub-pause", "the hub passes nothing on for 50 µs from sample 1,300,000", COMPLETE,
        "nothing is lost: its buffers hold more", "", "fault hub 1200 at 1300000",
    ),
    _analyzer(
        "rings", "an edge of CRIT goes back and forth three times", INCONCLUSIVE,
        "pulses of an operation", RINGS, "fault ring D0 at 1300000",
    ),
    _analyzer(
        "ground-lost", "the ground clip comes off at sample 1,300,000: a millisecond of noise, then low",
        TRUNCATED, "END frame is missing", NO_END_FRAME, "fault ground at 1300000",
    ),
    _analyzer(
        "short-packet", "a transfer ends early at sample 1,300,000", COMPLETE, "nothing is lost", "",
        "fault short at 1300000",
    ),
    DeskFault(
        "probe-absent", "probe unplugged before the run", REFUSED, "pyOCD", NO_PROBE,
        ("unplug probe",),
    ),
    DeskFault(
        "probe-unplugged", "probe unplugged at sample 1,300,000", TRUNCATED, "serial port",
        PORT_GONE, ("probe unplug at 1300000",),
    ),
    DeskFault(
        "probe-unplugged-late", "probe unplugged at sample 60,000,000, after END", COMPLETE,
        "nothing is lost", "", ("probe unplug at 60000000",),
    ),
    DeskFault(
        "port-renamed", "port gone at sample 1,300,000, back as /dev/ttyACM1", TRUNCATED, "serial port",
        PORT_BACK, ("probe back as ttyACM1 at 1300000",),
    ),
    DeskFault(
        "port-renamed-early", "port gone and back as /dev/ttyACM1 before the board's reset", COMPLETE,
        "nothing is lost: the port is found by its USB id", "", step="capturing", act="rename port",
    ),
    DeskFault(
        "probe-renewed", "probe back as 0483:3752 before the run, as after an update of its firmware",
        COMPLETE, "nothing is lost: all of ST's ids are known", "",
        ("unplug probe", "plug probe as 0483:3752"),
    ),
    DeskFault(
        "flash-protected", "the option bytes have read protection, level 1", REFUSED,
        "FLASH_OPTCR, read after pyOCD failed", PROTECTED, ("loader protected",),
    ),
    DeskFault(
        "rtt-probe-unplugged", "records by RTT; probe unplugged at sample 700,000", TRUNCATED,
        "pyOCD", RTT_BROKE, ("probe unplug at 700000",), records="rtt",
    ),
    _serial(
        "flip", "a bit of byte 3,100 inverted", TRUNCATED, "the line's form", UNREADABLE,
        "flip at 3100",
    ),
    _serial(
        "noise", "a bit of each 97th byte inverted, from 2,000 on", TRUNCATED, "checksum of the line",
        UNREADABLE, "noise 97 at 2000",
    ),
    _serial(
        "lost-line", "the line at byte 3,100 lost", TRUNCATED, "sequence numbers", LINE_LOST,
        "lose line at 3100",
    ),
    _serial(
        "doubled-line", "the line at byte 3,100 comes twice", TRUNCATED, "sequence numbers", LINE_LOST,
        "double line at 3100",
    ),
    _serial(
        "swapped-lines", "two lines at byte 3,100 change places", TRUNCATED, "sequence numbers", LINE_LOST,
        "swap lines at 3100",
    ),
    _serial(
        "cut-line", "half of the line at byte 3,100 lost", TRUNCATED, "the line's form", UNREADABLE,
        "cut line at 3100",
    ),
    _serial(
        "lost-byte", "byte 3,100 lost", TRUNCATED, "checksum of the line", UNREADABLE,
        "lose byte at 3100",
    ),
    _serial(
        "doubled-byte", "byte 3,100 comes twice", TRUNCATED, "checksum of the line", UNREADABLE,
        "double byte at 3100",
    ),
    _serial(
        "hub-stall", "the hub passes nothing on for 2,000 bytes from byte 2,000 on", TRUNCATED,
        "sequence numbers", LINE_LOST, "stall 2000 at 2000",
    ),
    DeskFault(
        "serial-floats", "5 bytes that nobody sent, before the board's first", COMPLETE,
        "bytes before BOOT", "", ("serial stray 5",), notes=STRAY,
    ),
    _serial("silent", "no byte after the 3,100th", TRUNCATED, "END is missing", NO_END, "silence at 3100"),
    _serial(
        "baud", "the port listens at 115,200 baud", TRUNCATED, "the lines' form",
        UNREADABLE, "baud 115200 at 0",
    ),
    DeskFault(
        "board-hung", "endless loop from sample 1,300,000 on", TRUNCATED, "END is missing; the core's PC",
        HUNG, ("board hang at 1300000",),
    ),
    DeskFault(
        "board-hard-fault", "jump to 0x60000000 at sample 1,300,000", TRUNCATED,
        "FAIL record; fault registers", HARD_FAULT,
        ("board fault at 1300000",),
    ),
    DeskFault(
        "board-reset", "reset at sample 1,300,000", TRUNCATED, "second BOOT record",
        STARTED_TWICE, ("board reset at 1300000",),
    ),
    DeskFault(
        "board-supply-dips", "brown-out at sample 1,300,000", TRUNCATED,
        "second BOOT record, and its reset cause", DIPPED, ("board brown-out at 1300000",),
    ),
    DeskFault(
        "counter-stopped", "TRCENA cleared at sample 1,300,000, as by a debugger that leaves", COMPLETE,
        "the counter's state around each operation", "", ("board trace off at 1300000",),
        notes=COUNTER_OFF, loses_cycles=True,
    ),
    DeskFault(
        "crystal-500-ppm", "the board's clock is 500 ppm too slow", COMPLETE, "frames and calibration", "",
        ("board crystal -500",),
    ),
    DeskFault(
        "board-brown-out", "reset each 500,000 samples, from 1,300,000 on", TRUNCATED,
        "more BOOT records", STARTED_OFTEN, ("board reset every 500000 at 1300000",),
    ),
    DeskFault(
        "firmware-not-written", "loader writes nothing; another firmware is there", INCONCLUSIVE,
        "BOOT record", OTHER_FIRMWARE, ("loader idle",), other_firmware=True,
    ),
    DeskFault(
        "flash-empty", "loader writes nothing; the flash is erased", TRUNCATED, "no records",
        NO_END, ("loader idle",),
    ),
)  # fmt: skip


def named(name: str) -> DeskFault:
    """The fault called `name`. Raises KeyError."""
    return {fault.name: fault for fault in FAULTS}[name]
