"""Several boards side by side, for the terminal."""

from __future__ import annotations

from analysis.compare.boards.across import Across
from analysis.compare.boards.tables import MEANING, every, headline
from analysis.compare.text import printed


def as_text(boards: Across) -> str:
    """A sentence for each group, the tables, and what is left out."""
    remarks = [group.remark for group in boards.groups if group.remark]
    return printed([*map(headline, boards.groups), *remarks, *every(boards), "", MEANING, *boards.left_out])
