"""The steps before a capture: what is plugged in, who may use it, what it takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from elftools.elf.elffile import ELFFile

from capture.acquisition.duration import longest_s
from capture.bring_up.step import Figure, Outcome
from capture.desk.bench import BoardResource
from capture.desk.open_board import open_board
from capture.survey import advice
from capture.survey.advice import Finding
from capture.survey.ask import ask
from capture.survey.facts import Facts
from capture.wiring.check import check
from capture.wiring.findings import Findings
from firmware.build.image import FirmwareImage
from scenarios.plan import Plan

_SOUND_CLIPS = ("right", "noisy")
NOTHING_PLUGGED_IN = "A virtual board has nothing on the desk."


class Desk:
    """What stands on the desk of a board: asked once, and looked at by several steps."""

    def __init__(self, board: BoardResource) -> None:
        self._board = board
        self._loaded_s = 0.0

    @property
    def is_virtual(self) -> bool:
        """Whether the board is no more than a program."""
        return self._board.loader.kind == "virtual-nucleo"

    @cached_property
    def _facts(self) -> Facts:
        return ask(self._board)

    @cached_property
    def _rights(self) -> tuple[Finding, ...]:
        return tuple(advice.rights(self._board, self._facts))

    @cached_property
    def _probe(self) -> tuple[Finding, ...]:
        chosen = advice.chosen_probes(self._board, self._facts)
        return tuple(advice.of_probe(chosen[0])) if len(chosen) == 1 else ()

    def rights(self) -> Outcome:
        """May this user use what is plugged in, and does nobody else?"""
        if self.is_virtual:
            return Outcome("skipped", NOTHING_PLUGGED_IN)
        devices = len(self._facts.usb) + len(self._facts.ports)
        return _of(self._rights, "You may use what is plugged in.", (Figure("devices", devices),))

    def plugged_in(self) -> Outcome:
        """Is there one analyzer, one probe and one port?"""
        if self.is_virtual:
            return Outcome("skipped", NOTHING_PLUGGED_IN)
        variables = self._rights + self._probe
        findings = [
            finding for finding in advice.advise(self._board, self._facts) if finding not in variables
        ]
        figures = tuple(
            Figure(finding.subject, finding.words) for finding in findings if finding.state == "used"
        )
        return _of(findings, "Analyzer, probe and serial port are there.", figures)

    def probe_firmware(self) -> Outcome:
        """Is the firmware of the probe new enough?"""
        if self.is_virtual:
            return Outcome("skipped", NOTHING_PLUGGED_IN)
        chosen = advice.chosen_probes(self._board, self._facts)
        version = chosen[0].firmware if chosen else None
        if version is None:
            return Outcome("skipped", "This probe does not tell the version of its firmware.")
        return _of(self._probe, f"The probe has firmware {version}.", (Figure("firmware", version),))

    def load(self, image: FirmwareImage, plan: Plan) -> Outcome:
        """Does the board take a firmware and its operations?"""
        if self.is_virtual:
            return Outcome("skipped", "A virtual board is not flashed.")
        self._loaded_s, remarks = self._load(image, plan)
        size = _loaded_bytes(image.elf) + len(plan.image)
        figures = (Figure("flashed", size, "bytes"), Figure("took", round(self._loaded_s, 1), "s"))
        return _taken("The flash took the firmware and its operations.", remarks, figures)

    def load_again(self, image: FirmwareImage, plan: Plan) -> Outcome:
        """Does it take them once more, behind a run that has come to its end?"""
        if self.is_virtual:
            return Outcome("skipped", "A virtual board is not flashed.")
        with open_board(self._board) as opened:
            resetter = opened.resetter(None)
            if resetter is not None:
                resetter.reset()
        time.sleep(longest_s(plan, self._board.board.core_hz))
        again_s, remarks = self._load(image, plan)
        figures: tuple[Figure, ...] = (Figure("took", round(again_s, 1), "s"),)
        if not remarks and again_s < self._loaded_s:
            saved = round(self._loaded_s - again_s, 1)
            figures = (*figures, Figure("erasing and writing took, about", saved, "s"))
        return _taken("The board is loaded again behind a run.", remarks, figures)

    def _load(self, image: FirmwareImage, plan: Plan) -> tuple[float, tuple[str, ...]]:
        """Seconds that it took, and what the loader remarks."""
        since_s = time.monotonic()
        with open_board(self._board) as opened:
            opened.load(image.elf, plan.image)
            return time.monotonic() - since_s, opened.oddities()

    def wiring(self) -> Outcome:
        """Is each clip on its pin?"""
        findings = check(self._board)
        return of_clips(findings)


def _taken(words: str, remarks: tuple[str, ...], figures: tuple[Figure, ...]) -> Outcome:
    return Outcome("look" if remarks else "right", words, remarks, figures)


def of_clips(findings: Findings) -> Outcome:
    """What the check of the clips means: a wrong one ends it, a noisy one does not."""
    clips = findings.clips
    states = [verdict.state for verdict in findings.verdicts]
    right = states.count("right")
    figures = (Figure("clips that are right", right, n=len(states)),)
    if findings.right:
        return Outcome("right", "All eight clips are where they belong.", (), figures, clips)
    sound = all(state in _SOUND_CLIPS for state in states)
    words = f"{len(states) - right} of {len(states)} clips are not as they should be."
    return Outcome("look" if sound else "stop", words, findings.remedies, figures, clips)


def _loaded_bytes(elf: Path) -> int:
    """How many bytes of an ELF file go into the flash."""
    with elf.open("rb") as file:
        segments = ELFFile(file).iter_segments("PT_LOAD")
        return sum(int(segment["p_filesz"]) for segment in segments)


def _of(findings: Sequence[Finding], all_well: str, figures: tuple[Figure, ...] = ()) -> Outcome:
    """Findings as a step: the wrong ones end it, the odd ones are to be looked at."""
    wrong = tuple(finding.words for finding in findings if finding.state == "wrong")
    odd = tuple(finding.words for finding in findings if finding.state == "odd")
    if wrong:
        keep = f"{_count(len(wrong), 'thing keeps', 'things keep')} the bench from running."
        return Outcome("stop", keep, (*wrong, *odd), figures)
    if odd:
        return Outcome("look", f"{all_well} {_count(len(odd), 'thing is', 'things are')} odd.", odd, figures)
    return Outcome("right", all_well, figures=figures)


def _count(number: int, singular: str, several: str) -> str:
    return f"{number} {singular if number == 1 else several}"
