# SPDX-License-Identifier: Apache-2.0
"""A refresh of shares with the installed programs: all three servers come to have new shares of the
same keys while users log in, whoever is killed meanwhile; and keys are made again afterwards.
"""

import itertools
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.integration.test_shares import (
    FAILED,
    GOOD,
    PASSWORD,
    SETTLED_S,
    idle,
    log_in,
    restart,
    state_of,
    turn_on,
    wait_for_session,
)
from tests.support.process import RealmError, wait_until
from tests.support.realm import Realm
from tests.support.terminal import run_on_terminal
from tests.support.two_servers import keys_of, stolen

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]


def argv_of(realm: Realm, party: int, command: str, *words: str) -> list[str]:
    config = realm.server_directory(party) / "tkdc.toml"
    return [str(realm.bin / "tkdc"), command, "--config", str(config), *words]


def tkdc(realm: Realm, party: int, command: str, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(argv_of(realm, party, command, *words), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)


def refresh_epochs(realm: Realm) -> list[int]:
    return [state_of(realm, party)["refresh_epoch"] for party in range(3)]


def settled(realm: Realm) -> bool:
    states = [state_of(realm, party) for party in range(3)]
    return all(one.get("macs") and idle(one) for one in states)


@pytest.fixture(scope="module")
def realm():
    made = new_realm("REFRESH.REALM")
    with made:
        for number in range(4):
            made.kadmin_local(f'addprinc -pw "{PASSWORD}" u{number}')
        yield made
    remove(made)


def test_it_needs_macs(realm):
    refused = tkdc(realm, 0, "refresh")
    assert refused.returncode == FAILED and "store.share_macs" in refused.stderr
    for party in range(3):
        turn_on(realm, party)
        restart(realm, party)


def test_users_log_in_meanwhile(realm):
    failed, done = [], threading.Event()

    def users():
        client = realm.client("meanwhile")
        while not done.is_set():
            outcome = client.kinit("u0", PASSWORD)
            if not outcome.ok:
                failed.append(outcome)

    others = threading.Thread(target=users)
    others.start()
    try:
        for epoch in (1, 2):
            refreshed = run_on_terminal(argv_of(realm, epoch, "refresh"))
            assert refreshed.ok, refreshed.output + refreshed.errors
            assert re.search(r"\d+ of \d+ keys", refreshed.errors), "how far it is"
            wait_until(lambda n=epoch: refresh_epochs(realm) == [n] * 3, SETTLED_S, "new shares")
            wait_for_session(realm)
    finally:
        done.set()
        others.join()
    assert not failed
    shown = tkdc(realm, 0, "shares", "status")
    assert "refresh epoch 2" in shown.stdout
    audited = tkdc(realm, 2, "shares", "audit")
    assert audited.returncode == GOOD, audited.stdout
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" later')
    log_in(realm, "later")
    assert tkdc(realm, 1, "shares", "audit").returncode == GOOD


def back_up(realm: Realm, party: int) -> Path:
    """Where this server keeps its own."""
    folder = realm.server_directory(party)
    if not (folder / "backup.pub").exists():
        subprocess.run([str(realm.bin / "tkdc"), "backup", "key", "--out",
                        str(realm.directory / "backup.key"), "--public",
                        str(folder / "backup.pub")], capture_output=True, timeout=60, check=True)
    made = []

    def make():
        made.append(subprocess.run(
            [str(realm.bin / "tkdc"), "backup", "make", "--config", str(folder / "tkdc.toml")],
            capture_output=True, text=True, timeout=60, check=False))
        # Its name has the second; and none is made while new shares wait for their session.
        return made[-1].returncode == GOOD

    wait_until(make, SETTLED_S, "a backup", pause_s=0.5)
    return Path(made[-1].stdout.partition(":")[0])


def test_backups_of_before_are_shown_and_go_when_it_is_said(realm):
    old = [back_up(realm, 0)]
    damaged = old[0].with_name("damaged.tkdc-backup")
    damaged.write_bytes(old[0].read_bytes()[:-1])
    elsewhere = tkdc(realm, 1, "refresh")
    assert elsewhere.returncode == GOOD, elsewhere.stderr
    assert "there is no folder" in elsewhere.stdout and "cannot be seen" in elsewhere.stdout
    wait_for_session(realm)
    told = tkdc(realm, 0, "refresh")
    assert told.returncode == GOOD and f"in {old[0].parent} lie backups" in told.stdout
    assert "tkdc backup make --config" in told.stdout and "Type yes" not in told.stdout
    wait_for_session(realm)
    kept = run_on_terminal(argv_of(realm, 0, "refresh"), typed="no\n")
    assert kept.code == GOOD and str(old[0]) in kept.output, kept
    assert "There is none of the new shares yet" in kept.output
    assert "Nothing was removed." in kept.output and old[0].exists()
    wait_for_session(realm)
    old.append(back_up(realm, 0))
    gone = run_on_terminal(argv_of(realm, 0, "refresh"), typed="yes\n")
    assert gone.code == GOOD and "2 removed." in gone.output, gone
    assert damaged.exists() and not any(one.exists() for one in old)
    wait_for_session(realm)
    new = back_up(realm, 0)
    pruned = tkdc(realm, 0, "refresh", "--prune")
    assert pruned.returncode == GOOD and "1 removed." in pruned.stdout, pruned.stdout
    assert "Type yes" not in pruned.stdout and not new.exists()
    wait_for_session(realm)
    none = tkdc(realm, 0, "refresh")
    assert none.returncode == GOOD and "no backup of before" in none.stdout
    wait_for_session(realm)


def test_stores_of_two_refresh_epochs_are_no_key(realm):
    """Files of two servers, stolen before and after; of what both hold either copy is tried."""
    whose = tuple(f"u{number}@{realm.name}" for number in range(2))
    before = [stolen(realm, party, "before") for party in range(3)]
    assert tkdc(realm, 0, "refresh").returncode == GOOD
    wait_for_session(realm)
    wait_until(lambda: len(set(refresh_epochs(realm))) == 1, SETTLED_S, "new shares")
    after = [stolen(realm, party, "after") for party in range(3)]
    keys = keys_of(realm, whose, before[0], before[1])
    assert len(keys) >= len(whose)
    for a, b in itertools.permutations(range(3), 2):
        for together in ((before[a], before[b]), (after[a], after[b])):
            assert keys_of(realm, whose, *together) == keys, "the control: of one epoch"
            assert keys_of(realm, whose, *together, "--anyhow") == keys
        for apart in ((before[a], after[b]), (after[a], before[b])):
            with pytest.raises(RealmError, match="different copies of a component"):
                keys_of(realm, whose, *apart)
            found = keys_of(realm, whose, *apart, "--anyhow")
            assert len(found) == len(keys) and not found & keys
    for copy in (*before, *after):
        shutil.rmtree(Path(copy).parent)


# A whole run takes each server at each of them, a minute longer: TKDC_TEST_KILLS=8.
PAUSES_S = (0.02, 0.25, 0.1, 0.3, 0.15, 0.4, 0.2, 0.6)
KILLS = int(os.environ.get("TKDC_TEST_KILLS", "2"))


@pytest.mark.parametrize("party", range(3))
def test_kill_9_leaves_all_or_none(realm, party):
    for pause_s in (PAUSES_S[2 * party:] + PAUSES_S[:2 * party])[:KILLS]:
        before = max(refresh_epochs(realm))
        asked = (party + 1) % 3
        assert tkdc(realm, asked, "refresh", "--background").returncode == GOOD
        time.sleep(pause_s)
        realm.daemons[f"server{party}"].kill()
        realm.start_server(party)
        # There is no session of servers whose stores are of different refreshes.
        wait_for_session(realm)
        log_in(realm, "u1")
        # What was asked is done in the end, by itself.
        request = realm.server_directory(asked) / "store" / "shares.request"
        wait_until(lambda one=request: not one.exists(), SETTLED_S, "a request that was done")
        wait_until(lambda: settled(realm), SETTLED_S, "the refresh's end")
        after = refresh_epochs(realm)
        assert len(set(after)) == 1 and after[0] > before
        log_in(realm, "u2")
    assert tkdc(realm, party, "shares", "audit").returncode == GOOD


def test_a_data_file_of_before_does_not_open_with_the_keys_of_after(realm):
    store = realm.server_directory(0) / "store"
    realm.daemons["server0"].stop()
    before, keys = (store / "data.mdb").read_bytes(), (store / "keys").read_bytes()
    realm.start_server(0)
    wait_for_session(realm)
    assert tkdc(realm, 1, "refresh").returncode == GOOD
    wait_until(lambda: settled(realm), SETTLED_S, "the refresh's end")

    def old_key_is_gone():
        now = (store / "keys").read_bytes()
        return now != keys and len(now) == len(keys)

    wait_until(old_key_is_gone, SETTLED_S, "the end of the old key")
    realm.daemons["server0"].stop()
    after = (store / "data.mdb").read_bytes()
    (store / "data.mdb").write_bytes(before)
    log = realm.logs / "server0.log"
    realm.start_server(0, wait=False)
    wait_until(lambda: "lacks the key that shares of this store are under" in log.read_text(),
               SETTLED_S, "why it does not start")
    realm.daemons["server0"].stop()
    (store / "data.mdb").write_bytes(after)
    realm.start_server(0)
    wait_for_session(realm)
    log_in(realm, "u3")


def test_what_a_session_has_begun_with_is_not_undone(realm):
    wait_until(lambda: all(one.get("session_up") for one in status(realm)), SETTLED_S, "a session")
    running = tkdc(realm, 0, "refresh", "--undo")
    assert running.returncode == FAILED and "in use" in running.stderr
    realm.daemons["server0"].stop()
    refused = tkdc(realm, 0, "refresh", "--undo")
    assert refused.returncode == FAILED and "a session has begun since" in refused.stderr
    realm.start_server(0)
    wait_for_session(realm)
    # Over the restart, and of an audit that another server was asked for.
    last = state_of(realm, 0)["last_audit"]
    assert last["audited"] > 4 and last["failed"] == last["without"] == 0
    log_in(realm, "u3")
