# SPDX-License-Identifier: Apache-2.0
"""A client whose subkey has the octets of a handle (handle.h and derivation.h in
mpc-engine/service/wire): what they name is no secret, and any client may send them."""

import hashlib
import json
import subprocess

from tests.attack.realm import USERS, AttackedRealm
from tests.support.kerberos import Client, Outcome
from tests.support.process import RealmError

HANDLE_MAGIC = b"\xf1tkdch\x00\x01"
DERIVED_MAGIC = b"\xf1tkdcd\x00\x01"
HANDLE_BYTES = 160
COOKIE = 2  # TKDC_DERIVE_PRFPLUS
ENCTYPE = 18


def _fields(realm: AttackedRealm, principal: str) -> bytes:
    config = realm.server_directory(0) / "tkdc.toml"
    names = subprocess.run([str(realm.bin / "tkdc-rebuild"), "names", str(config)],
                           capture_output=True, text=True, timeout=60, check=True).stdout
    for key in json.loads(names):
        if key["principal"] == f"{principal}@{realm.name}" and key["enctype"] == ENCTYPE:
            owner = hashlib.sha256(key["principal"].encode()).digest()
            return (bytes.fromhex(key["key"]) + realm.installation_id() + owner
                    + key["kvno"].to_bytes(4, "big") + ENCTYPE.to_bytes(4, "big"))
    raise RealmError(f"{principal} has no key of enctype {ENCTYPE}")


def imitations(realm: AttackedRealm) -> dict[str, bytes]:
    other = _fields(realm, USERS[1])
    recipe = bytes([COOKIE]) + ENCTYPE.to_bytes(4, "big") + b"\0"
    krbtgt = _fields(realm, f"krbtgt/{realm.name}")
    return {
        "krbtgt's handle": (HANDLE_MAGIC + krbtgt).ljust(HANDLE_BYTES, b"\0"),
        "another user's handle": (HANDLE_MAGIC + other).ljust(HANDLE_BYTES, b"\0"),
        "a derived key's handle":
            (DERIVED_MAGIC + other + recipe).ljust(HANDLE_BYTES, b"\0") + b"COOKIE",
    }


def with_subkey(realm: AttackedRealm, client: Client, subkey: bytes, service: str,
                fast: bool) -> Outcome:
    env = {**client.env, "LD_PRELOAD": str(realm.bin / "imitating_client.so"),
           "TKDC_SUBKEY": subkey.hex()}
    if not fast:
        env["TKDC_WITHOUT_FAST"] = "1"
    imitator = Client(env, client.ccache)
    imitator.env = {**imitator.env, **env}
    imitator.attempts = client.attempts
    return imitator.kvno(service)


def tickets_issued(realm: AttackedRealm) -> int:
    return (realm.directory / "kdc.trace").read_text(errors="replace").count("ISSUE")
