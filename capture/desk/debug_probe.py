"""A debug probe in use while the firmware runs: memory, and the reset pin.

pyOCD does the talking. While a run goes on the core is never halted, and DEMCR stays as the
firmware set it, so that DWT counts on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyocd.core.exceptions import Error
from pyocd.core.helpers import ConnectHelper
from pyocd.core.memory_map import MemoryType
from pyocd.core.session import Session
from pyocd.core.target import Target
from pyocd.coresight.cortex_m import CortexM
from pyocd.debug.elf.elf import ELFBinaryFile
from pyocd.debug.elf.symbols import ELFSymbolProvider
from pyocd.probe.tcp_client_probe import TCPClientProbe

from base.files.errors import CaptureError, first_line
from capture.desk.board import TARGET_SCRIPT, ProbeAddress

SILENCE_S = 10.0
"""A probe that answers nothing for this long is taken for dead."""


class ProbeSession:
    """A debugger attached to a board. It has the probe to
    itself: only its reset() starts the board.

    Reading and writing memory raise what pyOCD raises, and ConnectionError once the probe has
    fallen silent.
    """

    def __init__(self, address: ProbeAddress) -> None:
        logging.getLogger("pyocd").setLevel(logging.CRITICAL)  # it tells its callers as well
        self._lock = threading.Lock()
        probes: Any = ConnectHelper.get_all_connected_probes(
            blocking=False, unique_id=address.unique_id or None, print_wait_message=False
        )
        if len(probes) != 1:
            named = f" {address.unique_id}" if address.unique_id else ""
            raise CaptureError(
                f"{len(probes) or 'No'} debug probes{named} are connected, one is needed; name one in "
                "bench.toml."
            )
        (probe,) = probes
        self._answers: _Answers | None = None
        if isinstance(probe, TCPClientProbe):  # not one on USB: its answers are watched
            self._answers = _Answers(probe._socket.read)
            probe._socket.read = self._answers.read
        try:
            self._session = Session(
                probe,
                options={
                    "connect_mode": "attach",
                    "resume_on_disconnect": False,  # or it would clear DEMCR
                    "target_override": address.target,
                    "project_dir": str(TARGET_SCRIPT.parent),
                    "user_script": str(TARGET_SCRIPT),
                    "no_config": True,
                },
            )
            self._session.open()
            self._target = self._session.board.target
        except (Error, OSError) as error:
            raise CaptureError(
                f"pyOCD cannot attach to the board: {first_line(error)}; check its USB cable and bench.toml."
            ) from None

    def read_words(self, address: int, count: int) -> Sequence[int]:
        """`count` words from the aligned `address` on."""
        with self._in_use():
            return list(self._target.read_memory_block32(address, count))

    @property
    def sram(self) -> range:
        """The first SRAM of the target, as pyOCD knows it."""
        region = self._target.memory_map.get_default_region_of_type(MemoryType.RAM)
        return range(region.start, region.start + region.length)

    def write_word(self, address: int, value: int) -> None:
        """One word at the aligned `address`."""
        with self._in_use():
            self._target.write32(address, value)

    def read_register(self, name: str) -> int:
        """A core register by pyOCD's name; the core must be halted."""
        with self._in_use():
            return int(self._target.read_core_register_raw(name))

    @contextmanager
    def halted(self) -> Iterator[int]:
        """The core halted, for a look at a run that is over.

        Yields DHCSR as it was. A core that ran before runs on afterwards. Raises what pyOCD raises.
        """
        with self._in_use():
            dhcsr = int(self._target.read32(CortexM.DHCSR))
            ran = not dhcsr & CortexM.S_HALT
            if ran:
                self._target.halt()
        try:
            yield dhcsr
        finally:
            if ran:
                with self._in_use():
                    self._target.resume()

    def reset(self) -> None:
        """Resets the board by its reset pin: the firmware starts. Raises CaptureError."""
        try:
            with self._in_use():
                self._target.reset(Target.ResetType.HARDWARE)
        except Exception as error:  # whatever pyOCD raises
            raise CaptureError(
                f"pyOCD cannot reset the board: {first_line(error)}; check its USB cable and bench.toml."
            ) from None

    def close(self) -> None:
        """Detaches; the firmware runs on."""
        with suppress(Error, OSError), self._in_use():
            self._session.close()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """The probe for one caller. What pyOCD stumbles over in a
        silence (an assertion of its own, say) is told as the silence.
        """
        with self._lock:
            try:
                yield
            except Exception:
                if self._answers and self._answers.silence:
                    raise ConnectionError(self._answers.silence) from None
                raise


def symbol(elf: Path, name: str) -> int:
    """The address of `name` in the firmware. Raises CaptureError where it has none."""
    address = ELFSymbolProvider(ELFBinaryFile(str(elf))).get_symbol_value(name)
    if address is None:
        raise CaptureError(f"{elf} has no {name}; build the firmware again with ./lab dev build.")
    return int(address)


class _Answers:
    """pyOCD's client waits for ever for the rest of a line, be the other end gone or silent.

    Once it was silent, it is dead: closing the session asks it a few things more. `silence` is then
    what to say of it.
    """

    def __init__(self, receive: Callable[..., bytes]) -> None:
        self._receive = receive
        self._waiting_since_s: float | None = None
        self.silence = ""

    def read(self, *arguments: Any) -> bytes:
        """What comes. Raises ConnectionError, and TimeoutError, after which pyOCD asks again."""
        if self.silence:
            raise ConnectionError(self.silence)
        try:
            data = bytes(self._receive(*arguments))
        except TimeoutError:
            now_s = time.monotonic()
            if self._waiting_since_s is None:
                self._waiting_since_s = now_s
            elif now_s - self._waiting_since_s >= SILENCE_S:
                self.silence = f"the probe answered nothing for {SILENCE_S:g} s"
                raise ConnectionError(self.silence) from None
            raise
        self._waiting_since_s = None
        if not data:
            raise ConnectionError("the probe hung up")
        return data
