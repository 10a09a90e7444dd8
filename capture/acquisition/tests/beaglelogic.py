"""A logic analyzer for tests: serves given samples to sigrok-cli by BeagleLogic's TCP protocol."""

from __future__ import annotations

import select
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

REPLIES = {"version": "BeagleLogic 1.0", "samplerate": "84000000", "sampleunit": "1"}
REPLIES |= {"memalloc": "-1", "bufunitsize": "1048576"}


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    samples: bytes
    pads: bool


class _Client(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        try:
            while line := self.rfile.readline().decode().strip():
                if line == "close":
                    continue  # and stay: the client would never stop reading a closed connection
                if line == "get":
                    self._stream()
                    continue
                word = line.split()[0]
                self.wfile.write((REPLIES[word] if word == line else "ok").encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _stream(self) -> None:
        """The samples, and then the last level until the
        client has something to say; or nothing, stalled.

        A client that says `close` reads until nothing
        comes: whoever goes on sending may keep it for ever.
        """
        self.wfile.write(self.server.samples)
        while self.server.pads and not select.select([self.connection], [], [], 0)[0]:
            self.wfile.write(self.server.samples[-1:] * 65536)


@contextmanager
def beaglelogic(samples: bytes, pads: bool = True) -> Iterator[str]:
    """Gives the connection for the driver `beaglelogic`."""
    with _Server(("127.0.0.1", 0), _Client) as server:
        server.samples, server.pads = samples, pads
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"tcp-raw/127.0.0.1/{server.server_address[1]}:logic_channels=8"
        finally:
            server.shutdown()
            thread.join()
