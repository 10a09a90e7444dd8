"""Which port is meant, where ports are made up."""

from __future__ import annotations

import pytest
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from capture.desk.serial_ports import resolve


def port(device: str, usb_id: str = "", serial_number: str = "") -> ListPortInfo:
    made = ListPortInfo(device, skip_link_detection=True)
    if usb_id:
        made.vid, made.pid = (int(part, 16) for part in usb_id.split(":"))
    made.serial_number = serial_number or None
    return made


OWN = port("/dev/ttyACM0", "0483:374b", "A")
NEWER = port("/dev/ttyACM1", "0483:374e", "B")
NO_STORAGE = port("/dev/ttyACM2", "0483:3752", "C")
OTHERS = (port("/dev/ttyS0"), port("/dev/ttyUSB0", "1a86:7523"), port("/dev/ttyACM9", "0483:5740"))


@pytest.mark.parametrize(
    ("ports", "serial_number", "device"),
    [
        ((OWN,), "", "/dev/ttyACM0"),
        ((NEWER,), "", "/dev/ttyACM1"),
        ((NO_STORAGE,), "", "/dev/ttyACM2"),
        ((NEWER, OWN), "", "/dev/ttyACM0"),
        ((NEWER, NO_STORAGE), "C", "/dev/ttyACM2"),
    ],
)
def test_an_st_link_is_found_under_any_of_its_ids(
    monkeypatch: pytest.MonkeyPatch, ports: tuple[ListPortInfo, ...], serial_number: str, device: str
) -> None:
    monkeypatch.setattr(list_ports, "comports", lambda: [*OTHERS, *ports])
    assert resolve("usb:0483:374B", serial_number) == device
