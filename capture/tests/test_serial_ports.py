"""Which port is meant, where ports are made up."""

from __future__ import annotations

import pytest
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from capture.desk.serial_ports import resolve
from tests.tables import table


def port(device: str, usb_id: str = "", serial_number: str = "") -> ListPortInfo:
    made = ListPortInfo(device, skip_link_detection=True)
    if usb_id:
        made.vid, made.pid = (int(part, 16) for part in usb_id.split(":"))
    made.serial_number = serial_number or None
    return made


OTHERS = (port("/dev/ttyS0"), port("/dev/ttyUSB0", "1a86:7523"), port("/dev/ttyACM9", "0483:5740"))


@table
def test_an_st_link_is_found_under_any_of_its_ids(
    monkeypatch: pytest.MonkeyPatch, usb_ids: tuple[str, ...], serial_number: str, device: str
) -> None:
    ports = [port(f"/dev/of-{usb_id}", usb_id, usb_id) for usb_id in usb_ids]
    monkeypatch.setattr(list_ports, "comports", lambda: [*OTHERS, *ports])
    assert resolve("usb:0483:374B", serial_number) == f"/dev/of-{device}"
