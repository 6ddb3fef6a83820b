# SPDX-License-Identifier: Apache-2.0
"""The servers' control and data planes, talked to by those who may not."""

import contextlib
import os
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import zmq_curve
from tests.support.kerberos import find_program

pytestmark = pytest.mark.behind

SILENCE_S = 2.0
GARBAGE = {
    "noise": os.urandom(4096),
    "zeros": bytes(4096),
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tls alert": bytes.fromhex("15030300020228"),
    "zmtp of another version": b"\xff" + bytes(8) + b"\x7f" + b"\x01" + bytes(60),
    "zmtp without a mechanism": b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48),
}


@pytest.fixture(params=["control", "data"])
def port(request, realm) -> int:
    return getattr(realm.ports, request.param)(1)


@pytest.mark.parametrize("octets", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage(port, octets, healthy):
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(octets)
        connection.settimeout(0.5)
        with contextlib.suppress(OSError):
            connection.recv(65536)
        healthy()
    healthy()


def test_many_connections_that_say_nothing(port, healthy):
    idle = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(100)]
    try:
        healthy()
    finally:
        for connection in idle:
            connection.close()


# -- data plane: TLS with pinned certificates ------------------------------------------------


def tls_handshake(port: int, certificate: Path | None = None, key: Path | None = None,
                  maximum: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED) -> bool:
    """Whether the server kept the connection after the handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = maximum
    if certificate is not None:
        context.load_cert_chain(certificate, key)
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as plain, \
                context.wrap_socket(plain) as tls:
            tls.settimeout(SILENCE_S)
            tls.sendall(bytes(64))
            return tls.recv(1) != b""
    except (ssl.SSLError, ConnectionError):
        return False
    except TimeoutError:
        return True


def test_tls_without_a_certificate(realm, healthy):
    assert not tls_handshake(realm.ports.data(0))
    healthy()


def test_tls_with_a_certificate_that_is_not_pinned(realm, tmp_path, healthy):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [find_program("openssl"), "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2",
         "-subj", "/CN=tkdc-server 1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True, timeout=30)
    assert not tls_handshake(realm.ports.data(0), certificate, key)
    healthy()


def test_tls_1_2_is_refused(realm, healthy):
    folder = realm.server_directory(1)
    assert not tls_handshake(realm.ports.data(0), folder / "tls.cert.pem", folder / "tls.key.pem",
                             ssl.TLSVersion.TLSv1_2)
    healthy()


def test_noise_from_a_pinned_peer(realm, healthy):
    """Even with a listed certificate, what is not a greeting of the protocol ends the link."""
    folder = realm.server_directory(1)
    assert not tls_handshake(realm.ports.data(0), folder / "tls.cert.pem", folder / "tls.key.pem")
    healthy()


# -- control plane: CURVE with listed keys ---------------------------------------------------


def server_key(realm, party: int) -> bytes:
    return zmq_curve.public_of((realm.server_directory(party) / "curve.key").read_text().strip())


def test_unlisted_curve_key_gets_no_answer(realm, healthy):
    public, secret = zmq_curve.new_pair()
    with zmq_curve.Dealer(realm.ports.control(0), server_key(realm, 0), public, secret) as stranger:
        stranger.send(os.urandom(64))
        assert stranger.receive(SILENCE_S) is None
    healthy()


FRAMES = {
    "empty": b"",
    "one octet": b"\x01",
    "noise": os.urandom(512),
    "a megabyte": os.urandom(1 << 20),
    "eight megabytes": bytes(8 << 20),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_malformed_frame_of_a_listed_agent(realm, frame, healthy):
    secret = (realm.installation / "agent-kdc" / "curve.key").read_text().strip()
    with zmq_curve.Dealer(realm.ports.control(0), server_key(realm, 0),
                          zmq_curve.public_of(secret), secret.encode()) as agent:
        for _ in range(5):
            agent.send(frame)
        time.sleep(0.5)
        healthy()
    healthy()
