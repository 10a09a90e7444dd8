"""What of the desk the bench would use, as the tools and the kernel tell; what keeps it from
running, and what to do about it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from base.files.errors import CaptureError
from base.paths import ROOT
from base.processes import children
from capture.acquisition import saleae
from capture.acquisition.sigrok_cli import find_tool
from capture.checks import host
from capture.checks.findings import Figure, Finding, State
from capture.checks.host import Analyzer, Facts, Port, Probe, UsbDevice
from capture.desk.bench import AnalyzerResource, BoardResource
from capture.desk.presets import Preset, of_driver, presets
from capture.desk.serial_ports import ST_LINKS, alike

# pyOCD, probe/stlink/stlink.py: MIN_JTAG_VERSION, and MIN_JTAG_VERSION_16BIT_XFER.
LEAST_FIRMWARE, WANTED_FIRMWARE = 24, 26
_ST_LINK_FIRMWARE = re.compile(r"V2J(\d+)")

_INSTALL = (
    "Install the bench's udev rules, then replug it: "
    f"sudo install -m 644 {host.RULES} {host.INSTALLED_RULES} && sudo udevadm control --reload"
)
PROCESSES = Path("/proc")


def plugged_in(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """Analyzer, loader, probe and port of this board of bench.toml, and what else is plugged in."""
    for subject, fault in (("analyzer", facts.scan_fault), ("probe", facts.host_fault)):
        if fault:
            yield Finding(subject, "wrong", fault)
    loaded = board.loader.kind != "none"
    for rule in (_loader, _usb, _analyzers, _probes, _ports) if loaded else (_usb, _analyzers):
        yield from rule(board, facts)


def _loader(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """The tool that loads the board, where it is not pyOCD."""
    if facts.loader_fault:
        yield Finding("loader", "wrong", facts.loader_fault)
    elif facts.loader and board.loader.way:
        title = board.loader.way.title
        words = facts.loader if title.lower() in facts.loader.lower() else f"{title} {facts.loader}"
        yield Finding("loader", "right", words)


def _analyzers(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    analyzer = board.analyzer
    used = facts.chosen[0] if len(facts.chosen) == 1 else None
    for device in facts.analyzers:
        at = f" at {device.connection}" if device.connection else ""
        words = f"{device.driver}{at}: {device.title}, {len(device.inputs)} inputs"
        yield Finding("analyzer", "right" if device == used else "there", words)
    if used and used not in facts.analyzers:
        yield Finding("analyzer", "right", f"{used.driver} at {analyzer.connection}: {used.title}")
    if facts.scan_fault:
        return
    if len(facts.chosen) > 1:
        listed = ", ".join(analyzer.connection or "?" for analyzer in facts.chosen)
        words = (
            f"{len(facts.chosen)} analyzers answer ({listed}): write the connection of one into bench.toml."
        )
        yield Finding("analyzer", "wrong", words)
    elif used is None:
        words = (
            f"sigrok-cli finds none for the driver {analyzer.driver}: plug it in, or name another preset in "
            "bench.toml."
        )
        if facts.analyzers:
            at = ", ".join(device.connection or "?" for device in facts.analyzers)
            words = (
                f"None is at the connection {analyzer.connection!r} of bench.toml: write {at}, or drop the "
                "connection."
            )
        yield Finding("analyzer", "wrong", words)
    else:
        missing = [name for name in analyzer.channels.values() if name not in used.inputs]
        if missing:
            words = f"It has no input {missing[0]}: name its own inputs under channels in bench.toml."
            yield Finding("analyzer", "wrong", words)


def _probes(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    chosen = _chosen_probes(board, facts)
    for probe in facts.probes:
        state: State = "right" if chosen == [probe] else "there"
        yield Finding("probe", state, f"{probe.unique_id}: {probe.title}")
    if len(chosen) > 1:
        words = f"{len(chosen)} probes answer: write the id of one as probe into bench.toml."
        yield Finding("probe", "wrong", words)
    elif chosen:
        return
    elif board.loader.way and board.loader.way.program:
        title = board.loader.way.title
        words = f"pyOCD, which lists them, does not see it; that {title} finds it was not tried."
        yield Finding("probe", "odd", words)
    elif facts.probes:
        words = f"None has the id {board.loader.probe!r} of bench.toml: write one of those that are there."
        yield Finding("probe", "wrong", words)
    elif not facts.host_fault:
        words = "pyOCD finds none: connect the board by the USB connector of its ST-Link (CN1)."
        yield Finding("probe", "wrong", words)


def _chosen_probes(board: BoardResource, facts: Facts) -> list[Probe]:
    """Those that bench.toml means: pyOCD takes a part of an id, whatever its case."""
    wanted = board.loader.serial_number.lower()
    return [probe for probe in facts.probes if wanted in probe.unique_id.lower()]


def probe_firmware(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """Whether the firmware of the one probe is new enough, or why the probe cannot be opened."""
    chosen = _chosen_probes(board, facts)
    if len(chosen) != 1:
        words = f"Of {len(chosen) or 'no'} probes that pyOCD finds for the board, no firmware is looked at."
        yield Finding("probe", "skipped", words)
    for probe in chosen if len(chosen) == 1 else ():
        version = _ST_LINK_FIRMWARE.match(probe.firmware or "")
        number = int(version[1]) if version else WANTED_FIRMWARE
        update = "update it with ST's STSW-LINK007"
        older = f"Firmware {probe.firmware} is older than V2J"
        if number < LEAST_FIRMWARE:
            yield Finding("probe", "wrong", f"{older}{LEAST_FIRMWARE}, which pyOCD needs: {update}.")
        elif probe.fault:
            words = f"pyOCD cannot open it ({probe.fault}): end what else uses it, or replug the board."
            yield Finding("probe", "wrong", words)
        elif number < WANTED_FIRMWARE:
            yield Finding("probe", "odd", f"{older}{WANTED_FIRMWARE}: {update}.")
        elif probe.firmware:
            figures = (Figure("firmware", probe.firmware),)
            yield Finding("probe", "right", f"The probe has firmware {probe.firmware}.", (), figures)
        else:
            yield Finding("probe", "skipped", "This probe does not tell the version of its firmware.")


def _ports(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    wanted = board.serial_port
    if "://" in wanted:
        yield Finding("port", "odd", f"{wanted} is no port of this machine and was not looked at.")
        return
    if facts.host_fault:
        return
    meant = _meant_ports(board, facts)
    for port in facts.ports:
        on_usb = f" ({port.usb_id})" if port.usb_id else ""
        yield Finding("port", "right" if meant == [port] else "there", f"{port.device}: {port.title}{on_usb}")
    if len(meant) > 1:
        words = f"{len(meant)} ports are {wanted}: write the probe's whole id, or a port, into bench.toml."
        yield Finding("port", "wrong", words)
    elif not meant:
        links = [port.device for port in facts.ports if port.usb_id in ST_LINKS]
        words = f"There is no {wanted}, and no port of an ST-Link: connect the board by USB."
        if links:
            words = f"There is no {wanted}: write {' or '.join(links)}, an ST-Link's, into bench.toml."
        yield Finding("port", "wrong", words)
    elif meant[0].usb_id not in ST_LINKS:
        words = f"{meant[0].device} is no port of an ST-Link: see that it is the board's."
        yield Finding("port", "odd", words)
    else:
        (port,), probes = meant, _chosen_probes(board, facts)
        if len(probes) == 1 and port.serial_number not in (None, probes[0].unique_id):
            words = (
                f"{port.device} is on the ST-Link {port.serial_number}, and the probe is "
                f"{probes[0].unique_id}: name port and probe of one board in bench.toml."
            )
            yield Finding("port", "wrong", words)


def _meant_ports(board: BoardResource, facts: Facts) -> list[Port]:
    """Those that bench.toml means, by name or by USB id; of several the one of its probe."""
    wanted = board.serial_port.lower()
    if not wanted.startswith("usb:"):
        return [port for port in facts.ports if port.device == facts.serial_port]
    ports = [port for port in facts.ports if port.usb_id == wanted.removeprefix("usb:")]
    ports = ports or [port for port in facts.ports if port.usb_id in alike(wanted)]
    return [port for port in ports if port.serial_number == board.loader.serial_number] or ports


def may_use(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """What keeps this user from a device that is there: its node, the groups, ModemManager."""
    usb_ids = {usb_id for preset in presets().values() for usb_id in preset.devices}
    for device in facts.usb:
        if device.usb_id in usb_ids | ST_LINKS and not device.accessible:
            yield Finding("usb", "wrong", _rule(device, facts))
    ports = _meant_ports(board, facts) if board.serial_port else []
    for port in ports if len(ports) == 1 else []:
        if port.group is not None:
            how = f"sudo usermod -aG {port.group} $USER, and log in again"
            if port.group in facts.groups:
                how = f"you are in {port.group}, but were not when you logged in: log in again"
            yield Finding("port", "wrong", f"{port.device} may not be used by you: {how}.")
        if facts.modem_manager and not port.no_modem:
            words = (
                f"ModemManager runs and takes {port.device} for a modem: for half a minute after you plug it "
                f"in, records may go to it. {_INSTALL}"
            )
            yield Finding("port", "odd", words)


def _usb(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """What of the kernel's devices the tools perhaps do not see."""
    matching = board.analyzer.known or of_driver(board.analyzer.driver)
    for device in facts.usb:
        preset = next((entry for entry in presets().items() if device.usb_id in entry[1].devices), None)
        if preset is None:
            continue
        name, row = preset
        if row.refused:
            yield Finding("usb", "odd", f"{row.title} ({device.usb_id}): {row.refused}.")
        elif row is not matching:
            words = f'{row.title} ({device.usb_id}) is plugged in: for it, write preset = "{name}".'
            yield Finding("usb", "odd", words)
        elif missing := _missing_firmware(device, row, facts):
            yield Finding("usb", "wrong", missing)


