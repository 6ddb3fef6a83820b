# SPDX-License-Identifier: Apache-2.0
"""Captures a realm's traffic on the loopback interface, and puts its streams together.

tcpdump needs CAP_NET_RAW: run as root, or with sudo that asks for no password. A packet's
octets stand in the capture file; what a TCP stream carries across packets stands in the
reassembled streams, and keyscan searches both.
"""

import os
import re
import shutil
import struct
import subprocess
import time
from collections import defaultdict
from pathlib import Path

from tests.support.kerberos import find_program
from tests.support.process import RealmError, wait_until

ETHERNET_BYTES = 14
# In blocks shared by many packets: not --immediate-mode, which gives each packet a slot of the
# longest packet's size and drops the rest. A block that is not full comes after a second.
KERNEL_BUFFER_KIB = 131_072
MUCH_BUFFER_KIB = 1_048_576  # where servers send each other tens of megabytes for an operation
SETTLE_S = 1.5


class Capture:
    """Everything that passes `ports` on 127.0.0.1, in both directions."""

    def __init__(self, ports: list[int], path: Path, log: Path, *, much: bool = False):
        self.path, self.log, self.much = path, log, much
        self._filter = " or ".join(f"port {port}" for port in ports)
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> "Capture":
        buffer = MUCH_BUFFER_KIB if self.much else KERNEL_BUFFER_KIB
        argv = [find_program("tcpdump"), "-i", "lo", "-B", str(buffer), "-s", "0",
                *([] if self.much else ["-U"]), "-w", "-", self._filter]
        if os.geteuid() != 0:
            argv = [shutil.which("sudo") or "sudo", "-n", *argv]
        with open(self.path, "wb") as out, open(self.log, "wb") as log:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                                             stderr=log, start_new_session=True)
        wait_until(self._listening, 10, f"tcpdump on the loopback interface (log: {self.log})")
        return self

    def __exit__(self, *_exc) -> None:
        self.stop()

    def _listening(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RealmError("tcpdump cannot capture: run as root, or let sudo run it without a "
                             f"password; it says: {self.log.read_text().strip()}")
        return "listening on" in self.log.read_text(errors="replace")

    def stop(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        time.sleep(SETTLE_S)
        self._process.terminate()  # sudo passes the signal on
        self._process.wait(15)

    def dropped(self) -> int:
        found = re.search(r"(\d+) packets dropped by kernel", self.log.read_text(errors="replace"))
        return int(found.group(1)) if found else 0


def packets(path: Path):
    """The frames of a pcap file in host byte order; a cut-off last one is left out."""
    with open(path, "rb") as file:
        magic, *_rest, link_type = struct.unpack("=IHHiIII", file.read(24))
        if magic not in (0xA1B2C3D4, 0xA1B23C4D) or link_type != 1:
            raise RealmError(f"{path} is not an Ethernet capture of this machine")
        while len(header := file.read(16)) == 16:
            captured = struct.unpack("=IIII", header)[2]
            frame = file.read(captured)
            if len(frame) == captured:
                yield frame


def streams(path: Path) -> dict[tuple[int, int], bytes]:
    """What each (source port, destination port) sent over TCP, in order.

    Segments are ordered by sequence number; repeated octets are taken once. A new connection
    on the same pair of ports follows the old one's octets.
    """
    starts: dict[tuple[int, int], int] = {}
    segments: dict[tuple[int, int], list[tuple[int, bytes]]] = defaultdict(list)
    for frame in packets(path):
        ip = frame[ETHERNET_BYTES:]
        if len(ip) < 40 or ip[0] >> 4 != 4 or ip[9] != 6:
            continue
        tcp = ip[(ip[0] & 15) * 4 : struct.unpack(">H", ip[2:4])[0] or len(ip)]
        flow = struct.unpack(">HH", tcp[:4])
        sequence = struct.unpack(">I", tcp[4:8])[0]
        payload = tcp[(tcp[12] >> 4) * 4 :]
        if tcp[13] & 2:  # SYN
            starts[flow] = sequence + 1
            continue
        if payload:
            start = starts.setdefault(flow, sequence)
            segments[flow].append(((sequence - start) % 2**32, payload))
    return {flow: _join(parts) for flow, parts in segments.items()}


def _join(parts: list[tuple[int, bytes]]) -> bytes:
    out, end = [], 0
    for at, payload in sorted(parts, key=lambda part: part[0]):
        fresh = payload[max(0, end - at) :]
        if fresh:
            out.append(fresh)
            end = at + len(payload)
    return b"".join(out)
