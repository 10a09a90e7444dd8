"""Stock pyOCD, gdb and pySerial on the emulated ST-Link V2-1, as on the one of a Nucleo."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from base.paths import ROOT
from base.run_folder.records import EndRecord, OperationRecord, parse
from firmware.build import boards
from scenarios import catalogue
from simulator.desk import EmulatedDesk
from tests.probed_board import TOOL_TIMEOUT_S, elf_of
from tests.processes import free_port

TARGET = boards.default().pyocd_target

HALTED = ("--connect", "halt", "--no-reset", "-O", "resume_on_disconnect=false")
ATTACHED = ("--connect", "attach", "-O", "resume_on_disconnect=false")
DHCSR, S_HALT = 0xE000_EDF0, 1 << 17


class Desk:
    """A board with an ST-Link, and stock programs that see it."""

    def __init__(self, board: EmulatedDesk) -> None:
        self.board = board

    def run(self, *command: str, within_s: float = TOOL_TIMEOUT_S) -> subprocess.CompletedProcess[str]:
        """Runs a program that sees the desk's USB devices."""
        return subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | self.board.environment,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, *words)

    def pyocd(self, subcommand: str, *words: str) -> subprocess.CompletedProcess[str]:
        """pyOCD on the ST-Link with this desk's serial number."""
        chosen = ("--no-wait", "--uid", self.board.stlink, "--target", TARGET)
        return self.python("-m", "pyocd", subcommand, *chosen, *words)

    def commander(self, *commands: str, options: tuple[str, ...] = ()) -> str:
        """What pyOCD's commander says to these commands."""
        words = [word for command in commands for word in ("-c", command)]
        done = self.pyocd("commander", *options, *words)
        return done.stdout + done.stderr


@pytest.fixture
def desk() -> Iterator[Desk]:
    with EmulatedDesk(elf_of("tlsf"), name="bench", start="capture") as board:
        yield Desk(board)


@pytest.mark.long
def test_pyocd_and_pyserial_find_it_by_serial_number_and_usb_id(desk: Desk) -> None:
    listed = desk.python("-m", "pyocd", "list").stdout
    assert re.search(rf"STM32 STLink\s+{desk.board.stlink}\s", listed), listed
    assert "NUCLEO-F401RE" in listed
    ports = desk.python("-m", "serial.tools.list_ports", "-v").stdout
    assert re.search(rf"^/dev/ttyACM0 [\s\S]*VID:PID=0483:374B SER={desk.board.stlink} ", ports), ports
    assert ports.count("/dev/") == 1


@pytest.mark.long
def test_a_pyocd_that_is_killed_leaves_a_probe_that_works(desk: Desk) -> None:
    words = ("-m", "pyocd", "load", "--no-wait", "--uid", desk.board.stlink, "--target", TARGET)
    for after_s in (0.7, 1.1):
        with subprocess.Popen(
            [sys.executable, *words, *HALTED, str(elf_of("seglist"))],
            cwd=ROOT,
            env=os.environ | desk.board.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as killed:
            with pytest.raises(subprocess.TimeoutExpired):
                killed.wait(after_s)
            killed.kill()
        assert "STM32 STLink" in desk.python("-m", "pyocd", "list").stdout
    assert desk.pyocd("load", *HALTED, str(elf_of("seglist"))).returncode == 0


READ_BY_RTT = """
import sys
from pathlib import Path
from capture.acquisition.record_reader import RttReader
from capture.desk.pyocd import ProbeAddress
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
        done = Desk(board).python("-c", READ_BY_RTT, board.stlink, str(elf))
    assert done.returncode == 0, done.stderr
    last_run = parse(done.stdout[done.stdout.rindex("@BOOT,") :].encode())
    assert last_run.damaged == ()
    assert isinstance(last_run.records[-1], EndRecord)
    assert len(last_run.all(OperationRecord)) == plan.operations.height


@pytest.mark.long
def test_gdb_steps_through_the_firmware(desk: Desk) -> None:
    elf = elf_of("tlsf")
    port = free_port()
    chosen = ("--no-wait", "--uid", desk.board.stlink, "--target", TARGET)
    with subprocess.Popen(
        [sys.executable, "-m", "pyocd", "gdbserver", *chosen, "-p", str(port), "-T", str(free_port())],
        cwd=ROOT,
        env=os.environ | desk.board.environment,
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
import os, sys, time
import libusb_package
device = libusb_package.find(idVendor=0x0483, idProduct=0x374B)
device[0][(0, 0)]
import usb.util
usb.util.claim_interface(device, 0)
device.write(0x01, bytes([0xF2, 0x30, 0xA3]).ljust(16, b"\\0"))  # enter SWD
device.read(0x81, 64)
device.write(0x01, bytes([0xF2, 0x08, 0, 0, 0, 0x20, 0, 4]).ljust(16, b"\\0"))  # write 1 KiB
print("half", flush=True)
if "stay" in sys.argv:
    time.sleep(60)
os.kill(os.getpid(), 9)
"""


@pytest.mark.long
def test_half_a_command_does_not_outlive_its_program(desk: Desk) -> None:
    done = desk.python("-c", HALF_A_COMMAND)
    assert (done.returncode, done.stdout) == (-9, "half\n"), done.stderr
    assert "Halted" in desk.commander("halt", "status")
