"""The server below the app: how long a request may take to come, and how many at a time.

A request that never ends would hold its thread for ever, and so would many of them. Where too many
connections are open, that which has been silent longest makes room: who asks is heard.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

REQUEST_WITHIN_S = 10.0
"""From the connection to the last byte of what is asked."""
MOST_CONNECTIONS = 64
"""A browser opens six."""
_ROOM_WITHIN_S = 0.2
"""After a connection was closed its thread ends, and makes room."""
_SEND_WITHIN_S = 60.0
"""For a part of an answer, where the browser takes none of it."""

_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
    b"Too many connections are open; try again in a few seconds.\n"
)


class _Arriving(io.RawIOBase):
    """What comes over a connection, up to a deadline. Raises TimeoutError after it."""

    def __init__(self, connection: socket.socket, within_s: float) -> None:
        self._connection = connection
        self._deadline_s = time.monotonic() + within_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(_SEND_WITHIN_S)


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        assert isinstance(self.server, Server)
        self.rfile = io.BufferedReader(_Arriving(self.connection, self.server.within_s))

    def handle_one_request(self) -> None:
        """Of those that may be closed for others, as long as its request has not come."""
        assert isinstance(self.server, Server)
        self.server.awaits(self.connection)
        super().handle_one_request()

    def parse_request(self) -> bool:
        """The same; with its head the request has come."""
        assert isinstance(self.server, Server)
        self.server.heard(self.connection)
        return super().parse_request()

    def log(self, type: str, message: str, *args: object) -> None:
        """Nothing: what a user should know stands on the page."""


class Server(ThreadedWSGIServer):
    """Answers for `app`, which is of WSGI, at the socket `listening`."""

    def __init__(
        self,
        listening: socket.socket,
        app: Any,
        within_s: float = REQUEST_WITHIN_S,
        most_connections: int = MOST_CONNECTIONS,
    ) -> None:
        self.within_s = within_s
        self._free = threading.BoundedSemaphore(most_connections)
        self._silent: dict[socket.socket, None] = {}
        host, port = listening.getsockname()
        super().__init__(host, port, app, handler=_Handler, fd=listening.fileno())

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hands the connection to a thread. Where there are too many, the one that has been silent
        longest is closed for it; it is refused where all are being answered.
        """
        if not self._free.acquire(blocking=False) and not (
            self._close_silent() and self._free.acquire(timeout=_ROOM_WITHIN_S)
        ):
            with suppress(OSError):
                request.settimeout(0)
                request.send(_BUSY)
            self.close_request(request)
            return
        self.awaits(request)
        super().process_request(request, client_address)

    def awaits(self, connection: socket.socket) -> None:
        """Nothing has come over the connection yet, or nothing new."""
        self._silent[connection] = None

    def heard(self, connection: socket.socket) -> None:
        """A request has come over the connection."""
        self._silent.pop(connection, None)

    def _close_silent(self) -> bool:
        """Closes the connection that has been silent longest; False where none is."""
        with suppress(StopIteration, RuntimeError, KeyError):
            oldest = next(iter(self._silent))
            del self._silent[oldest]
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
            return True
        return False

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.heard(request)
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: the browser went, or never said what it wanted."""
