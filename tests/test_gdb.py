"""gdb on the virtual Nucleo, through pyOCD's gdb server."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from base.paths import ROOT
from tests.probed_board import TOOL_TIMEOUT_S, ProbedBoard, elf_of, pyocd_command
from tests.processes import free_port, wait_until

GDB = shutil.which("gdb-multiarch")


@contextmanager
def gdb_server(board: ProbedBoard) -> Iterator[int]:
    """pyOCD's gdb server on a free port."""
    port, telnet = free_port(), free_port()
    command = pyocd_command(
        board.probe, "gdbserver", "--port", str(port), "--telnet-port", str(telnet), "--elf", str(board.elf)
    )
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stderr
        for line in server.stderr:
            if "GDB server listening" in line:
                break
        try:
            yield port
        finally:
            server.terminate()
            server.communicate(timeout=TOOL_TIMEOUT_S)


def debug(board: ProbedBoard, *commands: str) -> str:
    """What gdb says to the commands, after it has connected and reset the board."""
    assert GDB
    with gdb_server(board) as port:
        connect = (f"target remote 127.0.0.1:{port}", "monitor reset halt", "flushregs")
        words = [word for command in (*connect, *commands) for word in ("-ex", command)]
        done = subprocess.run(
            [GDB, "-batch", "-nx", *words, str(board.elf)],
            capture_output=True,
            text=True,
            timeout=TOOL_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    return done.stdout + done.stderr


@pytest.fixture
def board() -> Iterator[ProbedBoard]:
    with ProbedBoard(elf_of("seglist")) as served:
        yield served


def test_a_session_from_reset_to_a_step(board: ProbedBoard) -> None:
    said = debug(
        board,
        "compare-sections .text",
        "break record_begin",
        "continue",
        "backtrace 2",
        "delete",
        "print (int)line_open",
        "watch line_open",
        "continue",
        "delete",
        "print (int)line_open",
        "stepi",
        "detach",
    )
    assert re.search(r"Section \.text.*matched", said), said
    assert re.search(r"#0\s+(0x\w+ in )?record_begin \(type=.*\"BOOT\"\)", said), said
    assert re.search(r"#1\s+0x\w+ in (boot|run_bench)", said), said
    # pyOCD does not tell gdb which watchpoint it was. gdb shows the trap, and the value is another.
    assert re.search(r"\$1 = 0\s.*SIGTRAP.*record_begin.*\$2 = 1\s", said, re.DOTALL), said


def test_the_registers_are_those_of_the_reset_vector(board: ProbedBoard) -> None:
    said = debug(board, "print/x (int)$pc == (int)&Reset_Handler", "print $primask", "print/x $xpsr")
    assert re.search(r"\$1 = 0x1\s+\$2 = 0\s+\$3 = 0x1000000", said), said


def test_floating_point_registers_keep_what_is_written(board: ProbedBoard) -> None:
    said = debug(board, "set $s5 = 1.5", "stepi", "print $s5", "print $fpscr")
    assert re.search(r"\$1 = 1\.5\s+\$2 = .*0", said), said


def test_the_board_goes_on_when_gdb_has_gone(board: ProbedBoard) -> None:
    debug(board, "detach")
    assert wait_until(board.is_alive)
    assert "Halted" in board.commander("halt", "status")
