# SPDX-License-Identifier: Apache-2.0
"""The rows of docs/operations-table.md for a realm on two servers: each flow is served once, the
agents' logs say which operations of which lengths it took, and `tkdc bench pair` measures each
circuit of theirs, between two processes.

    python3 -m tests.bench.operations_of_two      prints rows of Markdown

Of a derived key's own circuits the bench deals what two servers carry from one to the next, and
the pepper: some hundred octets more online. Needs what the integration tests need.
"""

import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.bench.operations_table import BASE_PORT, REALM, class_of, flows, prepare
from tests.support.card_realm import CardRealm
from tests.support.plain_realm import BIN
from tests.support.process import ports_free
from tests.support.realm import Ports
from tests.support.rebuild_key import key_names

SHA = {17: "sha1", 18: "sha1", 19: "sha256", 20: "sha384"}
CHECKSUM = {17: 12, 18: 12, 19: 16, 20: 24}
KEY = {17: 16, 18: 32, 19: 16, 20: 32}
SESSION = 18  # of armor and strengthening keys in this realm
USAGES = {  # of a class: of keys for encryption, of keys for checksums
    "user": ([1, 3], [56]),
}


def of_key(operation: str, enctype: int, octets: int) -> str:
    if operation in ("seal", "open"):
        return f"{operation}{enctype}:{octets}"
    octets -= CHECKSUM[enctype] if operation == "verify" else 0
    return f"{operation}-{SHA[enctype]}:{octets}"


def circuits(entry: dict, owner: str) -> list[str]:
    """Of an operation of the agents' log, in their order."""
    operation, enctype, usage, octets = (entry[n] for n in ("op", "enctype", "usage", "input"))
    if operation == "bind":
        encryption, checksum = USAGES[owner]
        return [f"prf-base{enctype}", *(f"derive-encryption{enctype}:{u}" for u in encryption),
                *(f"derive-checksum{enctype}:{u}" for u in checksum)]
    if operation == "equal":
        return [f"equal-keys:{KEY[enctype]}"]
    if operation in ("stage", "destroy", "export"):
        return []
    if not operation.endswith("-derived"):
        return [of_key(operation, enctype, octets)]
    plain = operation.removesuffix("-derived")
    keys = "fast-checksum" if plain == "mac" else "fast-encryption"
    return [f"prf-plus{enctype}", f"{keys}{SESSION}:{usage}",
            of_key(plain, SESSION, octets - KEY[SESSION])]


@functools.cache
def measured(circuit: str) -> tuple[int, float, float]:
    """ANDs; octets ahead and online, both directions."""
    said = subprocess.run([BIN / "tkdc-workbench", "bench", "pair", "--json", "--jobs", "2",
                           "--operation", circuit], check=True, capture_output=True, text=True)
    one = json.loads(said.stdout)["operations"][0]
    return one["ands"], one["ahead"]["octets"], one["online"]["octets"]


def run(realm: CardRealm) -> None:
    prepare(realm)
    names = key_names(realm)
    print("| flow | operation | key | octets in | ANDs | MB ahead | octets online |")
    print("|---|---|---|---|---|---|---|")
    asked: dict[str, list[dict]] = {}
    for flow, serve in flows(realm).items():
        before = {role: len(realm.operations(role)) for role in ("kdc", "admin")}
        serve()
        asked[flow] = [o for role in before for o in realm.operations(role)[before[role]:]]
    for flow, entries in asked.items():
        shown = set()
        for o in entries:
            owner = class_of(names.get(o["key"], "bob@"))
            kind = (o["op"], o["usage"], owner)
            if o["status"] != "ok" or kind in shown:
                continue
            shown.add(kind)
            ands, ahead, online = (sum(column) for column in
                                   zip((0, 0, 0), *map(measured, circuits(o, owner)), strict=False))
            first = flow if len(shown) == 1 else ""
            print(f"| {first} | {kind[0]} {kind[1]} | {owner} | {o['input']:,} | {ands:,} | "
                  f"{ahead / 1e6:.1f} | {online:,.0f} |", flush=True)


def main() -> None:
    if not ports_free(Ports(BASE_PORT).all()):
        raise RuntimeError(f"ports from {BASE_PORT} are in use")
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    try:
        with CardRealm(directory, REALM, BASE_PORT, servers=2) as realm:
            run(realm)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
