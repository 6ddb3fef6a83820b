# SPDX-License-Identifier: Apache-2.0
"""Sessions that end while messages are being verified: counted at the servers that lost the other,
over restarts, shown with its number, and at a limit the server stays down until its operator's
`tkdc release`. An orderly stop under load costs logins a moment and ends no opened check.

One server is killed again and again while users log in: so a kill meets a check soon.
"""

import json
import threading

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.process import wait_until
from tests.support.realm import Realm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password of all the time"
COUNTING, KILLED = 0, 2
LIMIT = 3  # the least that a configuration may say
MOST_KILLS = 60
SESSION_S = 60.0


@pytest.fixture(scope="module")
def breaking():
    realm = new_realm("BREAK.REALM")
    with realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
        realm.daemons[f"server{COUNTING}"].stop()
        config = realm.server_directory(COUNTING) / "tkdc.toml"
        config.write_text(config.read_text() + f"\n[limits]\nbroken_checks_per_day = {LIMIT}\n")
        realm.start_server(COUNTING)
        yield realm
    remove(realm)


def counted(realm: Realm) -> int:
    file = realm.server_directory(COUNTING) / "store" / "broken-checks"
    return len(file.read_text().splitlines()) if file.exists() else 0


def latch(realm: Realm):
    return realm.server_directory(COUNTING) / "store" / "latched"


def in_session(realm: Realm) -> bool:
    return all(server.get("session_up") for server in status(realm))


class Load:
    """Users who log in all the time, whatever comes of it."""

    def __init__(self, realm: Realm):
        self.realm, self.over, self.threads = realm, threading.Event(), []

    def __enter__(self):
        for number in range(6):
            self.threads.append(threading.Thread(target=self._log_in, args=(number,)))
            self.threads[-1].start()
        return self

    def _log_in(self, number: int) -> None:
        while not self.over.is_set():
            self.realm.client(f"load{number}").kinit("lea", PASSWORD, timeout_s=5.0)

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def test_counted_shown_latched_released(breaking):
    realm = breaking
    kills = 0
    with Load(realm):
        while not latch(realm).exists() and kills < MOST_KILLS:
            wait_until(lambda: in_session(realm) or latch(realm).exists(), SESSION_S, "a session")
            before = counted(realm)
            assert before < LIMIT
            if before == 1:
                shown = status(realm)[COUNTING]
                assert shown["checks_broken"] == 1
                assert f"with server {KILLED}" in shown["checks_broken_with"] or \
                    "with no one server" in shown["checks_broken_with"]
                # A restart forgets nothing, and an orderly one breaks no check of its own.
                realm.daemons[f"server{COUNTING}"].stop()
                assert counted(realm) == before
                realm.start_server(COUNTING)
                wait_until(lambda: in_session(realm), SESSION_S, "a session")
            realm.daemons[f"server{KILLED}"].kill()
            kills += 1
            realm.start_server(KILLED)
    assert latch(realm).exists(), f"{kills} kills under load met {counted(realm)} checks"
    reason = latch(realm).read_text()
    assert f"limits.broken_checks_per_day ({LIMIT})" in reason
    assert counted(realm) == LIMIT
    assert "sessions that ended while messages were being verified" in \
        realm.daemons[f"server{COUNTING}"].log.read_text()
    lines = (realm.server_directory(COUNTING) / "audit.jsonl").read_text().splitlines()
    noted = [json.loads(line)["event"] for line in lines]
    assert len([event for event in noted if event.get("event") == "check broken"]) == LIMIT
    print(f"{kills} kills under load broke {LIMIT} checks")

    told = realm.tool("tkdc", "release", "--config",
                      str(realm.server_directory(COUNTING) / "tkdc.toml"))
    assert told.startswith("Released.")
    assert f"There were {LIMIT} since" in told
    wait_until(lambda: in_session(realm), SESSION_S, "a session")
    wait_until(lambda: realm.client("after").kinit("lea", PASSWORD).ok, SESSION_S, "a login")
    assert status(realm)[COUNTING]["checks_broken"] == 0
