# SPDX-License-Identifier: Apache-2.0
"""Keys rebuilt from two servers' stores (tests/support/rebuild), and whose they are."""

import json
import subprocess
from dataclasses import dataclass

from tests.support.process import RealmError
from tests.support.realm import Realm

TIMEOUT_S = 60
SHOWN_DIGITS = 8  # of a key id, in the agent's operations log


@dataclass(frozen=True)
class Rebuilt:
    kvno: int
    enctype: int
    gcm: bool
    fields: dict[str, bytes]


def _tool(realm: Realm, *arguments: str) -> list[dict]:
    done = subprocess.run([str(realm.bin / "tkdc-rebuild"), *arguments], capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise RealmError(f"rebuilding from the stores failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _config(realm: Realm, party: int) -> str:
    return str(realm.server_directory(party) / "tkdc.toml")


def rebuild(realm: Realm, principal: str, parties: tuple[int, int] = (0, 1)) -> list[Rebuilt]:
    return rebuild_from(realm, principal, [_config(realm, party) for party in parties])


def rebuild_from(realm: Realm, principal: str, configs: list[str],
                 *options: str) -> list[Rebuilt]:
    """Of two servers' stores wherever they are. With --anyhow also where these do not fit: of what
    both hold the first one's copy is taken."""
    keys = _tool(realm, "keys", *configs, principal, *options)
    return [Rebuilt(k["kvno"], k["enctype"], k["gcm"],
                    {name: bytes.fromhex(value) for name, value in k["fields"].items()})
            for k in keys]


def stored(realm: Realm, party: int) -> dict[str, str]:
    """Principal by key id, of all keys that one server holds."""
    return {k["key"]: k["principal"] for k in _tool(realm, "names", _config(realm, party))}


def key_names(realm: Realm) -> dict[str, str]:
    """Principal, without the realm, by the digits that the operations log shows."""
    return {key[:SHOWN_DIGITS]: principal.rpartition("@")[0] or principal
            for key, principal in stored(realm, 0).items()}
