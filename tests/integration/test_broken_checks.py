# SPDX-License-Identifier: Apache-2.0
"""Sessions that are given up while messages are being verified: counted at the servers that the
other came back to without it, over restarts, shown with its number, and at a limit the server
stays down until its operator's `tkdc release`. An orderly stop under load costs logins a moment
and ends no opened check. Connections that are lost give nothing up: the session goes on.

One server is killed while users log in until a kill meets a check; then the network resets
connections.
"""

import json
import os
import random
import subprocess
import time

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.kerberos import Client, Outcome
from tests.support.load import Load
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.resetter import Resetter

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password of all the time"
COUNTING, KILLED = 0, 2
LIMIT = 3  # the least that a configuration may say
MOST_KILLS = 60
SESSION_S = 60.0
BUSY_S = 0.7  # until users log in again
RESETS = int(os.environ.get("TKDC_RESETS", "1000"))  # of TCP connections


@pytest.fixture(scope="module")
def breaking():
    realm = new_realm("BREAK.REALM")
    with realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
        realm.daemons[f"server{COUNTING}"].stop()
        config = realm.server_directory(COUNTING) / "tkdc.toml"
        config.write_text(config.read_text() + f"broken_checks_per_day = {LIMIT}\n")
        realm.start_server(COUNTING)
        yield realm
    remove(realm)


def counted_file(realm: Realm):
    return realm.server_directory(COUNTING) / "store" / "broken-checks"


def counted(realm: Realm) -> int:
    file = counted_file(realm)
    return len(file.read_text().splitlines()) if file.exists() else 0


def latch(realm: Realm):
    return realm.server_directory(COUNTING) / "store" / "latched"


def in_session(realm: Realm) -> bool:
    try:
        return all(server.get("session_up") for server in status(realm))
    except json.JSONDecodeError:  # a server is not there yet, and the agent waits for it
        return False


def load(realm: Realm, users: int = 6) -> Load:
    """Users who log in all the time. Which of their attempts fail is counted, whatever for."""
    def log_in(client: Client) -> Outcome:
        try:
            return client.kinit("lea", PASSWORD, timeout_s=10.0)
        except subprocess.TimeoutExpired as late:
            return Outcome(1, "", str(late))

    return Load([realm.client(f"load{number}") for number in range(users)], log_in)


def break_one(realm: Realm) -> int:
    """Kills a server while users log in until the other has counted one more; how many times."""
    before, kills = counted(realm), 0
    with load(realm):
        while counted(realm) == before and kills < MOST_KILLS:
            wait_until(lambda: in_session(realm), SESSION_S, "a session")
            time.sleep(BUSY_S)
            realm.daemons[f"server{KILLED}"].kill()
            kills += 1
            realm.start_server(KILLED)
            time.sleep(BUSY_S)
    assert counted(realm) == before + 1, f"{kills} kills met no check"
    return kills


def test_counted_shown_latched_released(breaking):
    realm = breaking
    now = int(time.time())
    # What was counted before: two a moment ago, many of earlier days, which no longer count.
    counted_file(realm).write_text("1000 1 0\n" * 20 + f"{now} 1 0\n" * (LIMIT - 1))
    realm.daemons[f"server{COUNTING}"].stop()
    assert counted(realm) == 20 + LIMIT - 1, "an orderly stop breaks no check"
    realm.start_server(COUNTING)
    wait_until(lambda: in_session(realm), SESSION_S, "a session")
    shown = status(realm)[COUNTING]
    assert shown["checks_broken"] == 20 + LIMIT - 1
    assert shown["checks_broken_with"].startswith(f"{20 + LIMIT - 1} since 1970-01-01T00:16:40Z (")

    kills = break_one(realm)
    wait_until(lambda: latch(realm).exists(), SESSION_S, "the latch")
    assert f"limits.broken_checks_per_day ({LIMIT})" in latch(realm).read_text()
    assert "sessions given up while messages were being verified" in \
        realm.daemons[f"server{COUNTING}"].log.read_text()
    lines = (realm.server_directory(COUNTING) / "audit.jsonl").read_text().splitlines()
    noted = [json.loads(line)["event"] for line in lines]
    assert len([event for event in noted if event.get("event") == "check broken"]) == 1
    print(f"{kills} kills under load broke a check")

    told = realm.tool("tkdc", "release", "--config",
                      str(realm.server_directory(COUNTING) / "tkdc.toml"))
    assert told.startswith("Released.")
    assert f"There were {20 + LIMIT} since" in told
    wait_until(lambda: in_session(realm), SESSION_S, "a session")
    wait_until(lambda: realm.client("after").kinit("lea", PASSWORD).ok, SESSION_S, "a login")
    assert status(realm)[COUNTING]["checks_broken"] == 0


def test_a_network_that_resets_connections_stops_nothing_for_good():
    """With the limits that the product sets. Each reset ends all connections of the session."""
    realm = new_realm("RESET.REALM")
    realm.limits = {}
    realm.create()
    pause = random.Random(20261123)
    with Resetter(realm) as network:
        try:
            realm.start()
            realm.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
            before = status(realm)
            breaks = 0
            with load(realm) as logins:
                while network.resets < RESETS:
                    breaks += network.reset(pause.choice([0, 1, 2, None])) > 0
                    time.sleep(pause.uniform(0.0, 0.2))
            client = realm.client("after")
            wait_until(lambda: client.kinit("lea", PASSWORD).ok, SESSION_S, "a login")
            after = status(realm)
        finally:
            realm.stop()
    print(f"{network.resets} resets, {breaks} breaks, {logins.ok} logins meanwhile, "
          f"{after[0]['reconnections']} reconnections")
    for earlier, later in zip(before, after, strict=True):
        assert later["checks_broken"] == 0, later["checks_broken_with"]
        assert later["sessions"] == earlier["sessions"], "a session was given up"
        assert later["reconnections"] >= breaks / 4
        assert later["epoch"] == earlier["epoch"]
    assert logins.ok > 0
    remove(realm)
