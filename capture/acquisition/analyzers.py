"""The analyzer of a board: which devices answer, and whether the one that is meant can be used.

What it cannot do (a samplerate, a key of its driver) its own tool says of a few samples.
"""

from __future__ import annotations

import re
import subprocess

from base.files.errors import CaptureError
from base.processes import children
from capture.acquisition import saleae
from capture.acquisition.saleae import Device
from capture.acquisition.sigrok_cli import TOOL, CaptureRequest, find_tool, unexpected_lines, versions
from capture.desk.bench import AnalyzerResource, BoardResource

WITHIN_S = 90.0
"""A bare FX2 takes its firmware within three seconds; on a busy host many times as long."""

_TRIAL_SAMPLES = 1000
# sigrok-cli 0.7.2, show.c, print_dev_line().
_DEVICE = re.compile(
    r"(?P<driver>[\w-]+)(?::conn=(?P<connection>\S+))? - (?P<title>.*?) ?"
    r"with \d+ channels?:(?P<inputs>.*)"
)


def check_analyzer(board: BoardResource, samplerate_hz: int, duration_s: float) -> None:
    """Whether the analyzer of `board` answers, has the inputs that bench.toml names, and has memory
    for `duration_s`: asked before anything is flashed. A simulated analyzer is not asked.

    Raises CaptureError with one sentence where it cannot be used; and signals.Stopped.
    """
    if board.loader.kind == "virtual-nucleo":
        return
    analyzer = board.analyzer
    analyzer.check_samples(round(samplerate_hz * duration_s))
    answering = devices(analyzer)
    if len(answering) != 1:
        listed = ", ".join(f"{device.connection} ({device.title})" for device in answering)
        raise CaptureError(
            f"{len(answering) or 'No'} analyzers of the driver {analyzer.driver} answer, and one is needed: "
            f"check its cable, or name one in bench.toml. Those that answer: {listed or 'none'}."
        )
    if wrong := wrong_input(analyzer, answering[0]):
        raise CaptureError(wrong)
    if analyzer.by_saleae:
        return
    # What the driver has not, a samplerate or a key, it refuses of a few samples as of many.
    request = CaptureRequest(analyzer, analyzer.connection or None, samplerate_hz, _TRIAL_SAMPLES)
    done = _run([find_tool(analyzer.sigrok), *request.arguments()[:-1], "bits"])
    said = unexpected_lines(done.stderr)
    if done.returncode or not done.stdout.strip() or said:
        raise CaptureError(
            f"{TOOL} cannot capture so with the analyzer {analyzer.driver} at {samplerate_hz:,} Hz "
            f"({(said or ['it sends no sample'])[0].rstrip('.')}); mend samplerate or settings in bench.toml."
        )


def wrong_input(analyzer: AnalyzerResource, device: Device) -> str:
    """A sentence on the first input of bench.toml that the device has not there; or nothing."""
    for bit, name in enumerate(() if analyzer.by_saleae else analyzer.device_inputs):
        if name in analyzer.channels.values() and device.inputs[bit : bit + 1] != (name,):
            return (
                f"Input {bit} of the analyzer {analyzer.driver} is not {name}; its inputs are "
                f"{', '.join(device.inputs[:16])}: write the first eight as inputs into bench.toml."
            )
    return ""


def devices(analyzer: AnalyzerResource) -> tuple[Device, ...]:
    """Those that bench.toml means and that answer. Raises CaptureError; and signals.Stopped."""
    if analyzer.by_saleae:
        return saleae.devices(analyzer)
    at = f":conn={analyzer.connection}" if analyzer.connection else ""
    done = _run([find_tool(analyzer.sigrok), "--driver", f"{analyzer.driver}{at}", "--scan"])
    if done.returncode:
        raise CaptureError(
            f"{TOOL} --driver {analyzer.driver} --scan fails ({children.last_words(done.stderr).rstrip('.')})"
            f": check driver and connection in bench.toml; {TOOL} --list-supported prints the drivers."
        )
    return listed(done.stdout)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return children.run([*children.with_devices(), *command], within_s=WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"{TOOL} asked the analyzer for more than {WITHIN_S:g} s and was ended: unplug the analyzer and "
            "plug it in again."
        ) from None


def listed(scan: str) -> tuple[Device, ...]:
    """The analyzers that `sigrok-cli --scan` printed."""
    return tuple(
        Device(line["driver"], line["connection"], line["title"], tuple(line["inputs"].split()))
        for line in map(_DEVICE.fullmatch, map(str.strip, scan.splitlines()))
        if line
    )


def tool_versions(analyzer: AnalyzerResource) -> dict[str, str]:
    """Of the program that captures. Raises CaptureError where there is none that answers."""
    return saleae.versions(analyzer) if analyzer.by_saleae else versions(analyzer.sigrok)
