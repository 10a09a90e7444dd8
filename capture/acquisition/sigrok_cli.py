"""A capture by sigrok-cli, watched: it loses data, hangs, and fails with exit status 0.

So nothing is taken on trust: samples are counted, edges are extracted and written to the disk while
the samples stream in, stderr is read, and a tool that falls silent is ended with what it delivered
kept.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from base.files.errors import CaptureError
from base.files.whole import WriteError
from base.processes import children, signals
from base.run_folder.edge_stream import EdgeFollower, EdgeWriter, NewEdges, read_stream
from base.run_folder.edges import CHANNELS, MOST_EDGES, MOST_SAMPLES, EdgeExtractor, EdgeList
from base.run_folder.kept import MOST_KEPT_SAMPLES, Kept
from capture.acquisition.keeper import NO_ROWS, Keeper, Keeping
from capture.desk.bench import AnalyzerResource

TOOL = "sigrok-cli"
CAPTURERS = ("sigrok_cli", "libsigrok", "libsigrokdecode")
"""What run.json has the versions of, of a capture by this tool."""

_VERSION_WITHIN_S = 30.0

_PIPE_BYTES = 1 << 20
READ_BYTES = 1 << 18
"""What is read at a time: it stays within the second-level cache until its edges are found."""
# Edges go to the disk after so many rows, and at the latest after so long. Both bound what a bench
# that is killed loses, and the second what one sees of a capture under way; the first bounds the
# memory, too.
_BLOCK_ROWS = 1 << 16
_BLOCK_S = 0.4
_STDERR_MOST_BYTES = 64 << 10
_ODDITIES_MOST = 5
_POLL_S = 0.05
# What a board left behind is under way for less than this once it has ended.
_REST_S = 0.5
MOST_COUNTED = (1 << 32) - 1
"""Samples that a driver may count in 32 bits, as fx2lafw of libsigrok 0.5.2 does (`sent_samples` in
src/hardware/fx2lafw/protocol.h): asked for more, it never ends by itself."""
_ENDLESS_EDGES = 1 << 62
# sigrok-cli's own words that do not tell of a fault (its source: session.c).
_HARMLESS = re.compile(r"(cli: )?The device stores at least [0-9]+ samples with the current settings\.")
# Its own count, which goes wrong beyond 2**32 samples, and what its BeagleLogic driver says of as
# many: it calls them cut off, and delivers them all. Our count decides: where it is short, that is
# told, and these words with it.
_COUNTED = re.compile(
    r"(cli: )?Device only sent [0-9]+ samples\."
    r"|(sr: )?beaglelogic: Insufficient buffer space has been allocated\."
    r"|(sr: )?beaglelogic: Please use 'echo <size in bytes> > [\w/]+' to increase the buffer size, "
    r"this capture is now truncated to [0-9]+ Msamples"
)


@dataclass(frozen=True)
class CaptureRequest:
    """What to ask of sigrok-cli: so many samples of the `analyzer` of bench.toml.

    `connection` is the driver's conn= with the options that follow it, as in
    `tcp-raw/127.0.0.1/4100:logic_channels=8`. All eight inputs are on, since a device may pack the
    bits of fewer; but only the channels `taken` are kept, each by its name there and that of ours
    whose input it has; the rest may float. Where the analyzer names no channels, ours are the
    device's first eight bits. `keeping` says which windows are kept; None keeps all.
    """

    analyzer: AnalyzerResource
    connection: str | None
    samplerate_hz: int
    samples: int
    taken: Mapping[str, str] = field(default_factory=lambda: dict(zip(CHANNELS, CHANNELS, strict=True)))
    keeping: Keeping | None = None

    def __post_init__(self) -> None:
        if self.samples <= 0:
            raise CaptureError(f"{self.samples} samples cannot be captured; ask for at least one.")
        most = MOST_KEPT_SAMPLES if self.keeping else MOST_SAMPLES
        if self.samples > most:
            raise CaptureError(
                f"{self.samples:,} samples are more than the {most:,} that are captured at a time; "
                "ask for a lower samplerate or a shorter duration"
                f"{'' if self.keeping else ', or keep windows only (./lab observe --keep worst)'}."
            )
        self.device_bits()

    @property
    def duration_s(self) -> float:
        """How long so many samples last."""
        return self.samples / self.samplerate_hz

    def device_bits(self) -> tuple[int, ...]:
        """The bit of a sample that carries each of the channels `taken`."""
        inputs, named = self.analyzer.device_inputs, self.analyzer.channels
        if self.analyzer.by_saleae or not named:
            return tuple(CHANNELS.index(ours) for ours in self.taken.values())
        if not set(named.values()) <= set(inputs):
            raise CaptureError(
                f"The analyzer's channels {', '.join(named.values())} do not serve: "
                f"give each of {', '.join(CHANNELS)} one of {inputs[0]} … {inputs[-1]}."
            )
        return tuple(inputs.index(named[ours]) for ours in self.taken.values())

    def arguments(self) -> list[str]:
        """The command line, without the program."""
        analyzer = self.analyzer
        named = sorted(analyzer.channels.values())
        return [
            "--driver",
            f"{analyzer.driver}:conn={self.connection}" if self.connection else analyzer.driver,
            "--config",
            ":".join((f"samplerate={self.samplerate_hz}", *analyzer.words)),
            *(("--channels", ",".join(named)) if named else ()),
            *("--samples", str(self.samples), "--output-format", "binary"),
        ]


@dataclass(frozen=True)
class CaptureResult:
    """What came of a capture, whole or not.

    `problems` are sentences on what was not delivered, `oddities` on what sigrok-cli said or sent
    unexpectedly. `interrupted`: a signal came before the end. Where only windows were to be kept,
    these are in `kept`, and `edges` has nothing.
    """

    edges: EdgeList
    problems: tuple[str, ...]
    oddities: tuple[str, ...]
    interrupted: bool
    kept: Kept | None = None


def no_edges(request: CaptureRequest) -> EdgeList:
    """What came of it before the first sample."""
    return EdgeList(*NO_ROWS, request.samplerate_hz, 0, tuple(request.taken))


class SigrokCapture:
    """One run of sigrok-cli, which never outlives the `with` block: start() once, wait() once.

    A thread of its own reads the samples, up to the number that was asked for. Their edges are
    written to `path` as they come (base/run_folder/edge_stream.py), and read from there at the end;
    or windows of them are kept, beside `path`.
    """

    def __init__(self, request: CaptureRequest, path: Path) -> None:
        self._request = request
        self._path = path
        self._keeper: Keeper | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed as the block ends
        self._extractor = EdgeExtractor(
            request.samplerate_hz,
            tuple(request.taken),
            request.device_bits(),
            most_edges=_ENDLESS_EDGES if request.keeping else MOST_EDGES,
        )
        self._stored_samples = self._received_bytes = 0
        self._stored_s = time.monotonic()
        self._fault: str | None = None
        self._ended_by_us = False
        self._leaving, self._finished = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._take, name="samples", daemon=True)

    def __enter__(self) -> SigrokCapture:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._end(self._process)
        self._stderr.close()

    def start(self) -> None:
        """Start capturing.

        Raises CaptureError when there is no sigrok-cli, and WriteError where `path` cannot be made.
        """
        request = self._request
        tool = find_tool(request.analyzer.sigrok)
        what = request.samplerate_hz, tuple(request.taken), request.samples
        self._writer: EdgeWriter | Keeper
        if request.keeping is None:
            self._writer = EdgeWriter(self._path, *what)
        else:
            self._writer = self._keeper = Keeper(self._path.parent, *what, request.keeping)
        try:
            # A session of its own keeps Ctrl-C from the tool: its samples are still to be
            # collected. And it loops for ever on a connection that its server closed: where this
            # program is killed, and the server with it, nothing else would end it.
            self._process = subprocess.Popen(
                [*children.DIES_WITH_US, *children.with_devices(), tool, *request.arguments()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                pipesize=_PIPE_BYTES,
                start_new_session=True,
            )
        except OSError:
            self._writer.close()
            raise
        self._thread.start()

    @property
    def arriving(self) -> Callable[[], NewEdges | None]:
        """The edges as they come, from now on where windows are kept."""
        if self._keeper is None:
            return EdgeFollower(self._path).more
        self._keeper.more()
        return self._keeper.more

    @property
    def got_samples(self) -> int:
        """Samples received so far."""
        return self._extractor.total_samples

    @property
    def armed(self) -> bool:
        """Whether samples have come."""
        return self.got_samples > 0

    @property
    def over(self) -> bool:
        """Whether no samples will come any more."""
        return self._finished.is_set()

    def check_begun(self) -> None:
        """Raises CaptureError, with what the tool said, where it has ended without a sample."""
        if not self.over or self.got_samples or self._process is None:
            return
        self._end(self._process)
        said = unexpected_lines(self._said())
        why = said[-1] if said else f"exit status {self._process.returncode}"
        raise CaptureError(
            f"{TOOL} captures nothing ({why.rstrip('.')}); check the analyzer's cable and bench.toml, then "
            "run again."
        )

    def wait(self, silence_s: float, source_ended: Callable[[], bool] = lambda: False) -> CaptureResult:
        """Wait for the end of the capture. A signal ends it early.

        A tool that delivers nothing for `silence_s` seconds is ended; much
        sooner, and without a word of blame, where `source_ended` says that
        what it listens to will send no more.
        """
        process, wanted = self._process, self._request.samples
        assert process is not None
        problems, oddities, interrupted = [], [], False
        seen, heard_s = -1, time.monotonic()
        while not self._finished.wait(_POLL_S):
            ended = source_ended()
            received, now_s = self._received_bytes, time.monotonic()
            if received != seen:
                seen, heard_s = received, now_s
            interrupted = signals.asked() is not None
            if interrupted or (ended and now_s - heard_s >= _REST_S):
                break
            if now_s - heard_s >= silence_s:
                problems.append(
                    f"{TOOL} sent nothing for {silence_s:g} s after {max(seen, 0)} samples and was ended; "
                    "check the analyzer's connection and capture again."
                )
                break
        else:
            if self._fault is None and not self._enough:
                try:
                    process.wait(silence_s)
                except subprocess.TimeoutExpired:
                    problems.append(
                        f"{TOOL} closed its output but did not end within {silence_s:g} s, and was ended."
                    )
        self._end(process)
        got, status = self._extractor.total_samples, process.returncode
        if self._fault is not None:
            problems.append(self._fault)
        elif not self._enough:
            if status and not self._ended_by_us:
                how = f"was killed by signal {-status}" if status < 0 else f"failed with exit status {status}"
                problems.append(f"{TOOL} {how}; see what it said, and capture again.")
            if self._received_bytes != got * self._request.analyzer.sample_bytes:
                oddities.append(
                    f"{TOOL} sent {self._received_bytes} bytes for {got} samples; the rest was cut off. It "
                    "may send two bytes per sample: enable at most eight channels."
                )
        problems += count_problems(wanted, got)
        lines = unexpected_lines(self._said(), whole=got == wanted)
        oddities += [f"{TOOL} said: {line}" for line in lines[:_ODDITIES_MOST]]
        if len(lines) > _ODDITIES_MOST:
            oddities.append(f"{TOOL} said {len(lines) - _ODDITIES_MOST} lines more.")
        windows = self._keeper.kept if self._keeper else None
        return CaptureResult(
            no_edges(self._request) if windows else read_stream(self._path).edges,
            tuple(problems),
            tuple(oddities),
            interrupted,
            windows,
        )

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End whatever still runs, and collect what is left in the pipes: whoever still holds their
        other end is not waited for.
        """
        if process.poll() is None or not self.over:
            self._ended_by_us = True
            children.end(process)  # and its group, which may hold the pipe
        self._leaving.set()
        self._thread.join()

    def _said(self) -> str:
        """The first part of what the tool said on its standard error."""
        self._stderr.seek(0)
        return self._stderr.read(_STDERR_MOST_BYTES).decode(errors="replace")

    @property
    def _enough(self) -> bool:
        """Whether all came that was asked for, of a tool that may never end by itself."""
        wanted = self._request.samples
        return wanted > MOST_COUNTED and self._extractor.total_samples >= wanted

    def _take(self) -> None:
        """Reads until the pipe closes, or, when all has ended, until nothing more is in it."""
        assert self._process is not None and self._process.stdout is not None
        pipe = self._process.stdout
        try:
            try:
                self._read(pipe)
            finally:
                self._store()
        except (CaptureError, WriteError) as error:
            self._fault = str(error)
        finally:
            self._writer.close()
            pipe.close()
            self._finished.set()

    def _read(self, pipe: IO[bytes]) -> None:
        step, wanted = self._request.analyzer.sample_bytes, self._request.samples
        block = memoryview(bytearray(READ_BYTES))
        arrivals = select.poll()  # not select(), which takes no descriptor from 1024 on
        arrivals.register(pipe, select.POLLIN)
        while not self._enough:
            last_look = self._leaving.is_set()
            count = 0
            if arrivals.poll(_POLL_S * 1000):
                count = os.readv(pipe.fileno(), [block])
                last_look = not count
            if last_look:
                return
            # One byte for each sample: the first, in which all inputs are.
            piece = block[:count]
            samples = piece if step == 1 else memoryview(bytes(piece[-self._received_bytes % step :: step]))
            self._received_bytes += count
            # Twice as much is two bytes per sample, which is told of later; more has no end.
            if self._received_bytes > 2 * wanted * step + _PIPE_BYTES:
                raise CaptureError(f"{TOOL} goes on beyond {wanted} samples and was ended; capture again.")
            if samples := samples[: wanted - self._extractor.total_samples]:
                self._extractor.feed(samples)
            if time.monotonic() - self._stored_s >= _BLOCK_S or self._extractor.rows_held >= _BLOCK_ROWS:
                self._store()
                self._writer.check_room()

    def _store(self) -> None:
        """Adds a block with what came since the last one, if anything did."""
        self._stored_s = time.monotonic()
        total = self._extractor.total_samples
        if total > self._stored_samples:
            self._writer.append(*self._extractor.take(), total)
            self._stored_samples = total


