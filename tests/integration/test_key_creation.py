# SPDX-License-Identifier: Apache-2.0
"""A key stands at all three servers or at none, whatever dies while it is made."""

import re
import subprocess
import time

import pytest

from tests.integration.conftest import RECOVERY_S
from tests.integration.test_breach import status
from tests.support.kerberos import find_program
from tests.support.process import wait_until
from tests.support.rebuild_key import stored

pytestmark = pytest.mark.behind

DELAYS_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)


def stores_agree(realm) -> bool:
    first, second, third = (stored(realm, party) for party in range(3))
    return first == second == third


@pytest.mark.parametrize("delay_s", DELAYS_S)
@pytest.mark.parametrize("party", [0, 2])
def test_server_killed_while_a_key_is_made(realm, party, delay_s, healthy):
    principal = f"host/kill{party}-{int(delay_s * 1000)}.test"
    name = f"server{party}"
    admin = subprocess.Popen(
        [find_program("kadmin.local"), "-q", f"addprinc -randkey {principal}"],
        env=realm.kdc_env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    time.sleep(delay_s)
    realm.daemons[name].kill()
    realm.start_server(party)
    output, errors = admin.communicate(timeout=180)
    healthy(restarted=(name,))
    wait_until(lambda: stores_agree(realm), RECOVERY_S, "three equal stores", pause_s=0.3)

    made = "created" in output
    shown = realm.try_admin_tool("kadmin.local", "-q", f"getprinc {principal}")
    assert made == ("Principal: " in shown.output), (output, errors, shown)
    if made:  # then its keys work
        keytab = realm.keytab(principal.replace("/", "-"))
        realm.kadmin_local(f"ktadd -k {keytab} {principal}")
        assert re.search(r"Key: vno 2", realm.kadmin_local(f"getprinc {principal}"))


def test_every_server_holds_the_same_keys(realm, user):
    assert user.name in {p.partition("@")[0] for p in stored(realm, 0).values()}
    assert stores_agree(realm)


def test_keys_of_a_removed_principal_go_everywhere(realm, new_user):
    gone = new_user()
    realm.kadmin_local(f"delprinc -force {gone.name}")

    def absent() -> bool:
        return all(not any(p.startswith(f"{gone.name}@") for p in stored(realm, party).values())
                   for party in range(3))

    wait_until(absent, RECOVERY_S, f"the keys of {gone.name} to be gone", pause_s=0.3)


def test_full_store(realm, client, shared_user, healthy):
    """One server's store is full: no new keys, an error that says so, logins go on."""
    config = realm.server_directory(1) / "tkdc.toml"
    original = config.read_text()
    config.write_text(re.sub(r"map_size_mib = \d+", "map_size_mib = 1", original))
    assert config.read_text() != original
    realm.daemons["server1"].stop()
    realm.start_server(1)
    try:
        healthy(restarted=("server1",))
        refused = ""
        for number in range(200):
            done = realm.try_admin_tool("kadmin.local", "-q",
                                        f"addprinc -randkey host/full{number}.test")
            if "created" not in done.output:
                refused = done.errors
                break
        assert refused, "a store of 1 MiB took 200 principals"
        rooms = {one["of"]: one["total_mib"] for one in status(realm)[1]["disks"]}
        assert rooms["store map"] == 1, rooms
        assert client().kinit(shared_user.name, shared_user.password).ok
        wait_until(lambda: stores_agree(realm), RECOVERY_S, "three equal stores", pause_s=0.3)
    finally:
        config.write_text(original)
        realm.daemons["server1"].stop()
        realm.start_server(1)
    healthy(restarted=("server1",))
    realm.kadmin_local("addprinc -randkey host/room-again.test")
    assert stores_agree(realm)
