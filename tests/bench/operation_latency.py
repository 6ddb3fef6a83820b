# SPDX-License-Identifier: Apache-2.0
"""How long one operation takes, from the agent's socket and back, nothing else running.

    TKDC_BIN=build/release/bin python3 -m tests.bench.operation_latency [--rtt-ms MS]

A whole realm on loopback in malicious mode, first in layers, then with masks made ahead
(data.masked_blocks): `seal` under krbtgt's key (GCM form) and under users' keys, whose twenty
blocks of CBC come one after the other beside the HMAC. The pools are full when an operation starts.
With --rtt-ms (as root) the servers are so far from each other and from the agent, each in a network
namespace of its own.
"""

import argparse
import json
import shutil
import struct
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from tests.storm.far import FarScene
from tests.support import agent_wire as wire
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.rebuild_key import stored

NAME, BASE_PORT, PASSWORD = "LATENCY.REALM", 31_200, "a password"
MASKED_BLOCKS = 128
CONFOUNDER_BYTES, BLOCK_BYTES = 16, 16
FILL_S = 60
DEADLINE_MS = 20_000
TICKET, AS_REP = 2, 3  # RFC 4120, section 7.5.1
ENCTYPES = {"user18": "aes256-cts-hmac-sha1-96", "user20": "aes256-cts-hmac-sha384-192"}
# what, principal, enctype, usage, octets of plaintext
OPERATIONS = (
    ("krbtgt's, 1 block", "krbtgt", 18, TICKET, BLOCK_BYTES),
    ("krbtgt's, 20 blocks", "krbtgt", 18, TICKET, 20 * BLOCK_BYTES),
    ("user's, enctype 18, 20 blocks", "user18", 18, AS_REP, 20 * BLOCK_BYTES - CONFOUNDER_BYTES),
    ("user's, enctype 20, 20 blocks", "user20", 20, AS_REP, 20 * BLOCK_BYTES - CONFOUNDER_BYTES),
)


def statuses(realm: Realm) -> list[dict]:
    return json.loads(realm.tool("tkdc", "status", "--json", "--socket",
                                 str(realm.agent_socket("kdc"))))["servers"]


def handles(realm: Realm, principal: str, enctype: int, installation: bytes) -> list[bytes]:
    """One for each key of the principal: which has the enctype, the servers know."""
    own = f"/{realm.name}" if principal == "krbtgt" else ""
    name = f"{principal}{own}@{realm.name}"
    return [bytes.fromhex(key) + installation + sha256(name.encode()).digest()
            + struct.pack(">II", 1, enctype)
            for key, owner in stored(realm, 0).items() if owner == name]


def seal(connection: wire.Connection, handle: bytes, usage: int, octets: int) -> bool:
    body = handle + struct.pack(">II", usage, octets) + bytes(octets)
    reply = connection.ask(wire.SEAL, body, deadline_ms=DEADLINE_MS)
    return reply is not None and reply.status == wire.OK


def await_full_pools(realm: Realm) -> None:
    """Until no server makes masks any more."""
    made: list[int] = []

    def still() -> bool:
        before, made[:] = list(made), [s["masks_made"] for s in statuses(realm)]
        return before == made
    wait_until(still, FILL_S, "full pools")


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(int(part * len(values)), len(values) - 1)]


def measure(realm: Realm, masked: int, count: int) -> list[dict]:
    rows = []
    with wire.Connection(realm.agent_socket("kdc")) as connection:
        _security, installation = connection.hello()
        for what, principal, enctype, usage, octets in OPERATIONS:
            handle = next(h for h in handles(realm, principal, enctype, installation)
                          if seal(connection, h, usage, octets))
            before, taken = len(realm.operations("kdc")), []
            for _ in range(count):
                if masked:
                    await_full_pools(realm)
                time.sleep(0.005)
                began = time.perf_counter()
                if not seal(connection, handle, usage, octets):
                    raise RuntimeError(f"{what}: refused")
                taken.append(1_000 * (time.perf_counter() - began))
            wait_until(lambda n=before + count: len(realm.operations("kdc")) >= n, 10, "the log")
            log = realm.operations("kdc")[before:]
            rows.append({"operation": what, "by": "masks" if masked else "layers", "count": count,
                         "rounds": round(percentile([o["rounds"] for o in log], 0.5)),
                         "median_ms": round(percentile(taken, 0.5), 3),
                         "p99_ms": round(percentile(taken, 0.99), 3)})
    return rows


def make_realm(rtt_ms: float) -> Realm:
    if rtt_ms:
        return FarScene(lanes=1, users=0)
    return Realm(Path(tempfile.mkdtemp(prefix="tkdc-")), NAME, BASE_PORT, lanes=1)


def run(masked: int, count: int, rtt_ms: float) -> list[dict]:
    realm = make_realm(rtt_ms)
    try:
        realm.create()
        for party in range(3):
            config = realm.server_directory(party) / "tkdc.toml"
            text = config.read_text()
            config.write_text(text.replace("[data]\n", f"[data]\nmasked_blocks = {masked}\n"))
        realm.start()
        for user, enctype in ENCTYPES.items():
            realm.kadmin_local(f'addprinc -e {enctype}:normal -pw "{PASSWORD}" {user}')
        if rtt_ms:
            realm.network.delay(rtt_ms / 2)
        return measure(realm, masked, count)
    finally:
        realm.stop()
        shutil.rmtree(realm.directory, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.operation_latency")
    parser.add_argument("--count", type=int, default=200, help="operations of each kind")
    parser.add_argument("--rtt-ms", type=float, default=0, help="there and back, milliseconds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for masked in (0, MASKED_BLOCKS)
            for row in run(masked, options.count, options.rtt_ms)]
    if options.json:
        print(json.dumps(rows))
        return
    print("| operation | by | rounds | median, ms | p99, ms |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['operation']} | {row['by']} | {row['rounds']} | {row['median_ms']} | "
              f"{row['p99_ms']} |")


if __name__ == "__main__":
    main()
