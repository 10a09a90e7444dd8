"""The table of docs/how-to/desk.md, from the catalogue: `python -m quality.soak.page` writes it."""

from __future__ import annotations

import csv
from io import StringIO

from base.files.whole import write_bytes
from base.paths import ROOT
from quality.soak.catalogue import FAULTS, NONE

FILE = ROOT / "docs" / "results" / "desk-faults.csv"
_COLUMNS = ("fault", "injected", "what detects it", "it says", "outcome", "exit status", "kept")


def table() -> str:
    """The whole table, as the file has it."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for fault in FAULTS:
        if fault is not NONE:
            says = fault.says or fault.notes
            head = (fault.name, fault.injected, fault.detected_by, says)
            writer.writerow([*head, fault.verdict, fault.exit_status, fault.kept])
    return text.getvalue()


if __name__ == "__main__":
    write_bytes(FILE, table().encode())
