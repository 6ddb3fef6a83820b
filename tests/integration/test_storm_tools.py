# SPDX-License-Identifier: Apache-2.0
"""What the storm scenarios are made of: rules that decide, and the network with a delay."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.storm.crowd import keytab_entry
from tests.storm.network import Network
from tests.storm.soak import growth, quarters
from tests.support.process import RealmError
from tests.support.realm import default_bin

ONE_WAY_MS = 20
OCTETS = 50_000


def process(mb: list[float], files: list[int]) -> dict:
    return {"seconds": [{"mb": m, "files": f} for m, f in zip(mb, files, strict=True)]}


def test_growth_is_told_from_warming_up():
    samples = 600
    steady = process([30.0] * 120 + [60.0] * 480, [20] * samples)
    assert not any(more for _, _, more in growth(steady).values())
    leak = process([60 + n / 20 for n in range(samples)], [20] * samples)
    assert growth(leak)["MB"][2] and not growth(leak)["files"][2]
    files = process([60.0] * samples, [20 + n // 60 for n in range(samples)])
    assert growth(files)["files"][2] and not growth(files)["MB"][2]
    assert quarters([9, 1, 1, 1, 5]) == (1, 5)


def test_a_keytab_entry_is_what_the_stock_tools_read(tmp_path, realm):
    path = tmp_path / "crowd.keytab"
    path.write_bytes(b"\x05\x02" + keytab_entry("R.TEST", "crowd1", bytes(32)))
    done = realm.client("tools").run("klist", "-e", "-k", "-K", str(path))
    assert "crowd1@R.TEST (aes256-cts-hmac-sha1-96)  (0x" + "00" * 32 + ")" in done.output


@pytest.fixture
def network():
    try:
        made = Network(default_bin(), 2)
    except RealmError as error:
        pytest.skip(str(error))
    yield made
    made.end()


def in_namespace(network, node: int, what):
    """What what() returns there, or raises: in a thread, which ends there."""
    def run():
        network.enter(node)
        return what()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(run).result()


def test_what_leaves_one_node_arrives_at_the_other_after_the_delay(network):
    listener = in_namespace(network, 1, lambda: socket.create_server((network.addresses[1], 0)))
    address = listener.getsockname()

    def exchange() -> float:
        began = time.monotonic()
        with socket.create_connection(address, timeout=30) as near:
            far, _ = listener.accept()
            with far:
                near.sendall(b"x" * OCTETS)
                got = b""
                while len(got) < OCTETS:
                    got += far.recv(1 << 20)
        return 1000 * (time.monotonic() - began)

    network.delay(0)
    in_namespace(network, 0, exchange)
    network.delay(ONE_WAY_MS)
    # There and back for the connection, there for the octets.
    assert in_namespace(network, 0, exchange) >= 3 * ONE_WAY_MS
    with pytest.raises(RealmError):
        network.delay(-1)
    with pytest.raises(OSError):  # nothing else is to be reached from there
        in_namespace(network, 0, lambda: socket.create_connection(("192.0.2.1", 9), timeout=1))
