# SPDX-License-Identifier: Apache-2.0
"""The table of operations: what the KDC asked of the three servers, and what each one cost."""

from tests.support.realm import Realm

HEADER = ["operation", "key", "ran on", "AES blocks", "SHA-1 blocks", "rounds", "bytes/party",
          "ms", "result"]

# RFC 4120, section 7.5.1, and RFC 6113, RFC 4757's PAC signatures.
USAGES = {
    1: "encrypted timestamp", 2: "ticket", 3: "AS reply", 17: "PAC signature",
    54: "client's challenge", 55: "KDC's challenge", 56: "AS request checksum", 64: "CAMMAC",
    513: "FAST cookie", 514: "freshness token",
}


def rows(operations: list[dict], names: dict[str, str], servers: int) -> list[list[str]]:
    """`names`: principal by the first digits of the key id."""
    table = []
    for entry in operations:
        usage = USAGES.get(entry["usage"], "")
        what = f"{entry['op'].lower()} u{entry['usage']} {usage}".rstrip()
        table.append([
            what, names.get(entry["key"], entry["key"]),
            "server " + ", ".join(map(str, range(servers))),
            f"{entry['blocks']}", f"{entry['sha1_blocks']}", f"{entry['rounds']}",
            f"{entry['bytes_per_party']:,}", f"{entry['ms']:.1f}", entry["status"],
        ])
    return table


def since(realm: Realm, seen: int) -> list[dict]:
    """Operations that the KDC's agent recorded after the first `seen`."""
    return [op for op in realm.operations("kdc")[seen:] if op["op"] not in ("HELLO", "STATUS")]
