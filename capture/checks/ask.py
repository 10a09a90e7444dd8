"""Asks sigrok-cli, pyOCD, pySerial and the kernel what is plugged in. Each has a bounded time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from base.files.errors import CaptureError
from base.paths import ROOT
from base.processes import children
from capture.acquisition import saleae
from capture.acquisition.sigrok_cli import find_tool
from capture.checks import rights
from capture.checks.host import Analyzer, Facts, Port, Probe, UsbDevice
from capture.desk.bench import AnalyzerResource, BoardResource, LoaderResource

SCAN_WITHIN_S = 90.0
"""A bare FX2 takes its firmware within three seconds, pyOCD as long to start; on a busy host many
times as long. A bus that hangs is not waited for longer.
"""
HOST_WITHIN_S = 90.0


# sigrok-cli 0.7.2, show.c, print_dev_line().
_DEVICE = re.compile(
    r"(?P<driver>[\w-]+)(?::conn=(?P<connection>\S+))? - (?P<title>.*?) ?"
    r"with \d+ channels?:(?P<inputs>.*)"
)


def ask(board: BoardResource) -> Facts:
    """Everything that the tools say of this board's desk. Raises signals.Stopped."""
    folders = firmware_folders(os.environ, Path.home())
    facts = Facts(
        serial_port=_behind(board.serial_port),
        firmware=frozenset(file.name for folder in folders for file in folder.glob("*")),
        firmware_folders=tuple(map(str, folders)),
        groups=rights.groups(),
        modem_manager=rights.modem_manager_runs(),
        rules=rights.installed(),
    )
    return _with_host(_with_loader(_with_analyzers(facts, board.analyzer), board.loader))


def _with_loader(facts: Facts, loader: LoaderResource) -> Facts:
    """The version of the tool that loads the board; pyOCD's stands among the packages."""
    if loader.way is None or not loader.way.program:
        return facts
    try:
        (version,) = loader.programmer().tools().values()
    except CaptureError as error:
        return replace(facts, loader_fault=str(error))
    return replace(facts, loader=version)


def _with_analyzers(facts: Facts, analyzer: AnalyzerResource) -> Facts:
    """All of the driver, and those that bench.toml's connection means."""
    try:
        if analyzer.by_saleae:
            return _with_saleae(facts, analyzer)
        analyzers = _scan(analyzer.driver, analyzer.sigrok)
        at = f"{analyzer.driver}:conn={analyzer.connection}"
        chosen = _scan(at, analyzer.sigrok) if analyzer.connection else analyzers
    except CaptureError as error:
        return replace(facts, scan_fault=str(error))
    return replace(facts, analyzers=analyzers, chosen=chosen)


def _with_saleae(facts: Facts, analyzer: AnalyzerResource) -> Facts:
    """Those that Logic 2 sees; each has more inputs than the bench needs."""
    inputs = tuple(f"{prefix}{number}" for number in range(16) for prefix in ("", "D"))
    analyzers = tuple(
        Analyzer(analyzer.driver, device.device_id, device.title, inputs)
        for device in saleae.devices(analyzer)
    )
    wanted = str(analyzer.settings.get("device", ""))
    chosen = tuple(analyzer for analyzer in analyzers if wanted in ("", analyzer.connection))
    return replace(facts, analyzers=analyzers, chosen=chosen)


def _scan(driver: str, tool: str) -> tuple[Analyzer, ...]:
    try:
        command = [*children.with_devices(), find_tool(tool), "--driver", driver, "--scan"]
        done = children.run(command, within_s=SCAN_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"sigrok-cli --driver {driver} --scan was not done in {SCAN_WITHIN_S:g} s and was ended: "
            "unplug the analyzer and plug it in again."
        ) from None
    if done.returncode:
        raise CaptureError(
            f"sigrok-cli --driver {driver} --scan fails ({children.last_words(done.stderr)}): "
            "check driver and connection in bench.toml."
        )
    return listed(done.stdout)


def listed(scan: str) -> tuple[Analyzer, ...]:
    """The analyzers that `sigrok-cli --scan` printed."""
    devices = (_DEVICE.fullmatch(line.strip()) for line in scan.splitlines())
    return tuple(
        Analyzer(line["driver"], line["connection"], line["title"], tuple(line["inputs"].split()))
        for line in devices
        if line
    )


def _with_host(facts: Facts) -> Facts:
    """What the child sees of the machine that it runs on."""
    command = [*children.with_devices(), sys.executable, "-m", "capture.checks.host"]
    try:
        done = children.run(command, within_s=HOST_WITHIN_S, folder=ROOT)
        document = json.loads(done.stdout)
        return replace(
            facts,
            probes=tuple(Probe(**row) for row in document["probes"]),
            ports=tuple(Port(**row) for row in document["ports"]),
            usb=tuple(UsbDevice(**row) for row in document["usb"]),
        )
    except subprocess.TimeoutExpired:
        why = f"did not list its probes within {HOST_WITHIN_S:g} s"
    except (ValueError, KeyError, TypeError):
        why = f"cannot list its probes ({children.last_words(done.stderr)})"
    return replace(facts, host_fault=f"pyOCD {why}: unplug the board and plug it in again.")


def _behind(port: str) -> str:
    """The device that a link such as those in /dev/serial/by-id leads to; all else as it is."""
    return os.path.realpath(port) if port.startswith("/") else port


def firmware_folders(environment: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Where libsigrok looks for firmware, in its order (src/resource.c, sr_resourcepaths_get).

    SIGROK_FIRMWARE_PATH is younger than 0.5.2, which Debian 12 has.
    """
    own = environment.get("XDG_DATA_HOME") or str(home / ".local" / "share")
    shared = environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    folders = [environment.get("SIGROK_FIRMWARE_DIR", "")]
    folders += environment.get("SIGROK_FIRMWARE_PATH", "").split(":")
    folders += [f"{data}/sigrok-firmware" for data in (own, "/usr/share", *shared.split(":")) if data]
    return tuple(dict.fromkeys(Path(folder) for folder in folders if folder))
