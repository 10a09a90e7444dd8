"""Listens to a board's serial port for as long as the user wants, and returns what it said."""

from __future__ import annotations

import math
import time

import serial

from base.files.errors import first_line
from base.processes import signals
from scenarios.errors import RecordingError
from scenarios.recording.board_log import MOST_BYTES

_READ_BYTES = 65_536


def listen(url: str, baud: int, within_s: float = math.inf) -> bytes:
    """What comes from `url`, a port or what else pySerial opens, until `within_s` or Ctrl-C.

    A line that breaks ends it too: what came until then counts. Raises RecordingError if the port
    cannot be opened or nothing came.
    """
    received = bytearray()
    heard: list[int] = []
    deadline_s = time.monotonic() + within_s
    try:
        # Without waiting: pySerial's blocking read drops what it has when the line breaks.
        with serial.serial_for_url(url, baudrate=baud, timeout=0) as port, signals.passed_on(heard.append):
            while not heard and time.monotonic() < deadline_s and len(received) < MOST_BYTES:
                if came := port.read(_READ_BYTES):
                    received += came
                else:
                    time.sleep(signals.POLL_S)
    except (serial.SerialException, OSError, ValueError) as error:
        if not received:
            words = first_line(error)
            raise RecordingError(
                f"The serial port {url} cannot be heard ({words}); check its name."
            ) from None
    if not received:
        raise RecordingError(f"Nothing came from {url}; check the port, the board's power and the baud rate.")
    return bytes(received)
