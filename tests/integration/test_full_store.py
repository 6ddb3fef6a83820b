# SPDX-License-Identifier: Apache-2.0
"""A full disk under one server's store amid a refresh and amid a repair, at a survivor and at the
new machine: nothing comes of it at any server, what failed says so and what to do, and when there
is room it is done."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.integration import test_shares as shares
from tests.integration.conftest import STOCK, free_base_port, new_realm, remove
from tests.integration.test_refresh import refresh_epochs, tkdc
from tests.integration.test_repair import (
    LOST,
    RealmWithMacs,
    certificate,
    know_the_new_one,
    repair,
)
from tests.support.members import AGENTS
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.small_disk import SmallDisk, SmallDiskRealm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
FULL = SmallDiskRealm.full
PRINCIPALS = 12
# What is left for the store grows by this from nothing on: it runs full at one step after another.
STEP = 16 * 1024
ADVICE = re.compile(r"make room there, then ask again"
                    r"|free space on that file system, or check the disk; the store is unchanged"
                    r"|`tkdc shares status` on the other servers' hosts says which, and why")


class FullStoreRealm(SmallDiskRealm):
    def use_disk(self) -> None:
        for party in range(3):
            shares.turn_on(self, party)
        self.disk.hold_store(self.server_directory(FULL))


def add_users(realm: Realm) -> None:
    for number in range(PRINCIPALS):
        realm.kadmin_local(f'addprinc -pw "{shares.PASSWORD}" u{number}')


@pytest.fixture
def realm():
    made = new_realm("FULLSTORE.REALM")
    made.__class__ = FullStoreRealm
    with made:
        add_users(made)
        yield made
    remove(made)


def refresh_with_room(realm: Realm, party: int, room: int) -> subprocess.CompletedProcess:
    realm.disk.fill(room)
    try:
        done = tkdc(realm, party, "refresh")
        shares.wait_for_session(realm)
        shares.log_in(realm, "u1")
    finally:
        realm.disk.make_room()
    return done


@pytest.mark.parametrize("asked", [FULL, 0])
def test_a_refresh_without_room_changes_nothing(realm, asked):
    """`asked`: at whom it was asked for."""
    failures = []
    for room in range(0, 64 * STEP, STEP):
        done = refresh_with_room(realm, asked, room)
        if done.returncode == shares.GOOD:
            break
        assert done.returncode == shares.FAILED
        failures.append(done.stdout + done.stderr)
        assert ADVICE.search(failures[-1]), failures[-1]
        assert refresh_epochs(realm) == [0] * 3
    amid = [one for one in failures if "storing new shares" in one or "write its new" in one]
    assert amid, "no step but the first ran full"
    assert refresh_epochs(realm) == [1] * 3 and done.returncode == shares.GOOD
    for party in range(3):
        wait_until(lambda one=party: shares.idle(shares.state_of(realm, one)), shares.SETTLED_S,
                   "the end of what was asked")
    assert tkdc(realm, FULL, "shares", "audit").returncode == shares.GOOD
    shares.log_in(realm, "u2")


def replace_machine(realm: RealmWithMacs) -> None:
    """A new machine for the lost server, known by all, who are stopped."""
    realm.daemons[f"server{LOST}"].stop()
    shutil.rmtree(realm.server_directory(LOST))
    realm.administrators.init_server(LOST)
    assert realm.administrators.join(f"server{LOST}").returncode == shares.GOOD
    shares.turn_on(realm, LOST)
    for name in ("server0", "server1", *AGENTS):
        know_the_new_one(realm, name)
        realm.daemons[name].stop()
    for party in (0, 1):
        shares.turn_on(realm, party)


@pytest.mark.parametrize("full", [LOST, 0], ids=["at the new machine", "at a survivor"])
def test_a_repair_without_room_changes_nothing(full):
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    disk = SmallDisk(directory / "small")
    with RealmWithMacs(directory, "FULLREPAIR.REALM", free_base_port()) as realm:
        try:
            repair_with_little_room(realm, disk, full)
        finally:
            realm.stop()
            disk.unmount()
    remove(realm)


def repair_with_little_room(realm: RealmWithMacs, disk: SmallDisk, full: int) -> None:
    add_users(realm)
    replace_machine(realm)
    disk.mount()
    disk.hold_store(realm.server_directory(full))
    for party in range(3):
        realm.start_server(party)
    for role in AGENTS.values():
        realm.start_agent(role)
    new = certificate(realm, LOST)
    approve = ("approve", "--server", str(LOST), "--certificate", new)
    asked = [(0, approve), (1, approve), (LOST, ("accept", "--certificate", new))]
    disk.fill()
    done = repair(realm, full, *dict(asked)[full])
    assert done.returncode == shares.FAILED and ADVICE.search(done.stderr), done.stderr
    disk.make_room()
    disk.fill(4 * STEP)
    for party, words in asked:
        done = repair(realm, party, *words)
        assert done.returncode == shares.GOOD, done.stderr

    def trouble() -> str:
        said = repair(realm, full, "status")
        return said.stdout if "trouble" in said.stdout and said.returncode == shares.FAILED else ""

    said = wait_until(trouble, shares.SETTLED_S, "a repair that found no room")
    assert ADVICE.search(said) and "restart this server: it begins anew then" in said, said
    others = [repair(realm, party, "status").stdout for party in range(3) if party != full]
    assert all(ADVICE.search(one) for one in others), others
    assert [one["refresh_epoch"] for one in (shares.state_of(realm, p) for p in (0, 1))] == [0, 0]
    assert "keys             0" in repair(realm, LOST, "status").stdout
    disk.make_room()
    realm.daemons[f"server{full}"].stop()
    realm.start_server(full)
    shares.wait_for_session(realm)
    wait_until(lambda: refresh_epochs(realm) == [1] * 3, shares.SETTLED_S, "the repair")
    shares.wait_for_session(realm)
    shares.log_in(realm, "u3")
