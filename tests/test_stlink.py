"""Stock pyOCD, gdb and pySerial on the emulated ST-Link V2-1, as on the one of a Nucleo."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from base.paths import ROOT
from base.run_folder.records import EndRecord, OperationRecord, parse
from firmware.build import boards
from scenarios import catalogue
from simulator.desk import EmulatedDesk
from tests.probed_board import elf_of
from tests.processes import free_port, seeing

TARGET = boards.default().pyocd_target

HALTED = ("--connect", "halt", "--no-reset", "-O", "resume_on_disconnect=false")


def python(desk: EmulatedDesk, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return seeing(desk, sys.executable, *words)


def pyocd(desk: EmulatedDesk, subcommand: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """pyOCD on the ST-Link with this desk's serial number."""
    chosen = ("--no-wait", "--uid", desk.stlink, "--target", TARGET)
    return python(desk, "-m", "pyocd", subcommand, *chosen, *words)


@pytest.fixture
def desk() -> Iterator[EmulatedDesk]:
    with EmulatedDesk(elf_of("tlsf"), name="bench", start="capture") as board:
        yield board


@pytest.mark.long
def test_pyocd_and_pyserial_find_it_by_serial_number_and_usb_id(desk: EmulatedDesk) -> None:
    listed = python(desk, "-m", "pyocd", "list").stdout
    assert re.search(rf"STM32 STLink\s+{desk.stlink}\s", listed), listed
    assert "NUCLEO-F401RE" in listed
    ports = python(desk, "-m", "serial.tools.list_ports", "-v").stdout
    assert re.search(rf"^/dev/ttyACM0 [\s\S]*VID:PID=0483:374B SER={desk.stlink} ", ports), ports
    assert ports.count("/dev/") == 1


@pytest.mark.long
def test_a_pyocd_that_is_killed_leaves_a_probe_that_works(desk: EmulatedDesk) -> None:
    words = ("-m", "pyocd", "load", "--no-wait", "--uid", desk.stlink, "--target", TARGET)
    for after_s in (0.7, 1.1):
        with subprocess.Popen(
            [sys.executable, *words, *HALTED, str(elf_of("seglist"))],
            cwd=ROOT,
            env=os.environ | desk.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as killed:
            with pytest.raises(subprocess.TimeoutExpired):
                killed.wait(after_s)
            killed.kill()
        assert "STM32 STLink" in python(desk, "-m", "pyocd", "list").stdout
    assert pyocd(desk, "load", *HALTED, elf_of("seglist")).returncode == 0


READ_BY_RTT = """
import sys
from pathlib import Path
from capture.acquisition.record_reader import RttReader
from capture.desk.board import ProbeAddress
with RttReader(ProbeAddress(sys.argv[1], "stm32f401retx"), Path(sys.argv[2])) as reader:
    reader.debugger.reset()
    reader.wait(60)
sys.stdout.buffer.write(reader.data)
sys.exit(reader.problem)
"""


@pytest.mark.long
def test_records_come_by_rtt_and_the_reader_starts_the_board() -> None:
    plan = catalogue.load("mem_frag", {"depth": 8}).compile().recorded_by("rtt")
    elf = elf_of("tlsf")
    with EmulatedDesk(elf, image=plan.image, name="rtt") as board:
        done = python(board, "-c", READ_BY_RTT, board.stlink, elf)
    assert done.returncode == 0, done.stderr
    last_run = parse(done.stdout[done.stdout.rindex("@BOOT,") :].encode())
    assert last_run.damaged == ()
    assert isinstance(last_run.records[-1], EndRecord)
    assert len(last_run.all(OperationRecord)) == plan.operations.height


@pytest.mark.long
def test_gdb_steps_through_the_firmware(desk: EmulatedDesk) -> None:
    elf = elf_of("tlsf")
    port = free_port()
    chosen = ("--no-wait", "--uid", desk.stlink, "--target", TARGET)
    with subprocess.Popen(
        [sys.executable, "-m", "pyocd", "gdbserver", *chosen, "-p", str(port), "-T", str(free_port())],
        cwd=ROOT,
        env=os.environ | desk.environment,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stderr
        assert any("GDB server listening" in line for line in server.stderr)
        commands = [f"target remote :{port}", "monitor reset halt", "compare-sections .text"]
        commands += ["break main", "continue", "stepi", "detach"]
        words = [word for command in commands for word in ("-ex", command)]
        said = subprocess.run(
            ["gdb-multiarch", "-batch", "-nx", *words, str(elf)], capture_output=True, text=True, timeout=300
        ).stdout
        server.terminate()
    assert re.search(r"Section \.text.*matched", said), said
    assert re.search(r"Breakpoint 1, (0x\w+ in )?main", said), said


HALF_A_COMMAND = """
import os
import libusb_package
device = libusb_package.find(idVendor=0x0483, idProduct=0x374B)
device[0][(0, 0)]
import usb.util
usb.util.claim_interface(device, 0)
device.write(0x01, bytes([0xF2, 0x30, 0xA3]).ljust(16, b"\\0"))  # enter SWD
device.read(0x81, 64)
device.write(0x01, bytes([0xF2, 0x08, 0, 0, 0, 0x20, 0, 4]).ljust(16, b"\\0"))  # write 1 KiB
print("half", flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.long
def test_half_a_command_does_not_outlive_its_program(desk: EmulatedDesk) -> None:
    done = python(desk, "-c", HALF_A_COMMAND)
    assert (done.returncode, done.stdout) == (-9, "half\n"), done.stderr
    assert "Halted" in pyocd(desk, "commander", "-c", "halt", "-c", "status").stdout
