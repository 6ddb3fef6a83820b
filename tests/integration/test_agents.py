# SPDX-License-Identifier: Apache-2.0
"""The agents' sockets: garbage, too much, and what a role may not ask."""

import os
import socket
import struct
import threading

import pytest

from tests.support import agent_wire as wire
from tests.support.agent_wire import Connection

pytestmark = pytest.mark.behind

GARBAGE = {
    "zeros": bytes(wire.HEADER_BYTES),
    "noise": os.urandom(4096),
    "wrong magic": wire.header(wire.HELLO, 1, 1, magic=0x4B524235) + b"\x01",
    "wrong version": wire.header(wire.HELLO, 1, 1, version=9) + b"\x01",
    "body of 4 GiB": wire.header(wire.SEAL, 1, 0xFFFFFFFF),
    "body one octet too long": wire.header(wire.SEAL, 1, wire.BODY_MAX_BYTES + 1),
}


@pytest.fixture(params=["kdc", "admin"])
def agent(request, realm):
    return realm.agent_socket(request.param)


@pytest.mark.parametrize("octets", GARBAGE.values(), ids=GARBAGE.keys())
def test_malformed_frame_ends_the_connection(agent, octets, healthy):
    with Connection(agent) as connection:
        connection.send(octets)
        assert connection.closed_by_peer(), "framing is lost: the agent must hang up"
    healthy()


def test_half_a_frame_then_silence(agent, healthy):
    with Connection(agent) as connection:
        connection.send(wire.header(wire.SEAL, 1, 200)[:10])
        healthy()


def test_unknown_operation_is_refused(agent, healthy):
    with Connection(agent) as connection:
        connection.hello()
        reply = connection.ask(99, b"")
        assert reply is None or reply.status != wire.OK
    healthy()


def test_truncated_body_is_refused(agent, healthy):
    with Connection(agent) as connection:
        connection.hello()
        reply = connection.ask(wire.SEAL, bytes(20))
        assert reply is None or reply.status == wire.BAD_REQUEST
    healthy()


def test_length_inside_a_body_beyond_it_is_refused(agent, healthy):
    body = bytes(wire.KEY_BYTES) + struct.pack(">I", 3) + struct.pack(">I", 0xFFFFFF00) + b"x"
    with Connection(agent) as connection:
        connection.hello()
        reply = connection.ask(wire.OPEN, body)
        assert reply is None or reply.status == wire.BAD_REQUEST
    healthy()


def test_unknown_key_is_refused(agent, realm, healthy):
    with Connection(agent) as connection:
        _security, installation = connection.hello()
        key = os.urandom(16) + installation + bytes(32) + struct.pack(">II", 1, 18)
        body = key + struct.pack(">I", 3) + struct.pack(">I", 16) + bytes(16)
        reply = connection.ask(wire.SEAL, body, deadline_ms=20_000)
        assert reply is not None and reply.status in (wire.UNKNOWN_KEY, wire.DENIED)
    healthy()


def test_key_of_another_installation_is_refused(agent, healthy):
    with Connection(agent) as connection:
        connection.hello()
        key = os.urandom(16) + os.urandom(16) + bytes(32) + struct.pack(">II", 1, 18)
        body = key + struct.pack(">I", 3) + struct.pack(">I", 16) + bytes(16)
        reply = connection.ask(wire.SEAL, body, deadline_ms=20_000)
        assert reply is not None and reply.status != wire.OK
    healthy()


def test_kdc_role_may_not_make_keys(realm, healthy):
    """Whatever the connection says it is: the servers know the agent by its CURVE key."""
    for claimed in (wire.ROLE_KDC, wire.ROLE_ADMIN):
        with Connection(realm.agent_socket("kdc")) as connection:
            connection.hello(claimed)
            body = bytes([1]) + struct.pack(">III", 1, 18, 0)
            reply = connection.ask(wire.STAGE, body, deadline_ms=20_000)
            assert reply is None or reply.status == wire.DENIED
    healthy()


def test_same_id_twice_confuses_nobody(agent, healthy):
    with Connection(agent) as connection:
        connection.hello()
        for _ in range(3):
            connection.send(wire.header(wire.STATUS, 7, 0, deadline_ms=5000))
        replies = [connection.receive() for _ in range(3)]
        assert all(r is None or r.id == 7 for r in replies)
    healthy()


def test_many_connections_that_say_nothing(agent, healthy):
    idle = []
    try:
        for _ in range(200):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(5)
            connection.connect(str(agent))
            idle.append(connection)
        healthy()
    finally:
        for connection in idle:
            connection.close()


def test_client_that_never_reads(agent, healthy):
    """Its replies pile up at the agent, which hangs up rather than grow."""
    with Connection(agent) as connection:
        connection.hello()

        def flood() -> None:
            try:
                for number in range(20_000):
                    connection.send(wire.header(wire.STATUS, number + 2, 0, deadline_ms=5000))
            except OSError:
                pass

        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        thread.join(5)
        healthy()
        connection.socket.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        assert not thread.is_alive()
    healthy()


def test_socket_is_private(agent):
    assert agent.stat().st_mode & 0o007 == 0
