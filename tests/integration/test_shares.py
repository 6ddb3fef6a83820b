# SPDX-License-Identifier: Apache-2.0
"""MACs on shares with the installed programs: a realm of before gets them by one command while it
serves, new keys have them at once, a server that was set back is named, and what kill -9 interrupts
goes on by itself.
"""

import re
import shutil
import subprocess
import time

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.terminal import run_on_terminal

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password that is kept"
SETTLED_S = 60.0
GOOD, FAILED, FOUND = 0, 1, 2


def shares(realm: Realm, party: int, *words: str) -> subprocess.CompletedProcess:
    config = realm.server_directory(party) / "tkdc.toml"
    return subprocess.run([str(realm.bin / "tkdc"), "shares", "--config", str(config), *words],
                          capture_output=True, text=True, timeout=120, check=False)


def state_of(realm: Realm, party: int) -> dict:
    return next(one for one in status(realm) if one.get("party") == party).get("shares", {})


def idle(state: dict) -> bool:
    return not state.get("running", True) and not state.get("wanted", True)


def count(outcome: subprocess.CompletedProcess, label: str) -> int:
    return int(re.search(rf"^{label} +(\d+)$", outcome.stdout, re.MULTILINE)[1])


def turn_on(realm: Realm, party: int) -> None:
    config = realm.server_directory(party) / "tkdc.toml"
    text = config.read_text()
    assert text.count("[store]\n") == 1
    config.write_text(text.replace("[store]\n", "[store]\nshare_macs = true\n"))


def wait_for_session(realm: Realm) -> None:
    wait_until(lambda: all(one.get("session_up") for one in status(realm)), SETTLED_S,
               "a session of all three")


def restart(realm: Realm, party: int) -> None:
    realm.daemons[f"server{party}"].stop()
    realm.start_server(party)
    wait_for_session(realm)


def set_back(realm: Realm, party: int, copy) -> None:
    """As an administrator who restores an old image of that machine's disk."""
    realm.daemons[f"server{party}"].stop()
    store = realm.server_directory(party) / "store"
    shutil.rmtree(store)
    shutil.copytree(copy, store, ignore=shutil.ignore_patterns("admin.sock", "lock.mdb"))
    realm.start_server(party)
    wait_for_session(realm)


def copy_of(realm: Realm, party: int, name: str):
    realm.daemons[f"server{party}"].stop()
    copy = realm.directory / name
    shutil.copytree(realm.server_directory(party) / "store", copy,
                    ignore=shutil.ignore_patterns("admin.sock", "lock.mdb"))
    realm.start_server(party)
    wait_for_session(realm)
    return copy


def log_in(realm: Realm, name: str) -> None:
    assert realm.client(name).kinit(name, PASSWORD).ok


@pytest.fixture(scope="module")
def before():
    """A realm of before, and a copy of each server's store, without MACs."""
    realm = new_realm("SHARES.REALM")
    with realm:
        for number in range(6):
            realm.kadmin_local(f'addprinc -pw "{PASSWORD}" u{number}')
        yield realm, [copy_of(realm, party, f"bare{party}") for party in range(3)]
    remove(realm)


def test_the_steps_of_an_upgrade(before):
    realm, _ = before
    refused = shares(realm, 0, "audit")
    assert refused.returncode == FAILED and "store.share_macs" in refused.stderr
    # One server after the other; a session that not all three offer it for has none, and serves.
    for party in range(3):
        assert not state_of(realm, 0)["macs"]
        turn_on(realm, party)
        restart(realm, party)
        log_in(realm, "u0")
    assert state_of(realm, 0)["macs"]
    assert "last audit       never" in shares(realm, 1, "status").stdout
    first = shares(realm, 2, "audit")
    # Nothing differs, but nothing was proved either.
    assert first.returncode == FOUND, first.stderr + first.stdout
    assert count(first, "failed") == count(first, "audited") == 0
    assert count(first, "keys without") >= 6
    dealt = shares(realm, 1, "deal")
    assert dealt.returncode == GOOD and count(dealt, "dealt") == count(first, "keys without")
    again = shares(realm, 1, "deal")
    assert again.returncode == GOOD and count(again, "dealt") == 0
    audited = shares(realm, 0, "audit")
    assert audited.returncode == GOOD and count(audited, "audited") == count(dealt, "dealt")
    shown = run_on_terminal([str(realm.bin / "tkdc"), "shares", "--config",
                             str(realm.server_directory(0) / "tkdc.toml"), "audit"])
    assert shown.ok and f" of {count(dealt, 'dealt')} keys" in shown.errors, shown.errors
    assert f"Z, {count(dealt, 'dealt')} keys, 0 failed, 0 without MACs" in audited.stdout
    log_in(realm, "u1")


def test_a_server_that_was_set_back_is_named(before):
    realm, bare = before
    # Without its MAC keys it brings all three to new ones; nothing is proved by the old, which is
    # not passed over in silence.
    set_back(realm, 1, bare[1])
    audited = shares(realm, 0, "audit")
    assert audited.returncode == FOUND and count(audited, "audited") == 0
    assert "server 1 keeps no MAC key of the two others'" in audited.stdout
    assert count(audited, "of these stale") == count(audited, "keys without")
    keyed = copy_of(realm, 1, "keyed")
    assert shares(realm, 2, "deal").returncode == GOOD
    assert shares(realm, 2, "audit").returncode == GOOD
    set_back(realm, 1, keyed)
    found = shares(realm, 0, "audit")
    assert found.returncode == FOUND and "server 1 and the two others" in found.stdout
    assert count(found, "audited") == 0
    assert f" 0 keys, {count(found, 'failed')} failed" in found.stdout
    assert "SHARES DIFFER" in realm.tool("tkdc", "status", "--socket",
                                         str(realm.agent_socket("kdc")))
    for party in range(3):
        assert "different dealings" in realm.daemons[f"server{party}"].log.read_text()
    assert shares(realm, 0, "deal").returncode == GOOD
    assert shares(realm, 1, "audit").returncode == GOOD
    log_in(realm, "u2")


def test_what_is_killed_amid_dealing_goes_on(before):
    realm, bare = before
    for party, pause_s in ((0, 0.0), (1, 0.02), (2, 0.05)):
        set_back(realm, party, bare[party])
        asked = (party + 1) % 3
        started = shares(realm, asked, "deal", "--background")
        assert started.returncode == GOOD, started.stderr
        time.sleep(pause_s)
        realm.daemons[f"server{party}"].kill()
        realm.start_server(party)
        wait_for_session(realm)
        wait_until(lambda one=asked: idle(state_of(realm, one)), SETTLED_S, "the dealing's end")
        request = realm.server_directory(asked) / "store" / "shares.request"
        wait_until(lambda one=request: not one.exists(), SETTLED_S, "a request that was done")
        audited = shares(realm, party, "audit")
        assert audited.returncode == GOOD, audited.stdout
        assert count(audited, "keys without") == 0 and count(audited, "audited") >= 6
        log_in(realm, "u3")


def test_new_keys_have_them_at_once(before):
    realm, _ = before
    was = count(shares(realm, 0, "audit"), "audited")
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" newest')
    audited = shares(realm, 1, "audit")
    assert audited.returncode == GOOD
    assert count(audited, "audited") > was and count(audited, "keys without") == 0
    realm.kadmin_local("delprinc -force newest")
    after = shares(realm, 2, "audit")
    assert after.returncode == GOOD
    assert count(after, "audited") == count(audited, "audited"), "dropped ones are audited, too"
