"""What an analyzer can do, as its driver says: asked before anything is flashed.

sigrok-cli takes a samplerate, or a key of a driver, that the analyzer does not have only once the
capture begins; by then the board is loaded. `sigrok-cli --show` prints what there is.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from base.files.errors import CaptureError, near_miss
from base.processes import children
from base.run_folder.session_file import samplerate_hz as read_rate
from capture.acquisition import saleae
from capture.acquisition.saleae import check_saleae
from capture.acquisition.sigrok_cli import TOOL, find_tool, unexpected_lines, versions, with_remedy
from capture.desk.bench import AnalyzerResource, BoardResource

SHOW_WITHIN_S = 60.0
"""A bare analyzer takes its firmware first, and an FPGA its bitstream."""

# sigrok-cli 0.7.2, show.c: print_dev_line(), show_dev_detail(). Options stand four blanks in, and
# what a list has to choose from six, one a line.
_DEVICE = re.compile(r"(?P<driver>[\w-]+)(?::conn=\S+)? - .*?with \d+ channels?:(?P<inputs>.*)")
_HEADING = "Supported configuration options"
_OPTION = re.compile(r" {4}(?P<key>[a-z][a-z0-9_]*)(?::| -|\b)(?P<rest>.*)")
_VALUE = re.compile(r" {6}(?P<value>\S.*)")
_STEPS = re.compile(r" \((?P<least>.+) - (?P<most>.+) in steps of (?P<step>.+)\)")
_CURRENT = " (current)"
_RANGE = re.compile(r"[0-9.]+-[0-9.]+")
_SUPPORTED = re.compile(r"^  (?P<driver>[\w-]+) +\S", re.M)
_DRIVERS_HEADING = "Supported hardware drivers:"
_SEVERAL = re.compile(r"(\d+) devices found\.")
_MOST_SAMPLES = re.compile(r"^    Maximum number of samples: ([0-9]{1,18})$", re.M)
_RATE_KEY = "samplerate"
# What the bench says by itself.
_OURS = frozenset({_RATE_KEY, "limit_samples", "limit_time", "conn"})
_NEAR = 3


@dataclass(frozen=True)
class Options:
    """`inputs` are the names of the analyzer's inputs in its order, `keys` its options with what
    each has to choose from (nothing where that is not listed). `rates_hz` are its samplerates, in
    order; where it has steps instead, `steps_hz` is the least, the most and the step. It takes
    `most_samples` at a time (0: not told).
    """

    inputs: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rates_hz: tuple[int, ...] = ()
    steps_hz: tuple[int, int, int] | None = None
    most_samples: int = 0

    def can_sample_at(self, rate_hz: int) -> bool:
        """True of a samplerate that the driver lists, and of any where it lists none."""
        if self.steps_hz:
            least, most, step = self.steps_hz
            return least <= rate_hz <= most and (rate_hz - least) % step == 0
        return not self.rates_hz or rate_hz in self.rates_hz

    def near(self, rate_hz: int) -> str:
        """The samplerates around this one, for a sentence."""
        if self.steps_hz:
            least, most, step = self.steps_hz
            return f"from {least:,} to {most:,} Hz in steps of {step:,} Hz"
        at = bisect(self.rates_hz, rate_hz)
        *others, last = [f"{rate:,}" for rate in self.rates_hz[max(at - _NEAR, 0) : at + _NEAR]]
        return f"at {', '.join(others)} or {last} Hz" if others else f"at {last} Hz"


def check_analyzer(board: BoardResource, samplerate_hz: int, duration_s: float) -> None:
    """Asks the driver whether the analyzer of `board` can do what bench.toml and `samplerate_hz`
    want of it, and whether its memory holds `duration_s`.

    Raises CaptureError with one sentence where it cannot, where there is no such driver, and where
    no analyzer answers; and signals.Stopped. A simulated analyzer is not asked, and Saleae's
    Logic 2 in its own way.
    """
    if board.loader.kind == "virtual-nucleo":
        return
    analyzer = board.analyzer
    if analyzer.by_saleae:
        check_saleae(analyzer, samplerate_hz)
        return
    samples = round(samplerate_hz * duration_s)
    analyzer.check_samples(samples)
    tool = find_tool(analyzer.sigrok)
    at = f":conn={analyzer.connection}" if analyzer.connection else ""
    done = _run([*children.with_devices(), tool, "--driver", f"{analyzer.driver}{at}", "--show"])
    options = read_options(done.stdout)
    if not options.keys or done.returncode:
        raise CaptureError(_why(analyzer, tool, unexpected_lines(done.stderr)))
    check_options(analyzer, samplerate_hz, samples, options)


def check_options(analyzer: AnalyzerResource, samplerate_hz: int, samples: int, options: Options) -> None:
    """Raises CaptureError for the first thing of `analyzer` that is not among its `options`."""
    if options.most_samples and samples > options.most_samples:
        raise CaptureError(
            f"The capture would have {samples:,} samples, and the analyzer {analyzer.driver} takes "
            f"{options.most_samples:,}: ask for a lower samplerate or a shorter duration."
        )
    if not options.can_sample_at(samplerate_hz):
        raise CaptureError(
            f"The analyzer {analyzer.driver} cannot sample at {samplerate_hz:,} Hz, but "
            f"{options.near(samplerate_hz)}; write one of these into bench.toml, or after --samplerate."
        )
    driver = analyzer.driver
    for bit, name in enumerate(analyzer.device_inputs if options.inputs else ()):
        if name in analyzer.channels.values() and options.inputs[bit : bit + 1] != (name,):
            raise CaptureError(
                f"Input {bit} of the analyzer {driver} is not {name}; its inputs are "
                f"{', '.join(options.inputs[:16])}: write the first eight as inputs into bench.toml."
            )
    for setting in analyzer.words:
        key, _, value = setting.partition("=")
        if key not in options.keys:
            keys = sorted(set(options.keys) - _OURS)
            there = f"it has {', '.join(keys)}" if keys else "it has none"
            raise CaptureError(
                f"The analyzer {driver} has no key {key!r}, which bench.toml sets; {there}."
                f"{near_miss(key, keys)}"
            )
        choices = options.keys[key]
        if choices and value not in choices:
            some = [*choices[:8], f"… {choices[-1]}"] if len(choices) > 9 else choices
            raise CaptureError(
                f"The key {key!r} of the analyzer {driver} cannot be {value!r}, as bench.toml sets it; "
                f"choose from {', '.join(some)}."
            )


def _why(analyzer: AnalyzerResource, tool: str, said: list[str]) -> str:
    driver = analyzer.driver
    words = with_remedy(said[-1]) if said else "it does not say why"
    if any(line.startswith(f"Driver {driver} not found") for line in said):
        drivers = read_drivers(_run([tool, "--list-supported"]).stdout)
        preset = analyzer.known
        remedy = (
            "it came later: name a newer sigrok-cli by sigrok = PATH beside it"
            if preset and preset.newer
            else f"{TOOL} --list-supported prints those that there are.{near_miss(driver, drivers)}"
        )
        words = f"{tool} has no driver {driver!r}, which bench.toml names; {remedy}"
        return words if words[-1] in ".?" else f"{words}."
    if several := next((match for line in said if (match := _SEVERAL.search(line))), None):
        return (
            f"{several[1]} analyzers of the driver {driver} answer: write the connection of one into "
            f"bench.toml; {TOOL} --scan prints them."
        )
    return (
        f"{TOOL} finds no analyzer of the driver {driver} that answers ({words.rstrip('.')}); check the "
        "analyzer's cable and bench.toml, then run again."
    )


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return children.run(command, within_s=SHOW_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"{TOOL} asked the analyzer for more than {SHOW_WITHIN_S:g} s and was ended: unplug the analyzer "
            "and plug it in again."
        ) from None


def tool_versions(analyzer: AnalyzerResource) -> dict[str, str]:
    """Of the program that captures. Raises CaptureError where there is none that answers."""
    return saleae.versions(analyzer) if analyzer.by_saleae else versions(analyzer.sigrok)


def read_drivers(listed: str) -> tuple[str, ...]:
    """The hardware drivers that `sigrok-cli --list-supported` printed."""
    part = listed.partition(_DRIVERS_HEADING)[2].partition("\n\n")[0]
    return tuple(match["driver"] for match in _SUPPORTED.finditer(part))


def read_options(shown: str) -> Options:
    """What `sigrok-cli --show` printed of one analyzer; without keys where it shows none."""
    before, heading, after = shown.partition(_HEADING)
    device = next((match for line in before.splitlines() if (match := _DEVICE.fullmatch(line))), None)
    inputs = tuple(device["inputs"].split()) if device else ()
    if not heading:
        return Options(inputs)
    keys: dict[str, tuple[str, ...]] = {}
    steps: tuple[int, int, int] | None = None
    key = ""
    for line in after.splitlines()[1:]:
        if match := _OPTION.fullmatch(line):
            key = match["key"]
            keys[key] = tuple(_choices(match["rest"]))
            if key == _RATE_KEY and (spans := _STEPS.fullmatch(match["rest"])):
                steps, keys[key] = (*map(read_rate, spans.groups()),), ()  # type: ignore[assignment]
        elif (listed := _VALUE.fullmatch(line)) and key:
            keys[key] = (*keys[key], listed["value"].removesuffix(_CURRENT))
    rates = []
    for value in keys.get(_RATE_KEY, ()):
        with suppress(ValueError):
            rates.append(read_rate(value))
    most = _MOST_SAMPLES.search(after)
    return Options(inputs, keys, tuple(sorted(rates)), steps, int(most[1]) if most else 0)


def _choices(rest: str) -> Iterator[str]:
    """Of `: on (current), off` the two; of one value, which is what is set, none."""
    parts = [part.strip() for part in rest.split(",")]
    if len(parts) < 2 and not _RANGE.fullmatch(parts[0].removesuffix(_CURRENT)):
        return
    yield from (part.removesuffix(_CURRENT) for part in parts)
