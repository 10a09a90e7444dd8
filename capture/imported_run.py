"""Judges a capture that another tool recorded, as a run of the bench is judged.

It needs what the bench knows of its own runs: the plan, and the records. Both may come from a run
that was going on meanwhile, with the bench's own analyzer or without a sound one.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from base.files.errors import CaptureError
from base.files.whole import WriteError, read_bytes, why
from base.processes import signals
from base.run_folder.edges import CHANNELS
from base.run_folder.folder import RunName, check_writable
from base.run_folder.manifest import AskedFirmware, Outside, ToolReport
from base.run_folder.records import MOST_LOG_BYTES
from capture.acquisition.observe import Observation
from capture.importing.formats import Import
from capture.joining.evidence import decode
from capture.redecode import read_stored
from capture.store import RunResult, begin_folder, keep_observation, store_findings, store_session
from capture.summary.summary import Setting
from scenarios.plan import Plan

# What recorded the run's own capture did not record this one.
_CAPTURED_BY = ("sigrok_cli", "libsigrok", "libsigrokdecode")

BOARD = "imported"
"""The board of a run that nobody named."""


@dataclass(frozen=True)
class Account:
    """What is known of the run beside its capture."""

    plan: Plan
    serial_bytes: bytes
    counts: bytes | None
    asked: AskedFirmware
    setting: Setting


def of_run(folder: Path, log: Path | None = None) -> Account:
    """What the run in `folder` tells, which the capture was taken of.

    With the records of `log` it was another run of the same firmware and plan. Then the counts and
    the memory of that in `folder` say nothing of it. Raises TailscopeError.
    """
    stored = read_stored(folder)
    tools = {name: version for name, version in stored.setting.tools.items() if name not in _CAPTURED_BY}
    setting = replace(stored.setting, tools={**tools, "python": platform.python_version()})
    account = Account(stored.plan, stored.serial_bytes, stored.counts, stored.asked, setting)
    if log is None:
        return account
    return replace(account, serial_bytes=_read_log(log), counts=None, setting=replace(setting, memory=None))


def of_plan(plan: Plan, allocator: str, log: Path | None, outside: Outside | None = None) -> Account:
    """A run of `plan` on a firmware of which only the allocator is known, with its file if it is
    from outside. `log` has its records.

    Without one there are no records. Raises CaptureError.
    """
    return Account(
        plan=plan,
        serial_bytes=_read_log(log) if log else b"",
        counts=None,
        asked=AskedFirmware(allocator=allocator, outside=outside),
        setting=Setting(
            allocator,
            BOARD,
            analyzer="unknown",
            elf_sha256="unknown",
            tools={"python": platform.python_version()},
        ),
    )


def store(imported: Import, account: Account, runs_folder: Path) -> RunResult:
    """Joins and judges the capture, and keeps it in a new folder in `runs_folder`.

    Raises CaptureError where channels are missing, and WriteError.
    """
    missing = [name for name in CHANNELS if name not in imported.edges.channels]
    if missing:
        raise CaptureError(
            f"A run has eight channels, and {', '.join(missing)} of the file are not named; "
            "add them to --channels."
        )
    name = RunName(account.plan.name, account.setting.allocator, account.setting.board)
    seen = Observation(imported.edges, account.serial_bytes, report(imported), account.counts)
    setting = replace(account.setting, analyzer=imported.origin.format, imported=imported.origin)
    with signals.orderly():
        check_writable(runs_folder)
        folder = begin_folder(runs_folder, name, datetime.now(UTC), account.plan)
        keep_observation(folder, account.plan, seen)
        setting = replace(setting, notes=store_session(folder, seen.edges))
        evidence = decode(
            account.plan, seen.report, seen.edges, seen.serial_bytes, seen.counts, account.asked
        )
        try:
            return store_findings(folder, evidence, setting)
        except WriteError as error:
            raise WriteError(f"{error} The capture is kept: ./lab redecode {folder.path}") from None


def report(imported: Import) -> ToolReport:
    """What is known of the tool that captured: that it kept these samples."""
    doubts = (
        (
            "Nobody says at which samplerate it was captured, so how exact its edges are is not known; "
            "import it again with --samplerate.",
        )
        if imported.origin.samplerate_from == "resolution"
        else ()
    )
    return ToolReport(asked_samples=imported.edges.total_samples, oddities=doubts)


def _read_log(path: Path) -> bytes:
    try:
        return read_bytes(path, MOST_LOG_BYTES)
    except OSError as error:
        raise CaptureError(f"{path} cannot be read as a log of records: {why(error)}.") from None
