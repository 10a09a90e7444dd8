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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from base.files.errors import CaptureError, first_line
from base.processes import signals
from base.run_folder.edges import CHANNELS, EdgeList
from capture.acquisition.sigrok_cli import CaptureResult, count_problems
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
_TRIAL_S = 0.001


@dataclass(frozen=True)
class Device:
    """A device that Logic 2 sees: its id, and what it is."""

    device_id: str
    title: str


def check_saleae(analyzer: AnalyzerResource, samplerate_hz: int) -> None:
    """Has Logic 2 capture a millisecond as a run would be, before a board is loaded.

    Its interface lists no samplerates; what it refuses, it refuses so. Raises CaptureError with one
    sentence.
    """
    with _connected(analyzer) as manager:
        _device(analyzer, manager)
        with _told("cannot capture so"):
            capture = _started(manager, analyzer, samplerate_hz, _TRIAL_S)
            try:
                capture.wait()
            finally:
                capture.close()


def devices(analyzer: AnalyzerResource) -> tuple[Device, ...]:
    """What is connected to Logic 2. Raises CaptureError where it does not answer."""
    with _connected(analyzer) as manager:
        return _devices(manager)


def versions(analyzer: AnalyzerResource) -> dict[str, str]:
    """Of Logic 2 and of its client. Raises CaptureError where it does not answer."""
    with _connected(analyzer) as manager, _told("does not tell its version"):
        version = manager.get_app_info().app_version
    return {"logic_2": str(version), "logic2_automation": importlib.metadata.version("logic2-automation")}


class SaleaeCapture:
    """One capture by Logic 2, which is closed there when the `with` block ends: start() once, then
    wait() once.
    """

    def __init__(
        self, analyzer: AnalyzerResource, samplerate_hz: int, samples: int, taken: Mapping[str, str]
    ) -> None:
        self._analyzer = analyzer
        self._samplerate_hz = samplerate_hz
        self._samples = samples
        self._taken = taken
        self._manager: Any = None
        self._capture: Any = None
        self._over = threading.Event()
        self._fault: str | None = None
        self.got_samples = 0

    def __enter__(self) -> SaleaeCapture:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._capture is not None:
            with suppress(Exception):
                self._capture.stop()
            with suppress(Exception):
                self._capture.close()
        if self._manager is not None:
            self._manager.close()

    def start(self) -> None:
        """Starts capturing. Raises CaptureError."""
        self._manager = _connect(self._analyzer)
        duration_s = self._samples / self._samplerate_hz + _MORE_S
        with _told("does not start the capture"):
            self._capture = _started(self._manager, self._analyzer, self._samplerate_hz, duration_s)
        threading.Thread(target=self._wait, name="logic 2", daemon=True).start()

    @property
    def armed(self) -> bool:
        """Whether it captures: Logic 2 says so by its answer to the start."""
        return self._capture is not None

    @property
    def arriving(self) -> None:
        """Nothing comes before the end."""

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
        deadline_s = time.monotonic() + self._samples / self._samplerate_hz + _SLOW_S
        interrupted = False
        problems: list[str] = []
        while not self._over.wait(_POLL_S):
            interrupted = signals.asked() is not None
            if interrupted or source_ended():
                break
            if time.monotonic() >= deadline_s:
                problems.append(f"{TOOL} was not done in time, and its capture was stopped; capture again.")
                break
        if not self._over.is_set():
            problems += self._stop()
        problems += [self._fault] if self._fault else []
        edges, faults = self._exported()
        self.got_samples = edges.total_samples
        problems += [*faults, *count_problems(self._samples, edges.total_samples)]
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

    def _stop(self) -> list[str]:
        try:
            with _told("does not stop the capture"):
                self._capture.stop()
        except CaptureError as error:
            return [str(error)]
        return []

    def _exported(self) -> tuple[EdgeList, list[str]]:
        """The edges, up to the samples that were asked for; none, and why, where there are none."""
        nothing = np.empty(0, np.int64), np.empty(0, np.uint8)
        empty = EdgeList(*nothing, self._samplerate_hz, 0, tuple(self._taken))
        named = {name: f"D{number}" for name, number in _numbers(self._analyzer).items()}
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            try:
                with _told("does not export what it captured"):
                    self._capture.export_raw_data_binary(
                        folder, digital_channels=sorted(_numbers(self._analyzer).values())
                    )
                taken = {name: named[ours] for name, ours in self._taken.items()}
                exported = formats.read(Path(folder), taken, self._samplerate_hz)
            except CaptureError as error:
                return empty, [str(error).replace(f"{folder} cannot be imported:", f"What {TOOL} exported:")]
        return exported.edges.until(self._samples), list(exported.losses)


