"""Several boards side by side, for the terminal."""

from __future__ import annotations

from analysis.compare.boards.across import Across
from analysis.compare.boards.tables import MEANING, every, headline
from analysis.compare.text import printed


def as_text(found: Across) -> str:
    """A sentence for each group, the tables, and what is left out."""
    remarks = [group.remark for group in found.groups if group.remark]
    return printed([*map(headline, found.groups), *remarks, *every(found), "", MEANING, *found.left_out])
