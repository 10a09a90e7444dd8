"""What labgrid says of an acquired place: labgrid-client prints it as YAML.

Tried with labgrid 26.0 and emulated devices only: no real ones, no other machine. labgrid is not
imported: it brings a pySerial of its own, which would take the place of ours, and so it lives in a
Python environment of its own.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from base.files.complaints import quoted
from base.files.errors import CaptureError
from base.processes import children

CLIENT = "labgrid-client"
WITHIN_S = 60.0
SYSFS = Path("/sys/bus/usb/devices")

_SERIAL = ("NetworkSerialPort", "RawSerialPort")
_ANALYZERS = ("NetworkSigrokUSBDevice", "NetworkSigrokUSBSerialDevice", "SigrokDevice")
_PROBES = ("NetworkUSBDebugger",)


@dataclass(frozen=True)
class Analyzer:
    """A sigrok driver, where its device is, and our names of the channels with the device's."""

    driver: str
    connection: str
    channels: Mapping[str, str]


@dataclass(frozen=True)
class Probe:
    """A debug probe on this machine."""

    vendor_id: int
    product_id: int
    serial_number: str


@dataclass(frozen=True)
class Place:
    """What an acquired place has for the bench. None, or empty: nothing of the kind."""

    serial_port: str
    baud: int | None
    analyzer: Analyzer | None
    probe: Probe | None


@cache
def ask(name: str) -> Place:
    """The resources of an acquired place, asked for once. Raises CaptureError."""
    resources = _resources(name, _yaml(name, _said(name)))
    serial = _one(name, "serial ports", resources, _SERIAL)
    analyzer = _one(name, "analyzers", resources, _ANALYZERS)
    probe = _one(name, "debug probes", resources, _PROBES)
    if not (serial or analyzer or probe):
        raise CaptureError(
            f"The place {quoted(name)} has no serial port, analyzer or debug probe; add a match by {CLIENT}."
        )
    return Place(
        _port(name, *serial) if serial else "",
        _number(serial[1].get("speed")) if serial else None,
        _analyzer(name, *analyzer) if analyzer else None,
        _probe(name, probe[1]) if probe else None,
    )


def _said(name: str) -> str:
    client = shutil.which(CLIENT)
    if client is None:
        raise CaptureError(
            f"{CLIENT} is not there: install labgrid in an environment of its own, on Debian pipx install "
            "labgrid, and have it on PATH (docs/how-to/labgrid.md)."
        )
    try:
        done = children.run([client, "-p", name, "env"], within_s=WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"{CLIENT} did not answer within {WITHIN_S:g} s; see that the coordinator runs (LG_COORDINATOR)."
        ) from None
    if done.returncode:
        why = children.last_words(done.stderr).removeprefix(f"{CLIENT}: ").removeprefix("Server error: ")
        why = why.removeprefix("Error: ").rstrip(".")
        acquire = (
            f"acquire it by {CLIENT} -p {name} acquire" if "not acquired" in why else "see LG_COORDINATOR"
        )
        raise CaptureError(f"labgrid does not hand out the place {quoted(name)} ({why}): {acquire}.")
    return done.stdout


def _yaml(name: str, text: str) -> Any:
    import yaml  # of tailscope[labgrid]

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise _strange(name) from None


def _resources(name: str, description: Any) -> list[tuple[str, dict[str, Any]]]:
    """Class and arguments of each, in the order in which labgrid lists them."""
    try:
        (target,) = description["targets"].values()
        return [(kind, dict(values)) for resource in target["resources"] for kind, values in resource.items()]
    except (TypeError, ValueError, KeyError, AttributeError):
        raise _strange(name) from None


def _strange(name: str) -> CaptureError:
    return CaptureError(
        f"What {CLIENT} says of the place {quoted(name)} is not what version 26.0 says; update labgrid."
    )


Resource = tuple[str, dict[str, Any]]


def _one(name: str, what: str, matching: list[Resource], kinds: tuple[str, ...]) -> Resource | None:
    chosen = [resource for resource in matching if resource[0] in kinds]
    if len(chosen) > 1:
        listed = ", ".join(str(values.get("name", kind)) for kind, values in chosen)
        raise CaptureError(
            f"The place {quoted(name)} has {len(chosen)} {what} ({listed}), and the bench needs one: "
            "delete the match of the others."
        )
    return chosen[0] if chosen else None


def _port(name: str, kind: str, values: dict[str, Any]) -> str:
    if kind == "RawSerialPort":
        return str(values.get("port", ""))
    if not values.get("host") or not values.get("port"):
        raise _unplugged(name, "serial port")
    scheme = "socket" if values.get("protocol") == "raw" else "rfc2217"
    return f"{scheme}://{values['host']}:{values['port']}"


def _analyzer(name: str, kind: str, values: dict[str, Any]) -> Analyzer:
    driver, _, connection = str(values.get("driver") or "").partition(":conn=")
    if kind != "SigrokDevice":
        _check_near(name, "analyzer", values)
        connection = _connection(name, kind, values)
    channels = [word.partition("=") for word in str(values.get("channels") or "").split(",") if word]
    return Analyzer(driver, connection, {ours or theirs: theirs for theirs, _, ours in channels})


def _connection(name: str, kind: str, values: dict[str, Any]) -> str:
    if kind == "NetworkSigrokUSBSerialDevice":
        if not values.get("path"):
            raise _unplugged(name, "analyzer")
        return str(values["path"])
    if values.get("busnum") is None or values.get("devnum") is None:
        raise _unplugged(name, "analyzer")
    return f"{values['busnum']}.{values['devnum']}"


def _probe(name: str, values: dict[str, Any]) -> Probe:
    _check_near(name, "debug probe", values)
    ids = _number(values.get("vendor_id")), _number(values.get("model_id"))
    if not values.get("path") or None in ids:
        raise _unplugged(name, "debug probe")
    file = SYSFS / str(values["path"]) / "serial"
    try:
        return Probe(ids[0] or 0, ids[1] or 0, file.read_text(errors="replace").strip())
    except OSError:
        raise CaptureError(
            f"The debug probe of the place {quoted(name)} has no {file}; plug it in again."
        ) from None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _unplugged(name: str, what: str) -> CaptureError:
    return CaptureError(f"labgrid does not see the {what} of the place {quoted(name)}: plug it in.")


def _check_near(name: str, what: str, values: dict[str, Any]) -> None:
    """Raises CaptureError for a device of another machine: the tools reach only ours."""
    host = str(values.get("host") or "localhost")
    if host not in {"localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()}:
        raise CaptureError(
            f"The {what} of the place {quoted(name)} is plugged into {host}, and the bench reaches USB "
            "devices of its own machine only: run it there."
        )
