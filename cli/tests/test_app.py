"""`./lab app`: it says where it answers, and ends by Ctrl-C; what it cannot do gets a sentence."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from base.paths import ROOT
from dashboards.app.pieces import Library
from dashboards.app.server import ServeError, serve


@pytest.mark.usefixtures("interruptible")
def test_it_says_where_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cli", "app", "--port", "0", "--runs", str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        try:
            match = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S{32}", served.stdout.readline())
            assert match
            with build_opener(HTTPCookieProcessor()).open(match[0], timeout=300) as answer:
                assert b"Tailscope" in answer.read()
            served.send_signal(signal.SIGINT)
            _, said = served.communicate(timeout=300)
        finally:
            served.kill()
    assert served.returncode == 130
    assert said == "Stopped by Ctrl-C.\n"


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            ServeError, match=rf"^Port {port} of 127\.0\.0\.1 cannot be used \(Address already"
        ):
            serve(Library(tmp_path), tmp_path / "token", port)
