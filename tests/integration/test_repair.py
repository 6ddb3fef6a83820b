# SPDX-License-Identifier: Apache-2.0
"""A server is gone with its disk. A new one, with new keys, gets its store from the two others when
both administrators have approved its certificate; users log in again, and the old certificate is
refused for good.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, free_base_port, remove
from tests.integration.test_breach import status
from tests.integration.test_shares import (
    FAILED,
    GOOD,
    SETTLED_S,
    state_of,
    turn_on,
    wait_for_session,
)
from tests.support.members import AGENTS, MembersRealm
from tests.support.process import wait_until
from tests.support.rebuild_key import rebuild
from tests.support.scan import Scanner

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
LOST = 2
PASSWORD = "a password that outlives a disk"


class RealmWithMacs(MembersRealm):
    def _init_installation(self) -> None:
        super()._init_installation()
        for party in range(3):
            turn_on(self, party)


@pytest.fixture(scope="module")
def realm():
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    with RealmWithMacs(directory, "REPAIR.REALM", free_base_port()) as running:
        for name in ("alice", "bob", "gone"):
            running.kadmin_local(f'addprinc -pw "{PASSWORD}" {name}')
        running.kadmin_local("delprinc -force gone")
        yield running
    remove(running)


def repair(realm, party: int, *words: str) -> subprocess.CompletedProcess:
    config = realm.server_directory(party) / "tkdc.toml"
    return subprocess.run([str(realm.bin / "tkdc"), "repair", "--config", str(config), *words],
                          capture_output=True, text=True, timeout=60, check=False)


def certificate(realm, party: int) -> str:
    shown = repair(realm, party, "status")
    return re.search(r"^certificate +([0-9a-f]{64})$", shown.stdout, re.MULTILINE)[1]


def know_the_new_one(realm, name: str) -> None:
    """As this member's administrator: the new introduction, and nothing of the former."""
    administrators = realm.administrators
    folder = realm.installation / name
    config = folder / ("agent.toml" if name in AGENTS else "tkdc.toml")
    new = folder / "new.toml"
    fingerprint = administrators.fingerprints[f"server{LOST}"]
    joined = administrators.join(name, administrators.post / f"server{LOST}.introduction",
                                 fingerprints=[fingerprint], options=("--out", str(new)))
    assert joined.returncode == 0, joined.stderr
    assert "ANOTHER identity" in joined.stdout
    new.unlink()
    done = administrators.run("join", "--folder", str(folder), "--forget-former", "--out",
                              str(new))
    assert done.returncode == 0, done.stderr
    new.replace(config)


def keys_of(realm, principal: str, parties: tuple[int, int]) -> dict[int, bytes]:
    """As a thief of two stores has them."""
    return {one.enctype: one.fields["key"]
            for one in rebuild(realm, f"{principal}@REPAIR.REALM", parties)}


def expect_no_key(realm, made: dict[int, bytes]) -> None:
    """In memory and on disk of the new server, where shares of both others came together, of the
    survivors, and of the agents. The control: a process that holds these keys, and a file."""
    scanner = Scanner(realm.bin / "keyscan")
    keys = [(f"alice-{enctype}", key) for enctype, key in made.items()]
    count, missed = scanner.control(keys)
    assert count and not missed
    planted = realm.directory / "planted"
    planted.mkdir()
    (planted / "file").write_bytes(bytes(5000) + made[18])
    assert scanner.search(keys, {}, {"planted": planted}).findings
    daemons = {name: one.pid for name, one in realm.daemons.items()
               if name.startswith(("server", "agent"))}
    assert {"server0", "server1", "server2"} < daemons.keys()
    found = scanner.search(keys, daemons, {
        f"store{party}": realm.server_directory(party) / "store" for party in range(3)})
    assert all(found.octets[name] for name in daemons) and not found.findings, found.findings


def test_a_lost_server_is_repaired(realm):
    keys = keys_of(realm, "alice", (0, 1))
    refused = repair(realm, 0, "approve", "--server", str(LOST), "--certificate", "0" * 64)
    assert refused.returncode == FAILED and "none of them is lost" in refused.stderr
    old = certificate(realm, LOST)
    realm.daemons[f"server{LOST}"].stop()
    shutil.rmtree(realm.server_directory(LOST))

    # A new machine.
    realm.administrators.init_server(LOST)
    joined = realm.administrators.join(f"server{LOST}")
    assert joined.returncode == 0, joined.stderr
    turn_on(realm, LOST)
    realm.start_server(LOST)
    new = certificate(realm, LOST)
    assert new != old

    # Nobody approves what he does not go by.
    refused = repair(realm, 0, "approve", "--server", str(LOST), "--certificate", new)
    assert refused.returncode == FAILED and "join --forget-former" in refused.stderr
    for party in (0, 1):
        know_the_new_one(realm, f"server{party}")
        turn_on(realm, party)
        realm.daemons[f"server{party}"].stop()
        realm.start_server(party)
    for agent in AGENTS:
        know_the_new_one(realm, agent)
        realm.daemons[agent].stop()
        realm.start_agent(AGENTS[agent])
    refused = repair(realm, 0, "approve", "--server", str(LOST), "--certificate", old)
    assert refused.returncode == FAILED

    # Not without both.
    approve = ("approve", "--server", str(LOST), "--certificate", new)
    approved = repair(realm, 0, *approve)
    assert approved.returncode == GOOD, approved.stderr
    accepted = repair(realm, LOST, "accept", "--certificate", new)
    assert accepted.returncode == GOOD, accepted.stderr
    wait_until(lambda: any("inventor" in one.get("trouble", "") for one in status(realm)),
               SETTLED_S, "a session that is refused")
    assert "keys             0" in repair(realm, LOST, "status").stdout
    assert repair(realm, 1, *approve).returncode == GOOD
    realm.daemons[f"server{LOST}"].kill()
    realm.start_server(LOST)
    wait_for_session(realm)
    wait_until(lambda: [state_of(realm, p).get("refresh_epoch") for p in range(3)] == [1] * 3,
               SETTLED_S, "new shares at all three")
    wait_for_session(realm)
    expect_no_key(realm, keys)
    for user in ("alice", "bob"):
        assert realm.client(user).kinit(user, PASSWORD).ok
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" later')
    assert realm.client("later").kinit("later", PASSWORD).ok
    config = realm.server_directory(LOST) / "tkdc.toml"
    realm.tool("tkdc", "shares", "--config", str(config), "audit")
    for party in range(3):
        orders = realm.server_directory(party) / "store" / "repair.order"
        wait_until(lambda one=orders: not one.exists(), SETTLED_S, "an order that is over")

    # For good, whatever a configuration says.
    config = realm.server_directory(0) / "tkdc.toml"
    good = config.read_text()
    config.write_text(good.replace(new, old))
    realm.daemons["server0"].stop()
    again = subprocess.run([str(realm.bin / "tkdc-server"), "--config", str(config)],
                           env=realm.env(), capture_output=True, text=True, timeout=60,
                           check=False)
    assert again.returncode != 0 and "refused for good" in again.stderr
    config.write_text(good)
    realm.start_server(0)
    wait_for_session(realm)
    assert realm.client("again").kinit("alice", PASSWORD).ok
