"""The steps that load the board or capture: flash, line, pins at rest, threshold, rate, clock, and
a first number.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from base.paths import RUNS
from base.processes import signals
from base.run_folder.edges import NS_PER_S, EdgeList
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import Manifest, Serial, read_manifest
from base.tell import Tell
from capture.acquisition import sigrok_cli
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest, longest_s
from capture.acquisition.stored import read_stored
from capture.checks.clips import look
from capture.checks.devices import Facts, ask
from capture.checks.findings import Figure, Finding
from capture.conduct import judge, run
from capture.desk.bench import BoardResource
from capture.desk.open_board import open_board
from capture.instruments.calibration import fall_delay_samples
from capture.reading.wire import COMMON_CHANNELS
from capture.summary.warnings import LATE_SAMPLES
from firmware.build import fit, image
from firmware.build.boards import Board
from firmware.build.image import FirmwareImage
from scenarios import catalogue
from scenarios.plan import Plan

ALLOCATOR = "tlsf"
SLOWER_BAUDS = (500_000, 115_200)
"""Tried where records are damaged: half, and what every port can do."""
REST_S = 1.0
"""How long the pins are looked at while nothing moves them."""
# Two crystals differ by some 100 millionths at most; an RC oscillator by 10,000.
_CRYSTALS_PPM = 500.0
# What is left of the time that the analyzer must keep up, in captures, and needs no further one.
_NOTHING_OF_ONE = 0.05
_BESIDE_OPERATIONS = 840
"""Entries of an image that mem_stress may need for more than its operations."""
_PPM = 1e6


@dataclass
class Desk:
    """A board of bench.toml, called `name` by the user, and what was learned of it: each thing is
    asked once. `rate_s` is how long its analyzer must keep up, `folders` are of the runs so far.
    """

    board: BoardResource
    name: str = ""
    runs: Path = RUNS
    rate_s: float = 0.0
    shown: Tell = lambda _: None
    folders: list[Path] = field(default_factory=list)

    @property
    def is_virtual(self) -> bool:
        """Whether the board is no more than a program."""
        return self.board.loader.kind == "virtual-nucleo"

    @property
    def last(self) -> Manifest:
        """run.json of the last run."""
        return read_manifest(self.folders[-1] / MANIFEST)

    @cached_property
    def facts(self) -> Facts:
        """What is plugged in."""
        return ask(self.board)

    @cached_property
    def image(self) -> FirmwareImage:
        """The firmware of the runs that are made here."""
        signals.check()
        self.shown("the firmware")
        return image.build(ALLOCATOR, board=self.board.board.word)

    @cached_property
    def short_plan(self) -> Plan:
        """What flash and line are tried with: 152 ms at most on the first board."""
        return _plan(self.board.board, "mem_frag", depth=8)

    def load(self) -> Finding:
        """Does the board take a firmware and its operations?"""
        with open_board(self.board) as opened:
            opened.load(self.image.elf, self.short_plan.image)
            remarks = opened.oddities()
        words = "The flash took the firmware and its operations."
        return Finding("flash", "odd" if remarks else "right", words, remarks)

    def load_again(self) -> Finding:
        """Does it take them once more, behind a run that has come to its end?"""
        with open_board(self.board) as opened:
            resetter = opened.resetter(None)
            if resetter is not None:
                resetter.reset()
        time.sleep(longest_s(self.short_plan, self.board.board.core_hz))
        return replace(self.load(), words="The board is loaded again behind a run.")

    def line(self) -> Finding:
        """Do the records come, whole and in order? Where some do not, slower lines are tried."""
        baud, serial = self.board.baud, self._run(self.short_plan).serial
        finding = of_serial(serial, baud)
        for rate in SLOWER_BAUDS if finding.state == "wrong" and serial.bytes else ():
            if rate < baud and of_serial(self._run(self.short_plan, rate).serial, rate).state == "right":
                return replace(
                    finding,
                    remedies=(
                        f"At {rate:,} baud they came whole: set baud = {rate} in bench.toml if this recurs.",
                    ),
                )
        return finding

    def rest(self) -> Finding:
        """Does an input see pulses where no pin moves: of firmware that has come to its end?"""
        return of_rest(look(self.board, None, REST_S, self.shown, "The pins cannot be looked at"))

    def threshold(self) -> Finding:
        """Does the analyzer see rising and falling edges alike?"""
        wire = judge(*read_stored(self.folders[-1]))[0].wire
        sample_ns = NS_PER_S / wire.edges.samplerate_hz
        late = ((channel, fall_delay_samples(wire, channel)) for channel in COMMON_CHANNELS)
        delays_ns = {channel: delay * sample_ns for channel, delay in late if delay is not None}
        if not delays_ns:
            return Finding(
                "edges", "odd", "The common pulses are not there, which would tell.", ("See the wiring.",)
            )
        worst = max(delays_ns, key=lambda channel: abs(delays_ns[channel]))
        nothing_ns = LATE_SAMPLES * sample_ns
        return Finding(
            "edges",
            "right" if abs(delays_ns[worst]) <= nothing_ns else "odd",
            f"{worst} sees falling edges {delays_ns[worst]:+.1f} ns later than rising ones, the farthest of "
            f"all; {nothing_ns:.1f} ns are nothing.",
            figures=tuple(
                Figure(f"{channel} falls later by", round(delay_ns, 1), "ns", round(nothing_ns, 1))
                for channel, delay_ns in delays_ns.items()
            ),
        )

    def rate(self) -> Finding:
        """Does the analyzer keep up, without a sample lost?"""
        board = self.board.board
        # Churn that takes so long, or as much of it as an image has room for.
        usual = _plan(board, "mem_stress")
        each_s = longest_s(usual, board.core_hz) / usual.operations.height
        most = fit.place(board).entries - _BESIDE_OPERATIONS
        plan = _plan(board, "mem_stress", operations=min(max(round(self.rate_s / each_s), 120), most))
        outcomes = []
        for _ in range(max(1, math.ceil(self.rate_s / longest_s(plan, board.core_hz) - _NOTHING_OF_ONE))):
            outcomes.append(self._run(plan))
            if outcomes[-1].verdict != "complete":
                break
        seconds = sum(manifest.total_samples / manifest.samplerate_hz for manifest in outcomes)
        figures = (
            Figure("captured", round(seconds, 3), "s", n=len(outcomes)),
            Figure(
                "samples",
                sum(manifest.total_samples for manifest in outcomes),
                n=sum(manifest.tool_report.asked_samples for manifest in outcomes),
            ),
        )
        bad = outcomes[-1]
        if bad.verdict == "complete":
            return Finding("samples", "right", f"No sample is missing in {seconds:.3g} s.", (), figures)
        return Finding(
            "samples",
            "wrong",
            f"A capture is {bad.verdict}: the analyzer or its line does not keep up.",
            # Those that tell of samples before all others.
            tuple(sorted(bad.reasons, key=lambda reason: "samples were lost" not in reason)),
            figures,
        )

    def clock(self) -> Finding:
        """Do the clocks of board and analyzer agree, by the last run?"""
        clock = self.last.clock
        figures = tuple(
            Figure(name, round((ratio - 1) * _PPM, 3), "ppm", round((uncertainty or 0.0) * _PPM, 3), edges)
            for name, ratio, uncertainty, edges in (
                ("by the frames", clock.ratio, clock.ratio_uncertainty, clock.start_edges + clock.end_edges),
                ("by the cycle counter", clock.ratio_by_dwt, clock.ratio_by_dwt_uncertainty, None),
            )
            if ratio is not None
        )
        best = clock.ratio if clock.ratio_by_dwt is None else clock.ratio_by_dwt
        if best is None:
            return Finding(
                "clock", "odd", "The frames do not tell.", ("Run ./lab redecode on the run of this step.",)
            )
        ppm = (best - 1) * _PPM
        words = (
            f"The analyzer's clock is {ppm:+,.2f} ppm off the board's, to "
            f"{figures[-1].plus_minus or 0.0:,.2f}."
        )
        if abs(ppm) <= _CRYSTALS_PPM:
            return Finding("clock", "right", words, (), figures)
        return Finding("clock", "odd", f"{words} Two crystals differ by less.", figures=figures)

    def number(self) -> Finding:
        """What did the board measure in the last run?"""
        manifest = self.last
        wire, cycles = manifest.statistics["critical_ns"], manifest.statistics["dwt_cycles"]
        budget = manifest.error_budget["critical_ns"].total.ns
        if manifest.verdict != "complete" or wire.max is None or cycles.max is None:
            words = f"The run is {manifest.verdict}, so its numbers may not be believed."
            return Finding("section", "wrong", words, tuple(manifest.reasons))
        return Finding(
            "section",
            "right",
            f"The longest critical section of {manifest.allocator} in {manifest.scenario} is "
            f"{wire.max:,.1f} ns ± {budget or 0.0:,.1f} ns, of {wire.n:,}.",
            figures=(
                Figure(
                    "longest section, wire", round(wire.max, 1), "ns", budget and round(budget, 1), wire.n
                ),
                Figure("longest section, counter", round(cycles.max, 1), "cycles", None, cycles.n),
            ),
        )

    def _run(self, plan: Plan, baud: int | None = None) -> Manifest:
        request = RunRequest(
            plan=plan, image=self.image, board=self.name, baud=baud, runs=self.runs, progress=self.shown
        )
        source = Direct if self.is_virtual and not sigrok_cli.is_installed() else Sigrok
        self.folders.append(run(source(request)).folder)
        return self.last


def _plan(board: Board, scenario: str, **parameters: int) -> Plan:
    return catalogue.load(scenario, parameters).compile(fit.place(board))


def of_serial(serial: Serial, baud: int) -> Finding:
    """What became of the records of a run that came at `baud`."""
    if serial.records and not serial.checksum_failures and not serial.sequence_gaps and serial.end_record:
        words = f"{serial.records:,} records came at {baud:,} baud, whole and in order."
        return Finding("records", "right", words)
    return Finding(
        "records",
        "wrong",
        f"Records are damaged or missing at {baud:,} baud: {serial.records:,} came in {serial.bytes:,} "
        f"bytes, beside {serial.checksum_failures:,} lines that cannot be read.",
    )


def of_rest(edges: EdgeList) -> Finding:
    """Edges that came while no pin moved."""
    seconds = edges.total_samples / edges.samplerate_hz
    seen = {channel: edges.transitions(channel).sample.size for channel in edges.channels}
    figures = (Figure("edges at rest", sum(seen.values()), n=len(seen)),)
    noisy = ", ".join(f"{channel} {count:,}" for channel, count in seen.items() if count)
    if not noisy:
        return Finding("inputs", "right", f"No input sees an edge in {seconds:.3g} s.", (), figures)
    return Finding(
        "inputs",
        "odd",
        f"Inputs see edges though no pin moves: {noisy} in {seconds:.3g} s.",
        figures=figures,
    )
