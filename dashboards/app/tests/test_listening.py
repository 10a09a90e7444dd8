"""How long the server waits for a request, and for how many at a time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

import pytest

from dashboards.app.listening import Server

WITHIN_S = 1.0
MOST = 4


def echo(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    """Answers with what was sent."""
    content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start("200 OK", [("Content-Length", str(len(content or b"nothing")))])
    return [content or b"nothing"]


@contextmanager
def served(app: Any = echo, within_s: float = WITHIN_S) -> Iterator[int]:
    """The port of a server that waits for `within_s`, and for MOST at a time."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Server(listening, app, within_s, MOST)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.port
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def connected(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(sent)
    return connection


def everything(connection: socket.socket) -> bytes:
    """What comes until the connection ends."""
    content = b""
    while part := connection.recv(1 << 16):
        content += part
    return content


WHOLE = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"


def test_a_whole_request_is_answered() -> None:
    with served() as port, closing(connected(port, WHOLE)) as connection:
        assert everything(connection).endswith(b"\r\nhello")


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost:", WHOLE[:-2]])
def test_a_request_that_does_not_end_is_let_go(sent: bytes) -> None:
    with served() as port, closing(connected(port, sent)) as connection:
        assert not everything(connection).endswith(b"hello")


def test_one_that_comes_byte_by_byte_is_let_go_too() -> None:
    with served() as port, closing(connected(port, b"")) as connection:
        began_s = time.monotonic()
        with pytest.raises(OSError):  # the other end is closed
            for _ in range(10_000):
                connection.sendall(b"G")
                time.sleep(WITHIN_S / 20)
        assert time.monotonic() - began_s < 100 * WITHIN_S


def test_who_asks_is_answered_however_many_are_silent() -> None:
    """Each of them opens anew as soon as it is closed, as fast as it can."""
    ended = threading.Event()

    def silent(port: int) -> None:
        while not ended.is_set():
            with suppress(OSError), closing(connected(port, b"")) as connection:
                connection.settimeout(0.5)
                everything(connection)

    with served(within_s=30.0) as port:
        threads = [threading.Thread(target=silent, args=(port,)) for _ in range(3 * MOST)]
        for thread in threads:
            thread.start()
        try:
            time.sleep(WITHIN_S / 4)
            answers = []
            for _ in range(20):
                with closing(connected(port, WHOLE)) as connection:
                    answers.append(everything(connection))
        finally:
            ended.set()
        for thread in threads:
            thread.join()
    assert sum(answer.endswith(b"\r\nhello") for answer in answers) >= 18


def test_where_all_are_being_answered_the_next_is_refused() -> None:
    go_on = threading.Event()

    def slow(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        go_on.wait(30)
        return echo(environ, start)

    with served(slow, within_s=30.0) as port, ExitStack() as held:
        asked = [held.enter_context(closing(connected(port, WHOLE))) for _ in range(MOST)]
        time.sleep(WITHIN_S / 2)
        with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as refused:
            assert everything(refused).startswith(b"HTTP/1.1 503 ")
        go_on.set()
        assert all(everything(connection).endswith(b"\r\nhello") for connection in asked)


def test_whoever_sends_too_much_still_hears_so() -> None:
    def refuse(_environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        start("413 Too Large", [("Content-Type", "text/plain")])
        return [b"too long"]

    with served(refuse, within_s=10.0) as port:
        head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {1 << 23}\r\n\r\n".encode()
        with closing(connected(port, head)) as connection:
            for _ in range(1 << 7):
                connection.sendall(bytes(1 << 16))
            said = b""
            while b"too long" not in said:
                part = connection.recv(1 << 16)
                assert part, said
                said += part