def _rule(device: UsbDevice, facts: Facts) -> str:
    """How to be let in: by our rules; where these are there, by a new login."""
    closed = f"{device.usb_id} is plugged in, but {device.node} may not be used by you."
    there = f"{closed} {host.INSTALLED_RULES} is there"
    if facts.rules != host.read(host.RULES):
        return f"{closed} {_INSTALL}"
    if host.GROUP in facts.groups:
        return f"{there}, and you are in {host.GROUP}: replug it, and log in again."
    return (
        f"{there}: replug it; if that does not help, as where you log in by ssh, "
        f"sudo usermod -aG {host.GROUP} $USER, and log in again."
    )


def _missing_firmware(device: UsbDevice, preset: Preset, facts: Facts) -> str:
    """Why libsigrok cannot load the device; empty if it can, or need not."""
    file = preset.devices[device.usb_id]
    if not file or file in facts.firmware or [device.manufacturer, device.product] == preset.loaded:
        return ""
    folders = ", ".join(facts.firmware_folders)
    get = (
        "sudo apt-get install sigrok-firmware-fx2lafw"
        if file.startswith("fx2lafw-")
        else f"get it as sigrok's wiki says of {preset.driver}"
    )
    return f"{device.usb_id} needs {file}, and libsigrok finds none in {folders}: {get}."


