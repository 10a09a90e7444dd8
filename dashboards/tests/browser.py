"""A headless Chromium spoken to over its DevTools pipe: JSON messages, each ended by a NUL byte."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

# A browser that says nothing for this long hangs; it is a guard, not a measurement.
SILENCE_S = 60.0

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)


def chromium() -> str | None:
    """The browser's path, or None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page. `complaints` has its errors and warnings, `requests` all addresses asked for."""

    def __init__(self, executable: str, width: int = 1400, height: int = 900) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="tailscope-browser-", ignore_cleanup_errors=True)
        self._buffer = b""
        self._last_id = 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        self._process = self._start(executable)
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open(self, page: Path, fragment: str = "") -> None:
        """Load the page and wait until its scripts have run."""
        # By way of an empty page: the same page with another fragment would not be loaded anew.
        for address in ("about:blank", page.resolve().as_uri() + fragment):
            self._loaded = False
            self.call("Page.navigate", url=address)
            while not self._loaded:
                self._receive()

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait for two frames: what was asked for before has been drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def click(self, x: float, y: float) -> None:
        """A real click at page coordinates of the viewport."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def print_pdf(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last_id:
                break
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _start(self, executable: str) -> subprocess.Popen[bytes]:
        """Chromium reads commands from descriptor 3 and writes answers to 4."""
        command_read, self._to = os.pipe()
        self._from, answer_write = os.pipe()
        profile = f"--user-data-dir={self._profile.name}"
        # The shell moves the pipes to 3 and 4, whatever numbers they have here.
        redirect = f'exec "$@" 3<&{command_read} 4>&{answer_write}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", redirect, "browser", executable, *_OPTIONS, profile, "about:blank"],
            pass_fds=(command_read, answer_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(command_read)
        os.close(answer_write)
        return process

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._from], [], [], SILENCE_S)
            block = os.read(self._from, 1 << 20) if readable else b""
            if not block:
                raise AssertionError("the browser went silent")
            self._buffer += block
        line, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(parameters["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


def assert_draws(output: Path, figures: int) -> None:
    """The page at `output` draws at least so many figures, fits the window and asks for nothing."""
    executable = chromium()
    assert executable is not None
    with Browser(executable) as browser:
        browser.open(output)
        browser.settle()
        assert browser.evaluate("document.querySelectorAll('.plot .main-svg').length") >= figures
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert browser.complaints == []
        assert browser.requests == [output.resolve().as_uri()]
