"""Logs of boards: what is missing, damaged or there twice, and what can still be known."""

from __future__ import annotations

import os
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

from base.paths import ROOT
from base.run_folder.records import encode
from cli.shell import start
from scenarios import trace
from scenarios.errors import RecordingError
from scenarios.recording.logs import convert
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
