"""Logs of boards: what is missing, damaged or there twice, and what can still be known."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
import tty
from pathlib import Path
from typing import Any

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st

from base.files.locks import taking_turns
from base.paths import ROOT
from base.run_folder.records import encode
from cli.shell import start
from scenarios import catalogue, trace
from scenarios import trace as scenarios_trace
from scenarios.errors import RecordingError
from scenarios.recording.logs import convert
from scenarios.trace import FREE
from simulator import run as simulator
from tests.sentences import Sentences
from tests.tables import table

TRACE = ROOT / "firmware" / "trace"


def log(*bodies: str) -> bytes:
    return b"".join(encode(body) for body in bodies)


FOUR = ("TA,0,20000100,18", "TA,1,20000200,40", "TF,2,20000100", "TA,3,20000100,8")
WHOLE = ["a,1,24", "a,2,64", "f,1", "a,3,8"]


def test_a_whole_log() -> None:
    result = convert(b"boot v1\r\n" + log(*FOUR) + b"temperature 21\n@TEMP,3\n")
    assert (result.lines, result.defects, result.refused) == (WHOLE, [], 0)


@table
def test_each_defect_is_a_sentence(
    said: tuple[str, ...], lines: tuple[str, ...], defects: int, sentences: Sentences
) -> None:
    result = convert(b"".join(body.encode() if body[0] == "@" else encode(body) for body in said))
    assert (tuple(result.lines), len(result.defects)) == (lines, defects)
    for defect in result.defects:
        sentences.hold(defect)


@given(st.lists(st.sampled_from([*log(*FOUR).splitlines(keepends=True), b"\xff", b"@TA", b"\n", b"*"])))
def test_whatever_a_log_holds_its_trace_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "log.csv"
    try:
        result = convert(b"".join(pieces))
    except RecordingError:
        return
    path.write_text("".join(f"{line}\n" for line in result.lines))
    assert len(trace.read(path).operations) == len(result.lines)


PROGRAM = """
#include <stdint.h>
#include "FreeRTOSConfig.h"
int main(void) {
    traceMALLOC((void *)(uintptr_t)0x20000100, 24 + 8);
    traceMALLOC((void *)(uintptr_t)0xFFFFFFF8u, 0xFFFFFFFFu);
    traceMALLOC(NULL, 100);
    traceFREE((void *)(uintptr_t)0x20000100, 32);
    traceMALLOC((void *)(uintptr_t)0x8, 3);
}
"""
SAYS = """
#include <stdio.h>
unsigned SEGGER_RTT_Write(unsigned buffer, const void *text, unsigned length) {
    return buffer == 2 ? (unsigned)fwrite(text, 1, length, stdout) : 0;
}
void tailscope_trace_write(const char *text, size_t length) { fwrite(text, 1, length, stdout); }
"""


@pytest.mark.parametrize("way", ["", "#define TAILSCOPE_TRACE_RTT 2\n"])
def test_the_header_and_its_source(tmp_path: Path, way: str) -> None:
    config = f'#define TAILSCOPE_TRACE_HEADER_BYTES 8\n{way}#include "tailscope_trace.h"\n'
    (tmp_path / "FreeRTOSConfig.h").write_text(config)
    (tmp_path / "SEGGER_RTT.h").write_text("unsigned SEGGER_RTT_Write(unsigned, const void *, unsigned);\n")
    (tmp_path / "main.c").write_text(SAYS + PROGRAM)
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow", "-fsanitize=undefined"]
    sources: list[Path | str] = [
        tmp_path / "main.c",
        TRACE / "tailscope_trace.c",
        f"-I{tmp_path}",
        f"-I{TRACE}",
    ]
    subprocess.run(["gcc", *strict, *sources, "-o", tmp_path / "program"], check=True)
    said = subprocess.run([tmp_path / "program"], check=True, capture_output=True).stdout
    assert said == log(
        *("TA,0,20000100,18", "TA,1,fffffff8,fffffff7", "TA,2,0,64", "TF,3,20000100", "TA,4,8,0")
    )


def test_a_port_is_heard_until_the_time_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = os.openpty()
    tty.setraw(there)

    def talk() -> None:
        for piece in (b"boot\n", log(*FOUR[:2]), log(*FOUR[2:])):
            os.write(here, piece)
            time.sleep(0.1)

    talking = threading.Thread(target=talk)
    opened = serial.serial_for_url

    def open_and_talk(*words: Any, **more: object) -> Any:
        """pySerial drops what came before it opened the port."""
        port = opened(*words, **more)
        talking.start()
        return port

    monkeypatch.setattr(serial, "serial_for_url", open_and_talk)
    output = tmp_path / "trace.csv"
    status = start.run(
        ["heap", "record", "--output", str(output), "--serial", os.ttyname(there), "--seconds", "3s"]
    )
    talking.join()
    assert status == 0
    assert output.read_text().splitlines()[1:] == WHOLE
    assert (tmp_path / "trace.log").read_bytes() == b"boot\n" + log(*FOUR)
    assert capsys.readouterr().err.endswith(f"4 operations, by {tmp_path / 'trace.log'}.\n")
    os.close(here)
    os.close(there)


MTRACE = b"""\
= Start
@ ./m:[0x11a0] + 0x55f1cadff4a0 0x64
@ ./m:[0x11ae] + 0x55f1cadff510 0x3c
@ ./m:[0x11c3] < 0x55f1cadff4a0
@ ./m:[0x11c3] > 0x55f1cadff560 0x1388
@ ./m:[0x11d3] - 0x55f1cadff510
@ ./m:[0x11e2] + 0x55f1cadff2a0 0x15
@ ./m:[0x11f2] - 0x55f1cadff560
@ ./m:[0x11fc] + 0x55f1cadff560 0xc
@ ./m:[0x1211] - 0x55f1cadff560
@ ./m:[0x1220] + 0x55f1cadff580 0x80
@ ./m:[0x1230] - 0x55f1cadff580
"""
# Without the lines on strings, addresses and time, and without what the loader allocates.
HEAPTRACK = b"""\
v 10400 3
X ./m
s 4 main
a 64 8
+ 0
a 3c 9
+ 1
- 0
a 1388 a
+ 2
- 1
a 15 b
+ 3
- 2
a c c
+ 4
a 80 d
+ 5
- 5
"""
BEFORE = ["a,1,100", "a,2,60"]
AFTER_MTRACE = ["r,1,5000", "f,2", "a,3,21", "f,1", "a,4,12", "f,4", "a,5,128", "f,5"]
# heaptrack writes a reallocation as a free and an allocation, and misses realloc(d, 0).
AFTER_HEAPTRACK = ["f,1", "a,3,5000", "f,2", "a,4,21", "f,3", "a,5,12", "a,6,128", "f,6"]


@pytest.mark.parametrize(("log", "after"), [(MTRACE, AFTER_MTRACE), (HEAPTRACK, AFTER_HEAPTRACK)])
def test_a_log_has_the_operations_of_its_program(log: bytes, after: list[str]) -> None:
    trace = convert(log)
    assert (trace.lines, trace.defects, trace.refused) == ([*BEFORE, *after], [], 0)


@pytest.mark.parametrize(
    ("log", "lines", "refused", "defects"),
    [
        (b"= Start\n- 0x10\n+ 0x20 0\n= End\n", ["a,1,1"], 0, 1),
        (b"= Start\n< 0x10\n> 0x30 0x8\n- 0x30\n", ["a,1,8", "f,1"], 0, 1),
        (b"= Start\n+ (nil) 0x64\n! 0x10 0x64\n+ 0x20 0x2\n+ 0x3", ["a,1,2"], 2, 1),
        (b"v 10400 3\na 8 1\n+ 0\n+ 0\n- 0\n- 0\n- 0\n+ 9\n+\n", ["a,1,8", "a,2,8", "f,2", "f,1"], 0, 3),
    ],
)
def test_what_is_missing_or_damaged_is_counted(
    log: bytes, lines: list[str], refused: int, defects: int
) -> None:
    trace = convert(log)
    assert (trace.lines, trace.refused, len(trace.defects)) == (lines, refused, defects)


def test_other_files() -> None:
    for log in (
        *(b"\x28\xb5\x2f\xfd rest", b"\x1f\x8b rest", b"v 20000 9\n", b"= Start\n= End\n", b""),
        b"@TA,0,20000010,18*1234\n",
    ):
        with pytest.raises(RecordingError):
            convert(log)


# A FreeRTOS program on heap_4, traced on the virtual Nucleo, against what it says of itself.


OWN = re.compile(rb"(took|gives|refused) ([0-9a-f]{8}) ([0-9a-f]{8})")
HEADER_BYTES = 8


def built() -> Path:
    build = ROOT / "build" / "traced"
    source = ("cmake", "-S", ROOT / "firmware" / "tests" / "traced", "-B", build, "-G", "Ninja")
    with taking_turns(build):
        for command in (source, ("cmake", "--build", build)):
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    return build / "traced.elf"


def test_the_trace_is_what_the_program_says(tmp_path: Path) -> None:
    said = simulator.run(built(), until="5s").uart
    assert said.endswith(b"over 00000000 00000000\n"), said[-200:]
    result = convert(said)
    assert result.defects == []
    (tmp_path / "trace.csv").write_text("".join(f"{line}\n" for line in result.lines))
    assert len(trace.read(tmp_path / "trace.csv").operations) == len(result.lines)

    # The program says of each block right behind its line in the trace, or before its free.
    lines = said.splitlines()
    own = [(match, number) for number, line in enumerate(lines) if (match := OWN.fullmatch(line))]
    assert len(own) == 4 * 60 + 3
    for match, number in own:
        what, address, size = match[1], match[2].lstrip(b"0") or b"0", int(match[3], 16)
        kind, _, traced, *rest = lines[number + (what == b"gives") * 2 - 1].partition(b"*")[0].split(b",")
        assert (kind, traced) == (b"@TF" if what == b"gives" else b"@TA", address)
        if what == b"took":
            # heap_4 rounds up to 8 bytes, and gives away a rest of less than two headers.
            assert size <= int(rest[0], 16) < size + 8 + 2 * HEADER_BYTES
    assert result.refused == sum(match[1] == b"refused" for match, _ in own) == 1

    # What the kernel itself took: three stacks of 640 bytes, three control blocks, two queues.
    sizes = [int(line.split(",")[2]) for line in result.lines if line.startswith("a")]
    assert sizes.count(640) == 3
    assert len(sizes) == 121 + 3 * 2 + 2 + 2  # its own; tasks; queues; the idle task


# docs/how-to/traces.md against the recordings that are here.


ROW = re.compile(r"\| (recorded_\w+) \| .* \| ([\d,]+) \| ([\d,]+) bytes in ([\d,]+) blocks \| (\d+) \|")
ROWS = ROW.findall((ROOT / "docs" / "how-to" / "traces.md").read_text(encoding="utf-8"))


@pytest.mark.docs
def test_the_table_has_every_recording() -> None:
    assert [row[0] for row in ROWS] == [name for name in catalogue.names() if name.startswith("recorded_")]


@pytest.mark.docs
@pytest.mark.parametrize(("name", "operations", "live_bytes", "blocks", "scale"), ROWS)
def test_a_row_tells_what_the_file_has(
    name: str, operations: str, live_bytes: str, blocks: str, scale: str
) -> None:
    scenario = catalogue.load(name)
    trace = scenarios_trace.read(Path(str(scenario.parameters["trace"])))
    live: dict[int, int] = {}
    most_bytes = most_blocks = 0
    for kind, slot, size, _ in trace.operations.tolist():
        if kind == FREE:
            del live[slot]
        else:
            live[slot] = size
        most_bytes = max(most_bytes, sum(live.values()))
        most_blocks = max(most_blocks, len(live))
    assert operations == f"{len(trace.operations):,}"
    assert (live_bytes, blocks) == (f"{most_bytes:,}", f"{most_blocks:,}")
    assert int(scale) == scenario.parameters["scale"]