WITHIN_S = 90.0
"""A bare FX2 takes its firmware within three seconds, pyOCD as long to start; on a busy host many
times as long. A bus or a probe that hangs is not waited for longer.
"""

# sigrok-cli 0.7.2, show.c, print_dev_line().
_DEVICE = re.compile(
    r"(?P<driver>[\w-]+)(?::conn=(?P<connection>\S+))? - (?P<title>.*?) ?"
    r"with \d+ channels?:(?P<inputs>.*)"
)


def ask(board: BoardResource) -> Facts:
    """Everything that sigrok-cli, pyOCD, pySerial and the kernel say of this board's desk. Each has
    a bounded time. Raises signals.Stopped.
    """
    folders = firmware_folders(os.environ, Path.home())
    port, loader = board.serial_port, board.loader
    facts = Facts(
        # The device that a link such as those in /dev/serial/by-id leads to.
        serial_port=os.path.realpath(port) if port.startswith("/") else port,
        firmware=frozenset(file.name for folder in folders for file in folder.glob("*")),
        firmware_folders=tuple(map(str, folders)),
        groups=host.groups(),
        # It opens serial ports that are plugged in.
        modem_manager=any(host.read(file) == "ModemManager" for file in PROCESSES.glob("[0-9]*/comm")),
        rules=host.read(host.INSTALLED_RULES),
    )
    try:
        analyzers, chosen = analyzers_of(board.analyzer)
        facts = replace(facts, analyzers=analyzers, chosen=chosen)
    except CaptureError as error:
        facts = replace(facts, scan_fault=str(error))
    if loader.way is not None and loader.way.program:
        try:
            facts = replace(facts, loader=next(iter(loader.programmer().tools().values())))
        except CaptureError as error:
            facts = replace(facts, loader_fault=str(error))
    try:
        command = [*children.with_devices(), sys.executable, "-m", "capture.checks.host"]
        done = children.run(command, within_s=WITHIN_S, folder=ROOT)
        document = json.loads(done.stdout)
        return replace(
            facts,
            probes=tuple(Probe(**row) for row in document["probes"]),
            ports=tuple(Port(**row) for row in document["ports"]),
            usb=tuple(UsbDevice(**row) for row in document["usb"]),
        )
    except subprocess.TimeoutExpired:
        why = f"did not list its probes within {WITHIN_S:g} s"
    except (ValueError, KeyError, TypeError):
        why = f"cannot list its probes ({children.last_words(done.stderr)})"
    return replace(facts, host_fault=f"pyOCD {why}: unplug the board and plug it in again.")


def analyzers_of(analyzer: AnalyzerResource) -> tuple[tuple[Analyzer, ...], tuple[Analyzer, ...]]:
    """All of the driver, and those that bench.toml's connection means. Raises CaptureError."""
    if not analyzer.by_saleae:
        analyzers = _scan(analyzer.driver, analyzer.sigrok)
        at = f"{analyzer.driver}:conn={analyzer.connection}"
        return analyzers, _scan(at, analyzer.sigrok) if analyzer.connection else analyzers
    # Of those that Logic 2 sees each has more inputs than the bench needs.
    inputs = tuple(f"{prefix}{number}" for number in range(16) for prefix in ("", "D"))
    analyzers = tuple(
        Analyzer(analyzer.driver, device.device_id, device.title, inputs)
        for device in saleae.devices(analyzer)
    )
    wanted = str(analyzer.settings.get("device", ""))
    return analyzers, tuple(device for device in analyzers if wanted in ("", device.connection))


def _scan(driver: str, tool: str) -> tuple[Analyzer, ...]:
    try:
        command = [*children.with_devices(), find_tool(tool), "--driver", driver, "--scan"]
        done = children.run(command, within_s=WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"sigrok-cli --driver {driver} --scan was not done in {WITHIN_S:g} s and was ended: "
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
