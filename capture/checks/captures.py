"""The steps that load the board or capture: flash, line, pins at rest, threshold, rate, clock, and
a first number.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from base.paths import RUNS
from base.processes import signals
from base.run_folder.edges import CHANNELS, NS_PER_S, EdgeList
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import Manifest, Serial, read_manifest
from base.tell import Tell
from capture.acquisition import sigrok_cli
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest, longest_s
from capture.acquisition.stored import read_stored
from capture.checks.clips import look
from capture.checks.devices import ask
from capture.checks.findings import Figure, Finding
from capture.checks.host import Facts
from capture.conduct import run as conduct
from capture.desk.bench import BoardResource
from capture.desk.loading import pieces
from capture.desk.open_board import open_board
from capture.instruments.calibration import fall_delay_samples
from capture.reading.wire import COMMON_CHANNELS, Wire
from capture.store import RunResult, judge
from capture.summary.warnings import LATE_SAMPLES
from firmware.build import fit
from firmware.build import image as firmware
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
_BESIDE_OPERATIONS = 840
"""Entries of an image that mem_stress may need for more than its operations."""
_PPM = 1e6
_REASONS = 3


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
    _load_s: float = 0.0
    _first: RunResult | None = None
    _longest: Manifest | None = None

    @property
    def is_virtual(self) -> bool:
        """Whether the board is no more than a program."""
        return self.board.loader.kind == "virtual-nucleo"

    @cached_property
    def facts(self) -> Facts:
        """What is plugged in."""
        return ask(self.board)

    @cached_property
    def image(self) -> FirmwareImage:
        """The firmware of the runs that are made here."""
        signals.check()
        self.shown("the firmware")
        return firmware.build(ALLOCATOR, board=self.board.board.word)

    @cached_property
    def short_plan(self) -> Plan:
        """What flash and line are tried with: 152 ms at most on the first board."""
        return _plan(self.board.board, "mem_frag", depth=8)

    def load(self) -> Finding:
        """Does the board take a firmware and its operations?"""
        self._load_s, remarks = self._loaded()
        size = sum(len(content) for _, content in pieces(self.image.elf)) + len(self.short_plan.image)
        figures = (Figure("flashed", size, "bytes"), Figure("took", round(self._load_s, 1), "s"))
        words = "The flash took the firmware and its operations."
        return Finding("flash", "odd" if remarks else "right", words, remarks, figures)

    def load_again(self) -> Finding:
        """Does it take them once more, behind a run that has come to its end?"""
        with open_board(self.board) as opened:
            resetter = opened.resetter(None)
            if resetter is not None:
                resetter.reset()
        time.sleep(longest_s(self.short_plan, self.board.board.core_hz))
        again_s, remarks = self._loaded()
        figures: tuple[Figure, ...] = (Figure("took", round(again_s, 1), "s"),)
        if not remarks and again_s < self._load_s:
            saved = round(self._load_s - again_s, 1)
            figures = (*figures, Figure("erasing and writing took, about", saved, "s"))
        words = "The board is loaded again behind a run."
        return Finding("flash", "odd" if remarks else "right", words, remarks, figures)

    def _loaded(self) -> tuple[float, tuple[str, ...]]:
        """Seconds that it took, and what the loader remarks."""
        image, plan = self.image, self.short_plan
        since_s = time.monotonic()
        with open_board(self.board) as opened:
            opened.load(image.elf, plan.image)
            return time.monotonic() - since_s, opened.oddities()

    def line(self) -> Finding:
        """Do the records come, whole and in order? Where they do not, slower lines are tried."""
        baud = self.board.baud
        self._first = self._run(self.short_plan)
        finding = of_serial(serial := _manifest(self._first).serial, baud)
        if finding.state == "right" or not serial.bytes:
            return finding
        slower = [rate for rate in SLOWER_BAUDS if rate < baud]
        for rate in slower:
            self.shown(f"line: the same at {rate:,} baud")
            if of_serial(_manifest(self._run(self.short_plan, rate)).serial, rate).state == "right":
                advice = f"At {rate:,} baud they came whole: set baud = {rate} in bench.toml if this recurs."
                figures = (*finding.figures, Figure("all comes at", rate, "baud"))
                return replace(finding, remedies=(advice, *finding.remedies), figures=figures)
        rates = " and ".join(f"{rate:,}" for rate in slower)
        tried = f"At {rates} baud it is no better: the rate is not at fault."
        return replace(finding, remedies=(tried, *finding.remedies)) if slower else finding

    def rest(self) -> Finding:
        """Does an input see pulses where no pin moves: of firmware that has come to its end?"""
        return of_rest(look(self.board, None, REST_S, self.shown, "The pins cannot be looked at"))

    def threshold(self) -> Finding:
        """Does the analyzer see rising and falling edges alike?"""
        assert self._first is not None
        return of_threshold(judge(*read_stored(self._first.folder))[0].wire)

    def rate(self) -> Finding:
        """Does the analyzer keep up, without a sample lost?"""
        outcomes: list[tuple[RunResult, Manifest]] = []
        board = self.board.board
        plan = plan_of(self.rate_s, board)
        runs = max(1, math.ceil(self.rate_s / longest_s(plan, board.core_hz) - 0.05))
        for number in range(runs):
            self.shown(f"rate: capture {number + 1} of {runs}")
            result = self._run(plan)
            outcomes.append((result, _manifest(result)))
            if result.verdict != "complete":
                break
        self._longest = outcomes[-1][1]
        return of_rate(outcomes)

    def clock(self) -> Finding:
        """Do the clocks of board and analyzer agree?"""
        assert self._longest is not None
        return of_clock(self._longest)

    def number(self) -> Finding:
        """What does the board measure?"""
        result = self._run(_plan(self.board.board, "mem_stress"))
        return of_number(result, _manifest(result))

    def _run(self, plan: Plan, baud: int | None = None) -> RunResult:
        request = RunRequest(
            plan=plan, image=self.image, board=self.name, baud=baud, runs=self.runs, progress=self.shown
        )
        direct = self.is_virtual and not sigrok_cli.is_installed()
        result = conduct(Direct(request) if direct else Sigrok(request))
        self.folders.append(result.folder)
        return result


def _plan(board: Board, scenario: str, **parameters: int) -> Plan:
    return catalogue.load(scenario, parameters).compile(fit.place(board))


def plan_of(seconds: float, board: Board) -> Plan:
    """Churn that takes about `seconds`, or as much of it as an image has room for."""
    usual = _plan(board, "mem_stress")
    each_s = longest_s(usual, board.core_hz) / usual.operations.height
    most = fit.place(board).entries - _BESIDE_OPERATIONS
    return _plan(board, "mem_stress", operations=min(max(round(seconds / each_s), 120), most))


def _manifest(result: RunResult) -> Manifest:
    return read_manifest(result.folder / MANIFEST)


def of_serial(serial: Serial, baud: int) -> Finding:
    """What became of the records of a run that came at `baud`."""
    figures = (
        Figure("rate of the line", baud, "baud"),
        Figure("bytes", serial.bytes),
        Figure("records", serial.records),
        Figure("lines that cannot be read", serial.checksum_failures, n=serial.records),
    )
    words = "Records are damaged or missing."
    remedies: tuple[str, ...] = ()
    if not serial.bytes:
        words = "Not a byte came from the board."
        remedies = ("Check that the port of bench.toml is the board's.",)
    elif not serial.records:
        words = f"{serial.bytes:,} bytes came, and no record among them."
        remedies = (f"Check that the port can do {baud:,} baud.",)
    elif not serial.checksum_failures and not serial.sequence_gaps and serial.end_record:
        words = f"{serial.records:,} records came at {baud:,} baud, whole and in order."
        return Finding("records", "right", words, (), figures)
    return Finding("records", "wrong", words, remedies, figures)


def of_rest(edges: EdgeList) -> Finding:
    """Edges that came while no pin moved, and how many pulses of them were of one sample."""
    seconds = edges.total_samples / edges.samplerate_hz
    seen = {channel: edges.transitions(channel).sample for channel in CHANNELS}
    narrow = {channel: int(np.count_nonzero(np.diff(samples) <= 1)) for channel, samples in seen.items()}
    edge_count = sum(len(samples) for samples in seen.values())
    figures = (
        Figure("edges at rest", edge_count, n=len(CHANNELS)),
        Figure("pulses of a single sample", sum(narrow.values())),
        Figure("looked for", round(seconds, 3), "s"),
    )
    if not edge_count:
        return Finding("inputs", "right", f"No input sees an edge in {seconds:.3g} s.", (), figures)
    noisy = [f"{channel} {len(samples):,}" for channel, samples in seen.items() if len(samples)]
    words = f"Inputs see edges though no pin moves: {', '.join(noisy)} in {seconds:.3g} s."
    return Finding("inputs", "odd", words, figures=figures)


def of_threshold(wire: Wire) -> Finding:
    """How much later than rising edges each input sees falling ones, by the common pulses."""
    sample_ns = NS_PER_S / wire.edges.samplerate_hz
    late = {channel: fall_delay_samples(wire, channel) for channel in COMMON_CHANNELS}
    delays = {channel: delay for channel, delay in late.items() if delay is not None}
    if not delays:
        return Finding(
            "edges", "odd", "The common pulses are not there, which would tell.", ("See the wiring.",)
        )
    figures = tuple(
        Figure(
            f"{channel} falls later by", round(delay * sample_ns, 1), "ns", round(LATE_SAMPLES * sample_ns, 1)
        )
        for channel, delay in delays.items()
    )
    worst = max(delays, key=lambda channel: abs(delays[channel]))
    if abs(delays[worst]) <= LATE_SAMPLES:
        words = f"Rising and falling edges are seen alike, to {LATE_SAMPLES * sample_ns:.1f} ns."
        return Finding("edges", "right", words, (), figures)
    words = f"{worst} sees falling edges {delays[worst] * sample_ns:+.1f} ns later than rising ones."
    return Finding("edges", "odd", words, figures=figures)


def of_rate(outcomes: list[tuple[RunResult, Manifest]]) -> Finding:
    """True if every sample of these runs came."""
    asked_samples = sum(manifest.tool_report.asked_samples for _, manifest in outcomes)
    got = sum(manifest.total_samples for _, manifest in outcomes)
    seconds = sum(manifest.total_samples / manifest.samplerate_hz for _, manifest in outcomes)
    edges = sum(manifest.clock.start_edges + manifest.clock.end_edges for _, manifest in outcomes)
    stimuli = sum(
        manifest.interrupts.stimuli + manifest.interrupts.control_stimuli for _, manifest in outcomes
    )
    figures = (
        Figure("captured", round(seconds, 3), "s", n=len(outcomes)),
        Figure("samples", got, n=asked_samples),
        Figure("edges of frames", edges),
        Figure("edges of timers on their line", stimuli),
    )
    bad = next((result for result, _ in outcomes if result.verdict != "complete"), None)
    if bad is None:
        return Finding("samples", "right", f"No sample is missing in {seconds:.3g} s.", (), figures)
    words = f"A capture is {bad.verdict}: the analyzer or its line does not keep up."
    # The first reasons of its verdict, those that tell of samples before all others.
    reasons = tuple(sorted(bad.reasons, key=lambda reason: "samples were lost" not in reason))
    more = len(reasons) - _REASONS
    if more > 1:
        further = f"{more} further reasons are in run.json of the last run below."
        reasons = (*reasons[:_REASONS], further)
    return Finding("samples", "wrong", words, reasons, figures)


def of_clock(manifest: Manifest) -> Finding:
    """The analyzer's clock against the board's, by the frames and by the cycle counter."""
    clock = manifest.clock
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
    ppm, apart = (best - 1) * _PPM, figures[-1].plus_minus or 0.0
    off = f"{abs(ppm):,.2f} ± {apart:,.2f} ppm {'faster' if ppm > 0 else 'slower'} than"
    how = f"as fast as, to {apart:,.2f} ppm," if abs(ppm) <= apart else off
    words = f"The analyzer's clock is {how} the board's."
    if abs(ppm) <= _CRYSTALS_PPM:
        return Finding("clock", "right", words, (), figures)
    return Finding("clock", "odd", f"{words} Two crystals differ by less.", figures=figures)


def of_number(result: RunResult, manifest: Manifest) -> Finding:
    """The longest critical section of a whole run, on the wire and by the cycle counter."""
    wire, cycles = manifest.statistics["critical_ns"], manifest.statistics["dwt_cycles"]
    budget = manifest.error_budget["critical_ns"].total.ns
    figures = tuple(
        Figure(name, round(value, 1), unit, plus_minus, statistic.n)
        for name, statistic, value, unit, plus_minus in (
            ("longest section, wire", wire, wire.max, "ns", budget and round(budget, 1)),
            ("longest section, counter", cycles, cycles.max, "cycles", None),
            ("median section, wire", wire, wire.median, "ns", budget and round(budget, 1)),
        )
        if value is not None
    )
    if result.verdict != "complete" or wire.max is None:
        words = f"The run of mem_stress is {result.verdict}, so its numbers may not be believed."
        return Finding("section", "wrong", words, result.reasons, figures)
    return Finding(
        "section",
        "right",
        f"The longest critical section of {manifest.allocator} in mem_stress is {wire.max:,.1f} ns"
        + (f" ± {budget:,.1f} ns" if budget else "")
        + f", of {wire.n:,}.",
        (),
        figures,
    )
