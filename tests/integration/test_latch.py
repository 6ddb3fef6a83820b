# SPDX-License-Identifier: Apache-2.0
"""A server that computes wrongly: no login succeeds by it, whoever saw it stays latched, over a
restart too, until its operator says `tkdc release`; then everything is as before.

The deviating server is the installed program with tests/support/deviate between it and OpenSSL.
"""

import json
import re
import stat
import subprocess
import time

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.monitoring import doctors, metrics
from tests.support.process import wait_until
from tests.support.realm import Realm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password of all the time"
DEVIATING = 1
REFUSED_S = 60.0
NOTICED_S = 30.0


@pytest.fixture(scope="module")
def latching():
    realm = new_realm("LATCH.REALM")
    realm.server_env[DEVIATING] = {"LD_PRELOAD": str(realm.bin / "deviate.so"),
                                   "TKDC_TEST_DEVIATE": str(trigger(realm))}
    with realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
        yield realm
    remove(realm)


def trigger(realm: Realm):
    return realm.directory / "deviate"


def latch(realm: Realm, party: int):
    return realm.server_directory(party) / "store" / "latched"


def latched(realm: Realm) -> list[int]:
    return [party for party in range(3) if latch(realm, party).exists()]


def log(realm: Realm, party: int) -> str:
    return realm.daemons[f"server{party}"].log.read_text()


def events(realm: Realm, party: int, name: str) -> list[dict]:
    lines = (realm.server_directory(party) / "audit.jsonl").read_text().splitlines()
    found = [json.loads(line)["event"] for line in lines]
    return [event for event in found if event.get("event") == name]


def release(realm: Realm, party: int) -> str:
    return realm.tool("tkdc", "release", "--config",
                      str(realm.server_directory(party) / "tkdc.toml"))


def log_in(realm: Realm, name: str):
    return realm.client(name).kinit("lea", PASSWORD, timeout_s=REFUSED_S)


def assert_refused_in_time(realm: Realm, name: str) -> None:
    began = time.monotonic()
    done = log_in(realm, name)
    assert not done.ok, "a login succeeded with a server latched"
    assert time.monotonic() - began < REFUSED_S
    assert "Cannot contact any KDC" in done.errors, done.errors


def assert_status_says(realm: Realm, party: int, reason: str) -> None:
    wait_until(lambda: status(realm)[party].get("latched") == reason, NOTICED_S, "the status")
    servers = status(realm)
    assert not any(server["session_up"] for server in servers)
    done = subprocess.run([str(realm.bin / "tkdc"), "status", "--socket",
                           str(realm.agent_socket("kdc"))], env=realm.env(), text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"server {party}: latched: {reason}" in done.stdout
    assert "tkdc release" in done.stdout


def assert_all_is_well(realm: Realm, name: str) -> None:
    wait_until(lambda: all(server["session_up"] for server in status(realm)), NOTICED_S,
               "a session")
    wait_until(lambda: log_in(realm, name).ok, NOTICED_S, "a login")
    assert not any("latched" in server for server in status(realm))


def test_a_deviation_latches_until_the_operators_release(latching):
    realm = latching
    assert_all_is_well(realm, "before")
    sessions = [server["sessions"] for server in status(realm)]
    trigger(realm).touch()
    assert_refused_in_time(realm, "during")
    assert not trigger(realm).exists(), "the server has not deviated"

    saw = latched(realm)
    assert saw, "no server latched"
    reasons = {party: latch(realm, party).read_text().rstrip("\n") for party in saw}
    for party, reason in reasons.items():
        assert re.match(r"lane \d+, cohorts up to \d+, round \d+: ", reason)
        assert not re.search(r"\b(party|server) [012]", reason), "nobody can tell who it was"
        assert stat.S_IMODE(latch(realm, party).stat().st_mode) == 0o600
        assert events(realm, party, "latched") == [{"event": "latched", "reason": reason}]
        assert f"a server computed wrongly: {reason}" in log(realm, party)
        assert "tkdc release" in log(realm, party)
        assert_status_says(realm, party, reason)
    for party in set(range(3)) - set(saw):
        assert not events(realm, party, "latched")
    assert metrics(realm, "tkdc_server_latched") == [{str(party): float(party in saw)
                                                      for party in range(3)}]
    found = doctors(realm, "--socket", str(realm.agent_socket("kdc")))["session"]
    assert found["state"] == "wrong" and f"server {saw[0]} is latched: " in found["text"], found
    assert "tkdc release" in found["remedy"]

    # No new session, whatever is restarted, and no key is made meanwhile.
    realm.daemons[f"server{saw[0]}"].stop()
    realm.start_server(saw[0])
    assert_status_says(realm, saw[0], reasons[saw[0]])
    made = realm.try_admin_tool("kadmin.local", "-q", "addprinc -randkey host/latched.test")
    assert "created" not in made.output
    assert "no answer of all three servers" in made.errors, made.errors
    assert [server["sessions"] for server in status(realm) if server["party"] != saw[0]] == \
        [count for party, count in enumerate(sessions) if party != saw[0]]

    for party in saw:
        told = release(realm, party)
        assert told.startswith("Released.")
        assert reasons[party] in told
    assert_all_is_well(realm, "after")
    assert metrics(realm, "tkdc_server_latched") == [{"0": 0, "1": 0, "2": 0}]
    assert "session" not in doctors(realm, "--socket", str(realm.agent_socket("kdc")))
    for party in saw:
        assert events(realm, party, "released") == [{"event": "released"}]
        assert "the latch was released" in log(realm, party)
        assert release(realm, party).startswith("This server is not latched")
    realm.kadmin_local("addprinc -randkey host/latched.test")


def test_one_server_latched_before_its_start_stops_all_three(latching):
    """As after a restart of its host; the two others saw nothing."""
    realm, party = latching, 2
    assert_all_is_well(realm, "well")
    # One cause is logged once a minute: what the others say may come while it stops.
    logged = [len(log(realm, one)) for one in range(3)]
    realm.daemons[f"server{party}"].stop()
    logged[party] = len(log(realm, party))
    reason = "lane 0, cohorts up to 7, round 40: the verification failed"
    latch(realm, party).write_text(reason + "\n")
    released = len(events(realm, party, "released"))
    realm.start_server(party)
    assert_status_says(realm, party, reason)
    said = log(realm, party)[logged[party]:]
    assert f"latched: {reason}" in said
    assert "tkdc release" in said
    # The others wait for it, and say so.
    for other in {0, 1, 2} - {party}:
        wait_until(lambda one=other: "no session: " in log(realm, one)[logged[one]:], NOTICED_S,
                   f"server {other}'s word")
    assert release(realm, party).startswith("Released.")
    assert_all_is_well(realm, "released")
    assert len(events(realm, party, "released")) == released + 1
