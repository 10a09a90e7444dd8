"""A capture by Saleae's Logic 2, through the program's automation interface (gRPC).

Logic 2 keeps the samples to itself and exports them at the end, to a folder of this machine. What
it exports goes through the reader of such files (capture/importing), whoever made them.

Tried against a server of the tests only: neither an analyzer of Saleae nor Logic 2 was there.

The package logic2-automation is Saleae's own client. It is optional, and loaded where it is needed.
"""

from __future__ import annotations

import importlib.metadata
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.files.errors import CaptureError, first_line
from base.processes import signals
from capture.acquisition.sigrok_cli import CaptureRequest, CaptureResult, count_problems, no_edges
from capture.desk.bench import AnalyzerResource
from capture.importing import formats

TOOL = "Logic 2"
ADDRESS = "127.0.0.1:10430"
"""Where Logic 2 listens, once its automation server is on; unless `connection` says otherwise."""

CONNECT_WITHIN_S = 5.0
_POLL_S = 0.05
# Beyond what it captures, Logic 2 gets this long to begin and to end.
_SLOW_S = 60.0
# More than is asked for, since a timer need not end on a sample.
_MORE_S = 0.01


@dataclass(frozen=True)
class Device:
    """An analyzer that answers: its driver, how bench.toml names this one, what it is, and the
    names of its inputs, which Logic 2 does not tell. `connection` is None where the driver has
    none.
    """

    driver: str
    connection: str | None
    title: str
    inputs: tuple[str, ...] = ()


def devices(analyzer: AnalyzerResource) -> tuple[Device, ...]:
    """What is connected to Logic 2, of it the one that bench.toml names. Raises CaptureError where
    Logic 2 does not answer.
    """
    wanted = str(analyzer.settings.get("device", ""))
    with _connected(analyzer) as manager, _told("does not list its devices"):
        return tuple(
            Device(analyzer.driver, device.device_id, f"Saleae {device.device_type.name}")
            for device in manager.get_devices()
            if wanted in ("", device.device_id)
        )


def versions(analyzer: AnalyzerResource) -> dict[str, str]:
    """Of Logic 2 and of its client. Raises CaptureError where it does not answer."""
    with _connected(analyzer) as manager, _told("does not tell its version"):
        return {
            "logic_2": str(manager.get_app_info().app_version),
            "logic2_automation": importlib.metadata.version("logic2-automation"),
        }


class SaleaeCapture:
    """One capture by Logic 2, which is closed there when the `with` block ends: start() once, then
    wait() once.
    """

    arriving = None
    """Nothing comes before the end."""

    def __init__(self, request: CaptureRequest) -> None:
        self._request = request
        # The number of the input of each of our channels, as Logic 2 counts them.
        self._numbers = {
            name: int(theirs.removeprefix("D")) for name, theirs in request.analyzer.by_channel.items()
        }
        self._open = ExitStack()
        self._capture: Any = None
        self._over = threading.Event()
        self._fault: str | None = None
        self.got_samples = 0

    def __enter__(self) -> SaleaeCapture:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self._capture.stop()
        with suppress(Exception):
            self._capture.close()
        self._open.close()

    def start(self) -> None:
        """Starts capturing. Raises CaptureError."""
        from saleae import automation

        settings = self._request.analyzer.settings
        manager = self._open.enter_context(_connected(self._request.analyzer))
        with _told("cannot capture so"):
            self._capture = manager.start_capture(
                device_id=settings.get("device") and str(settings["device"]),
                device_configuration=automation.LogicDeviceConfiguration(
                    enabled_digital_channels=sorted(self._numbers.values()),
                    digital_sample_rate=self._request.samplerate_hz,
                    digital_threshold_volts=settings.get("digital_threshold_volts"),
                ),
                capture_configuration=automation.CaptureConfiguration(
                    buffer_size_megabytes=settings.get("buffer_size_megabytes"),
                    capture_mode=automation.TimedCaptureMode(
                        duration_seconds=self._request.duration_s + _MORE_S
                    ),
                ),
            )
        threading.Thread(target=self._wait, name="logic 2", daemon=True).start()

    @property
    def armed(self) -> bool:
        """Whether it captures: Logic 2 says so by its answer to the start."""
        return self._capture is not None

    @property
    def over(self) -> bool:
        """Whether the capture has ended by itself."""
        return self._over.is_set()

    def check_begun(self) -> None:
        """Raises CaptureError where it has ended with a fault at once."""
        if self._over.is_set() and self._fault:
            raise CaptureError(self._fault)

    def wait(self, silence_s: float, source_ended: Callable[[], bool] = lambda: False) -> CaptureResult:
        """Waits for the end of the capture, and takes what Logic 2 exports. A signal ends it early,
        and so does the end of what it listens to. `silence_s` means nothing here: nothing is heard
        before the end.
        """
        del silence_s
        request, problems = self._request, []
        deadline_s = time.monotonic() + request.duration_s + _SLOW_S
        while not (self._over.wait(_POLL_S) or signals.asked() is not None or source_ended()):
            if time.monotonic() >= deadline_s:
                problems.append(f"{TOOL} was not done in time, and its capture was stopped; capture again.")
                break
        interrupted = not self._over.is_set() and signals.asked() is not None
        edges = no_edges(request)
        taken = {name: f"D{self._numbers[ours]}" for name, ours in request.taken.items()}
        try:
            if not self._over.is_set():
                with _told("does not stop the capture"):
                    self._capture.stop()
            with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
                with _told("does not export what it captured"):
                    self._capture.export_raw_data_binary(
                        folder, digital_channels=sorted(self._numbers.values())
                    )
                exported = formats.read(Path(folder), taken, request.samplerate_hz)
            edges = exported.edges.until(request.samples)
            problems += exported.losses
        except CaptureError as error:
            problems.append(str(error))
        problems += [self._fault] if self._fault else []
        self.got_samples = edges.total_samples
        problems += count_problems(request.samples, edges.total_samples)
        return CaptureResult(edges, tuple(problems), (), interrupted)

    def _wait(self) -> None:
        try:
            with _told("ended the capture"):
                self._capture.wait()
        except CaptureError as error:
            self._fault = str(error)
        except ValueError:  # the way to Logic 2 was closed meanwhile
            self._fault = f"{TOOL} was left before the capture had ended."
        finally:
            self._over.set()


@contextmanager
def _connected(analyzer: AnalyzerResource) -> Iterator[Any]:
    from saleae import automation

    host, _, port = (analyzer.connection or ADDRESS).partition(":")
    with _told("is not to be reached"):
        manager = automation.Manager.connect(
            address=host, port=int(port or 10430), connect_timeout_seconds=CONNECT_WITHIN_S
        )
    try:
        yield manager
    finally:
        manager.close()


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Raises CaptureError for what Logic 2, or the way to it, says against the request."""
    import grpc
    from saleae.automation import errors

    try:
        yield
    except (grpc.RpcError, errors.SaleaeError) as error:
        why = error.details() if isinstance(error, grpc.RpcError) else first_line(error)
        raise CaptureError(
            f"{TOOL} {what} ({why.rstrip('.')}): see that it runs with its automation server "
            "on, that the analyzer is plugged in, and that it can do what bench.toml asks; then run again."
        ) from None
