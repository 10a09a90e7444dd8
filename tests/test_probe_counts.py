"""Probes that the virtual board counts from outside, against those that the allocator counts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from base.run_folder import records
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import run as simulator

CALIBRATION_PULSES = 24
"""Pulses on OP before operation 0, and as many after the last one (docs/reference/wire.md)."""

LOOKS_AT_BLOCK = r"ldr(\.w)?\s+r\d+, \[r\d+, #4\]"
"""The search reads the size of a block: the second word of its header."""

LOOKS_INTO_CLASS = r"ldr(\.w)?\s+r\d+, \[r\d+\], #4"
"""The search reads the head of a list and moves on to the next one."""


def offset_of(pattern: str, elf: Path) -> int:
    """The offset in heap_index_find of the one instruction that matches `pattern`."""
    command = ["arm-none-eabi-objdump", "-d", "--disassemble=heap_index_find", str(elf)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    start = re.search(r"^([0-9a-f]+) <heap_index_find>:", listing, re.MULTILINE)
    assert start is not None
    places = [
        int(line.split(":")[0], 16) for line in listing.splitlines() if re.search(rf"\t{pattern}(\s|$)", line)
    ]
    assert len(places) == 1, f"the search was compiled otherwise: {pattern} stands at {places}"
    return places[0] - int(start[1], 16)


def test_executions_between_edges_are_the_probes_of_the_records() -> None:
    plan = catalogue.load("mem_stress").compile()
    elf = firmware.build("seglist").elf
    places = {"blocks": LOOKS_AT_BLOCK, "classes": LOOKS_INTO_CLASS}
    counts = {name: f"heap_index_find+{offset_of(pattern, elf):#x}" for name, pattern in places.items()}
    done = simulator.run(elf, image=plan.image, until="2s", counts=counts, count_window="OP")
    log = done.records
    assert log.first(records.EndRecord) is not None
    windows = done.windows[CALIBRATION_PULSES:-CALIBRATION_PULSES]
    counted = (windows["blocks"] + windows["classes"]).to_list()
    recorded = [record.probes for record in log.all(records.OperationRecord)]
    assert len(recorded) == 1200
    assert counted == recorded
    assert max(recorded) > 1
