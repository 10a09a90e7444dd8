"""A FreeRTOS program on heap_4, traced on the virtual Nucleo, against what it says of itself."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from base.files.locks import taking_turns
from base.paths import ROOT
from scenarios import trace
from scenarios.recording.logs import convert
from simulator import run as simulator

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
