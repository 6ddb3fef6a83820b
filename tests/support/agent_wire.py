# SPDX-License-Identifier: Apache-2.0
"""The agent's socket protocol (service/wire/wire.h), as far as tests need it to be rude."""

import contextlib
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC, VERSION = 0x544B4443, 1
HEADER_BYTES, BODY_MAX_BYTES, KEY_BYTES = 24, 128 * 1024, 72
HELLO, SEAL, OPEN, STAGE, STATUS = 1, 2, 3, 16, 32
ROLE_KDC, ROLE_ADMIN = 1, 2
OK, DENIED, UNKNOWN_KEY, BAD_REQUEST = 0, 3, 4, 5
TIMEOUT_S = 25.0


def header(op: int, number: int, body_bytes: int, *, deadline_ms: int = 0, magic: int = MAGIC,
           version: int = VERSION) -> bytes:
    return struct.pack(">IBBHQII", magic, version, op, 0, number, body_bytes, deadline_ms)


@dataclass(frozen=True)
class Reply:
    op: int
    status: int
    id: int
    body: bytes


class Connection:
    def __init__(self, path: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(str(path))
        self._number = 0

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_exc) -> None:
        self.socket.close()

    def send(self, octets: bytes) -> None:
        self.socket.sendall(octets)

    def receive(self) -> Reply | None:
        """None when the agent hung up."""
        head = self._exactly(HEADER_BYTES)
        if head is None:
            return None
        magic, _version, op, status, number, size, _ = struct.unpack(">IBBHQII", head)
        assert magic == MAGIC, "the agent's own frame is malformed"
        body = self._exactly(size)
        return None if body is None else Reply(op, status, number, body)

    def ask(self, op: int, body: bytes, deadline_ms: int = 10_000) -> Reply | None:
        self._number += 1
        try:
            self.send(header(op, self._number, len(body), deadline_ms=deadline_ms) + body)
        except OSError:
            return None
        return self.receive()

    def hello(self, role: int = ROLE_KDC) -> tuple[bytes, bytes]:
        """What the agent says of its security, and the installation's id."""
        reply = self.ask(HELLO, bytes([role]))
        assert reply is not None and reply.status == OK, reply
        size = struct.unpack_from(">I", reply.body)[0]
        return reply.body[4 : 4 + size], reply.body[4 + size : 20 + size]

    def closed_by_peer(self) -> bool:
        with contextlib.suppress(ConnectionResetError):
            while self.socket.recv(65536):
                pass
        return True

    def _exactly(self, size: int) -> bytes | None:
        octets = b""
        while len(octets) < size:
            try:
                piece = self.socket.recv(size - len(octets))
            except ConnectionResetError:
                return None
            if not piece:
                return None
            octets += piece
        return octets
