"""A server that plays Logic 2's automation interface (saleae.proto 1.0), with edges behind it.

It answers what the client asks, checks what the real program would check, and exports binary files
of version 0 as Saleae's description has them. It knows edges and nothing of who reads them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from saleae.grpc import saleae_pb2, saleae_pb2_grpc

from base.run_folder.edges import EdgeList

RATES_HZ = (24_000_000, 50_000_000, 84_000_000, 100_000_000)


@dataclass
class Logic2(saleae_pb2_grpc.ManagerServicer):  # type: ignore[misc]
    """`edges` are what its inputs see: channel i of them is input i."""

    edges: EdgeList
    devices: tuple[str, ...] = ("F4241",)
    asked: list[Any] = field(default_factory=list)
    closed: int = 0

    def GetAppInfo(self, _request: Any, _context: Any) -> Any:  # noqa: N802
        version = saleae_pb2.Version(major=1, minor=0, patch=0)
        info = saleae_pb2.AppInfo(api_version=version, application_version="2.4.14", launch_pid=1)
        return saleae_pb2.GetAppInfoReply(app_info=info)

    def GetDevices(self, _request: Any, _context: Any) -> Any:  # noqa: N802
        kind = saleae_pb2.DEVICE_TYPE_LOGIC_PRO_8
        devices = [saleae_pb2.Device(device_id=device, device_type=kind) for device in self.devices]
        return saleae_pb2.GetDevicesReply(devices=devices)

    def StartCapture(self, request: Any, context: Any) -> Any:  # noqa: N802
        rate_hz = request.logic_device_configuration.digital_sample_rate
        if rate_hz not in RATES_HZ:
            # As the client's errors.py reads it: `CODE: words`, where 10 is an invalid request.
            context.abort(grpc.StatusCode.ABORTED, f"10: {rate_hz} is not a valid digital sample rate")
        self.asked.append(request)
        info = saleae_pb2.CaptureInfo(capture_id=len(self.asked))
        return saleae_pb2.StartCaptureReply(capture_info=info)

    def WaitCapture(self, _request: Any, _context: Any) -> Any:  # noqa: N802
        return saleae_pb2.WaitCaptureReply()

    def CloseCapture(self, _request: Any, _context: Any) -> Any:  # noqa: N802
        self.closed += 1
        return saleae_pb2.CloseCaptureReply()

    def ExportRawDataBinary(self, request: Any, _context: Any) -> Any:  # noqa: N802
        rate_hz = self.asked[request.capture_id - 1].logic_device_configuration.digital_sample_rate
        end_s = min(self.edges.total_samples / rate_hz, self._duration_s(request.capture_id))
        for number in request.logic_channels.digital_channels:
            name = self.edges.channels[number]
            times = [sample / rate_hz for sample in self.edges.transitions(name).sample.tolist()]
            within = [sample for sample in times if sample <= end_s]
            data = b"<SALEAE>" + struct.pack("<ii", 0, 0)
            data += struct.pack("<IddQ", self.edges.initial_level(name), 0.0, end_s, len(within))
            data += struct.pack(f"<{len(within)}d", *within)
            Path(request.directory, f"digital_{number}.bin").write_bytes(data)
        return saleae_pb2.ExportRawDataBinaryReply()

    def _duration_s(self, capture_id: int) -> float:
        mode = self.asked[capture_id - 1].capture_configuration.timed_capture_mode
        return float(mode.duration_seconds)


@contextmanager
def serving(logic2: Logic2) -> Iterator[str]:
    """Gives the HOST:PORT that it answers at."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    saleae_pb2_grpc.add_ManagerServicer_to_server(logic2, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
