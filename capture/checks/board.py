"""What a board on the desk takes: firmware and operations, twice."""

from __future__ import annotations

import time
from dataclasses import dataclass

from capture.acquisition.source import longest_s
from capture.desk.bench import BoardResource
from capture.desk.finding import Figure, Finding
from capture.desk.loader_tool import pieces
from capture.desk.open_board import open_board
from firmware.build.image import FirmwareImage
from scenarios.plan import Plan


@dataclass
class Flash:
    """The flash of a board, and how long it took what it was given first."""

    board: BoardResource
    image: FirmwareImage
    plan: Plan
    first_s: float = 0.0

    def load(self) -> Finding:
        """Whether the board takes a firmware and its operations."""
        self.first_s, remarks = self._load()
        size = sum(len(content) for _, content in pieces(self.image.elf)) + len(self.plan.image)
        figures = (Figure("flashed", size, "bytes"), Figure("took", round(self.first_s, 1), "s"))
        return _taken("The flash took the firmware and its operations.", remarks, figures)

    def load_again(self) -> Finding:
        """Whether it takes them once more, behind a run that has come to its end."""
        with open_board(self.board) as opened:
            resetter = opened.resetter(None)
            if resetter is not None:
                resetter.reset()
        time.sleep(longest_s(self.plan, self.board.board.core_hz))
        again_s, remarks = self._load()
        figures: tuple[Figure, ...] = (Figure("took", round(again_s, 1), "s"),)
        if not remarks and again_s < self.first_s:
            saved = round(self.first_s - again_s, 1)
            figures = (*figures, Figure("erasing and writing took, about", saved, "s"))
        return _taken("The board is loaded again behind a run.", remarks, figures)

    def _load(self) -> tuple[float, tuple[str, ...]]:
        """Seconds that it took, and what the loader remarks."""
        since_s = time.monotonic()
        with open_board(self.board) as opened:
            opened.load(self.image.elf, self.plan.image)
            return time.monotonic() - since_s, opened.oddities()


def _taken(words: str, remarks: tuple[str, ...], figures: tuple[Figure, ...]) -> Finding:
    return Finding("flash", "odd" if remarks else "right", words, remarks, figures)
