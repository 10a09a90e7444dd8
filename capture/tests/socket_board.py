"""What stands in for a board and its analyzer: a socket, and a script in place of sigrok-cli."""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import numpy as np
import pytest

from base.run_folder.edges import EdgeList
from capture.desk.board import Board, Connections, Resetter


class SocketBoard(Board):
    """A board that says `uart` once it runs, and then is silent or hangs up.

    The capture starts it, as told by progress(), unless it `waits` for a reset, which takes
    `loader_s`.
    """

    def __init__(
        self, uart: bytes, hangs_up: bool = False, waits: bool = False, loader_s: float = 0.0
    ) -> None:
        self._uart = uart
        self._hangs_up = hangs_up
        self._waits = waits
        self._loader_s = loader_s
        self._open = ExitStack()
        self.loaded: tuple[Path, bytes] | None = None
        self.steps: list[str] = []

    def __enter__(self) -> Self:
        self._server = self._open.enter_context(socket.create_server(("127.0.0.1", 0)))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def load(self, elf: Path | None, image: bytes) -> Connections:
        assert elf is not None
        self.loaded = elf, image
        host, port = self._server.getsockname()
        return Connections(f"socket://{host}:{port}", analyzer=None, probe=None)

    def resetter(self, debugger: Resetter | None) -> Resetter | None:
        assert debugger is None, "the serial line needs no debug probe"
        return self if self._waits else None

    def progress(self, step: str) -> None:
        self.steps.append(step)
        if step == "capturing" and not self._waits:
            self.reset()

    def reset(self) -> None:
        self.steps.append("reset")
        time.sleep(self._loader_s)
        connection = self._open.enter_context(self._server.accept()[0])
        connection.sendall(self._uart)
        if self._hangs_up:
            connection.close()

    def post_mortem(self, elf: Path) -> tuple[str, ...]:
        return (f"{elf.name} faulted.",)


def samples_of(edges: EdgeList) -> bytes:
    """The capture sample by sample, one byte each."""
    lengths = np.diff(np.append(edges.sample, edges.total_samples))
    return bytes(np.repeat(edges.word, lengths))


def put_tool(folder: Path, monkeypatch: pytest.MonkeyPatch, samples: bytes, then: str) -> None:
    """A sigrok-cli that delivers `samples` and then does what the shell line `then` says."""
    (folder / "samples").write_bytes(samples)
    tool = folder / "sigrok-cli"
    tool.write_text(f'#!/bin/sh\ncat "{folder}/samples"\n{then}\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