def find_tool(other: str = "") -> str:
    """The path of sigrok-cli: `other`, or the one on PATH.

    Raises CaptureError with the remedy where there is none.
    """
    path = shutil.which(Path(other).expanduser() if other else TOOL)
    if path is None:
        raise CaptureError(
            f"{other}, which bench.toml names as sigrok, is no program; mend the path, or drop the key."
            if other
            else f"{TOOL} is not installed; install it, on Debian with: sudo apt-get install {TOOL}."
        )
    return path


def is_installed() -> bool:
    """Whether find_tool() finds it."""
    return shutil.which(TOOL) is not None


def versions(other: str = "") -> dict[str, str]:
    """Versions of `sigrok_cli`, `libsigrok` and `libsigrokdecode`, as sigrok-cli states them: the
    one that find_tool() finds.
    """
    try:
        done = children.run([find_tool(other), "--version"], within_s=_VERSION_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"{TOOL} --version says nothing within {_VERSION_WITHIN_S:g} s; reinstall it."
        ) from None
    names = r"^(?:- )?(sigrok-cli|libsigrok|libsigrokdecode) ([0-9][^\s/]*)"
    result = {name.replace("-", "_"): version for name, version in re.findall(names, done.stdout, re.M)}
    if missing := [name for name in CAPTURERS if name not in result]:
        raise CaptureError(f"{TOOL} --version does not state {', '.join(missing)}; reinstall it.")
    return result


def unexpected_lines(stderr: str, *, whole: bool = False) -> list[str]:
    """The lines of sigrok-cli's stderr that are not known to be harmless.

    `whole`: every sample that was asked for arrived, so
    that its words on their number are no fault.
    """
    return [
        line
        for line in filter(None, map(str.strip, stderr.splitlines()))
        if not (_HARMLESS.fullmatch(line) or (whole and _COUNTED.fullmatch(line)))
    ]


def count_problems(wanted: int, got: int) -> list[str]:
    """The sentence on a capture that is short; nothing of one that is whole."""
    if got >= wanted:
        return []
    return [
        f"The capture is short: {got} of {wanted} samples arrived, {wanted - got} are missing; capture again."
    ]
