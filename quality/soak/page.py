"""The table of docs/how-to/desk.md, from the catalogue: `python -m quality.soak.page`."""

from __future__ import annotations

from collections.abc import Iterator

from quality.soak.catalogue import FAULTS, NONE, DeskFault

HEAD = "| fault | injected | what detects it | it says | outcome | exit status | kept |"


def table() -> str:
    """The whole table, in Markdown."""
    return "\n".join([HEAD, "|---" * HEAD.count(" |") + "|", *_rows()])


def _rows() -> Iterator[str]:
    for fault in FAULTS:
        if fault is not NONE:
            yield f"| {' | '.join(_cells(fault))} |"


def _cells(fault: DeskFault) -> list[str]:
    says = fault.says or fault.notes or "–"
    status = str(fault.exit_status)
    return [f"`{fault.name}`", fault.injected, fault.detected_by, says, fault.verdict, status, fault.kept]


if __name__ == "__main__":
    print(table())