def _numbers(analyzer: AnalyzerResource) -> Mapping[str, int]:
    """The number of the input of each of our channels, as Logic 2 counts them."""
    named = analyzer.channels or {name: str(number) for number, name in enumerate(CHANNELS)}
    return {name: int(theirs.removeprefix("D")) for name, theirs in named.items()}


def _connect(analyzer: AnalyzerResource) -> Any:
    from saleae import automation

    host, _, port = (analyzer.connection or ADDRESS).partition(":")
    with _told("is not to be reached"):
        return automation.Manager.connect(
            address=host, port=int(port or 10430), connect_timeout_seconds=CONNECT_WITHIN_S
        )


@contextmanager
def _connected(analyzer: AnalyzerResource) -> Iterator[Any]:
    manager = _connect(analyzer)
    try:
        yield manager
    finally:
        manager.close()


def _devices(manager: Any) -> tuple[Device, ...]:
    with _told("does not list its devices"):
        seen_devices = manager.get_devices()
    return tuple(
        Device(device.device_id, "Saleae " + device.device_type.name.replace("_", " ").title())
        for device in seen_devices
    )


def _device(analyzer: AnalyzerResource, manager: Any) -> None:
    """Raises CaptureError unless the device that is meant is connected."""
    seen_devices, wanted = _devices(manager), str(analyzer.settings.get("device", ""))
    if not seen_devices:
        raise CaptureError(f"{TOOL} sees no analyzer: plug it in, and run again.")
    listed = ", ".join(f"{device.device_id} ({device.title})" for device in seen_devices)
    if wanted and wanted not in [device.device_id for device in seen_devices]:
        raise CaptureError(
            f"{TOOL} sees no analyzer {wanted!r}, which bench.toml names as device; it sees {listed}."
        )
    if not wanted and len(seen_devices) > 1:
        raise CaptureError(
            f"{TOOL} sees {len(seen_devices)} analyzers ({listed}): write one as device into the settings of "
            "bench.toml."
        )


def _started(manager: Any, analyzer: AnalyzerResource, samplerate_hz: int, duration_s: float) -> Any:
    from saleae import automation

    settings = analyzer.settings
    volts = settings.get("digital_threshold_volts")
    megabytes = settings.get("buffer_size_megabytes")
    return manager.start_capture(
        device_id=str(settings["device"]) if "device" in settings else None,
        device_configuration=automation.LogicDeviceConfiguration(
            enabled_digital_channels=sorted(_numbers(analyzer).values()),
            digital_sample_rate=samplerate_hz,
            digital_threshold_volts=None if volts is None else float(volts),
        ),
        capture_configuration=automation.CaptureConfiguration(
            buffer_size_megabytes=None if megabytes is None else int(megabytes),
            capture_mode=automation.TimedCaptureMode(duration_seconds=duration_s),
        ),
    )


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Raises CaptureError for what Logic 2, or the way to it, says against the request."""
    import grpc
    from saleae.automation import errors

    try:
        yield
    except grpc.RpcError as error:
        unavailable = error.code() == grpc.StatusCode.UNAVAILABLE
        why = "it does not answer" if unavailable else first_line(ValueError(error.details()))
        raise CaptureError(
            f"{TOOL} {what} ({why.rstrip('.')}): start it, turn on its automation server in its preferences, "
            "and run again."
        ) from None
    except errors.MissingDeviceError as error:
        raise CaptureError(f"{TOOL} {what}: the analyzer is not connected ({_words(error)}).") from None
    except errors.DeviceError as error:
        raise CaptureError(
            f"{TOOL} {what} with a fault of the device ({_words(error)}): samples are lost; give it a USB "
            "port of its own, or a lower samplerate, and capture again."
        ) from None
    except errors.OutOfMemoryError as error:
        raise CaptureError(
            f"{TOOL} {what}, since its buffer was full ({_words(error)}): set buffer_size_megabytes in "
            "bench.toml, and capture again."
        ) from None
    except errors.SaleaeError as error:
        raise CaptureError(f"{TOOL} {what} ({_words(error)}); mend bench.toml, or the samplerate.") from None


def _words(error: Exception) -> str:
    return first_line(error).rstrip(".")
