# SPDX-License-Identifier: Apache-2.0
"""A flood of AS-REQ that prove nothing: no padata. tkdc-storm's always carry a timestamp.

Anybody who reaches a KDC can send them. For a user whose principal does not ask for
preauthentication the KDC makes a ticket and seals a reply each time, and nobody need open either.
"""

import socket
import struct
import threading
import time

AS_REQ, AS_REP_TAG = 10, 0x6B
INTEGER, BIT_STRING, SEQUENCE, GENERAL_STRING, TIME = 0x02, 0x03, 0x30, 0x1B, 0x18
NAME_USER, NAME_SERVICE = 1, 2
AES256 = 18
LIFE_S = 36_000
NONCE = b"\x5a\xa5\x5a\xa5"  # replaced in each request, so that none is a repetition
PAUSE_S = 0.002
LARGEST_REPLY = 65_536
WAIT_S = 0.2  # for the last answers


def der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


def field(number: int, *parts: bytes) -> bytes:
    return der(0xA0 | number, *parts)


def principal(kind: int, *components: str) -> bytes:
    names = [der(GENERAL_STRING, part.encode()) for part in components]
    return der(SEQUENCE, field(0, der(INTEGER, bytes([kind]))),
               field(1, der(SEQUENCE, *names)))


def as_request(realm: str, user: str) -> bytes:
    """RFC 4120, 5.4.1, for a TGT; the nonce is NONCE."""
    till = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + LIFE_S))
    body = der(SEQUENCE, field(0, der(BIT_STRING, bytes(5))),
               field(1, principal(NAME_USER, user)),
               field(2, der(GENERAL_STRING, realm.encode())),
               field(3, principal(NAME_SERVICE, "krbtgt", realm)),
               field(5, der(TIME, till.encode())),
               field(7, der(INTEGER, NONCE)),
               field(8, der(SEQUENCE, der(INTEGER, bytes([AES256])))))
    return der(0x60 | AS_REQ, der(SEQUENCE, field(1, der(INTEGER, b"\x05")),
                                  field(2, der(INTEGER, bytes([AS_REQ]))), field(4, body)))


class Unproved(threading.Thread):
    """Sends `rate` of them per second by UDP, whatever is answered, until told to end."""

    def __init__(self, port: int, realm: str, users: list[str], rate: float):
        super().__init__(daemon=True)
        self.requests = [as_request(realm, user).split(NONCE) for user in users]
        self.rate, self.sent, self.tickets, self.others = rate, 0, 0, 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.over = threading.Event()

    def run(self) -> None:
        began = time.monotonic()
        while not self.over.wait(PAUSE_S):
            self._send(int((time.monotonic() - began) * self.rate))
            self._receive()
        self.seconds = time.monotonic() - began
        time.sleep(WAIT_S)
        self._receive()
        self.socket.close()

    def end(self) -> None:
        self.over.set()
        self.join()

    def _send(self, due: int) -> None:
        while self.sent < due:
            before, after = self.requests[self.sent % len(self.requests)]
            self.sent += 1
            try:
                self.socket.send(before + struct.pack(">I", self.sent) + after)
            except (BlockingIOError, ConnectionRefusedError):
                continue  # lost, as a network loses it

    def _receive(self) -> None:
        while True:
            try:
                reply = self.socket.recv(LARGEST_REPLY)
            except BlockingIOError:
                return
            except ConnectionRefusedError:
                continue
            if reply[:1] == bytes([AS_REP_TAG]):
                self.tickets += 1
            else:
                self.others += 1
