# SPDX-License-Identifier: Apache-2.0
"""Nonce epochs begun anew by the three administrators: no two servers of different eras meet,
krbtgt's versions of before open and do not seal, a new version serves."""

import json
import subprocess

import pytest

from tests.integration.conftest import SERVICE, STOCK, new_realm, remove
from tests.integration.test_breach import rotate, status
from tests.support.process import wait_until

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password of both eras"
SOON_S = 30.0


@pytest.fixture(scope="module")
def realm():
    with new_realm("EPOCH.REALM") as running:
        running.kadmin_local(f'addprinc -pw "{PASSWORD}" eva')
        running.kadmin_local(f"addprinc -randkey {SERVICE}")
        yield running
    remove(running)


def epochs(realm, party: int, *options: str) -> subprocess.CompletedProcess:
    config = realm.server_directory(party) / "tkdc.toml"
    return subprocess.run([str(realm.bin / "tkdc"), "epochs", "--config", str(config), *options],
                          env=realm.env(), text=True, capture_output=True, timeout=60, check=False)


def stop_servers(realm) -> None:
    for party in range(3):
        realm.daemons[f"server{party}"].stop()


def start_servers(realm) -> None:
    for party in range(3):
        realm.start_server(party, wait=False)


def in_session(realm) -> bool:
    """As both agents see it: each has to notice that the servers are back."""
    return all(subprocess.run([str(realm.bin / "tkdc"), "status", "--socket",
                               str(realm.agent_socket(role))], env=realm.env(), timeout=60,
                              capture_output=True, check=False).returncode == 0
               for role in ("kdc", "admin"))


def test_epochs_begun_anew(realm):
    holder = realm.client("holder")
    assert holder.kinit("eva", PASSWORD).ok
    shown = status(realm)
    assert all(server["epoch_era"] == 0 and server["epochs_spent"] >= 1 for server in shown)
    running = epochs(realm, 0)
    assert running.returncode == 1
    assert "needs the server stopped" in running.stderr

    stop_servers(realm)
    asked = epochs(realm, 0, "begin-anew")
    assert asked.returncode == 2
    assert "--era 1 --now" in asked.stdout
    assert "era 0" in epochs(realm, 0).stdout
    wrong = epochs(realm, 0, "begin-anew", "--era", "2", "--now")
    assert wrong.returncode == 1 and "--era 1 is the next one" in wrong.stderr

    # One alone: no session, and both neighbours say why.
    for _ in range(2):
        assert epochs(realm, 0, "begin-anew", "--era", "1", "--now").returncode == 0
    assert "era 1, epoch 0 used" in epochs(realm, 0).stdout
    start_servers(realm)
    wait_until(lambda: any("has nonce era" in server.get("trouble", "")
                           for server in status(realm)), SOON_S, "the disagreement")
    assert not in_session(realm)
    stop_servers(realm)
    for party in (1, 2):
        assert epochs(realm, party, "begin-anew", "--era", "1", "--now").returncode == 0
    start_servers(realm)
    wait_until(lambda: in_session(realm), SOON_S, "a session")
    assert [server["epoch"] for server in status(realm)] == [1, 1, 1]

    # The ticket of before is opened; none is sealed under its version.
    assert holder.kvno(SERVICE).ok
    refused = realm.client("refused").kinit("eva", PASSWORD)
    assert not refused.ok
    done = rotate(realm, "--now")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: realm.client("after").kinit("eva", PASSWORD).ok, SOON_S, "a login")
    lines = (realm.server_directory(0) / "audit.jsonl").read_text().splitlines()
    last = [event for event in (json.loads(line)["event"] for line in lines)
            if event.get("event") == "session"][-1]
    assert (last["era"], last["epoch"]) == (1, 1)


def test_a_server_that_is_behind_is_raised(realm):
    stop_servers(realm)
    assert epochs(realm, 1, "raise", "--to", "1", "--now").returncode == 1
    told = epochs(realm, 1, "raise", "--to", "900")
    assert told.returncode == 2 and "Nothing was changed" in told.stdout
    assert epochs(realm, 1, "raise", "--to", "900", "--now").returncode == 0
    start_servers(realm)
    wait_until(lambda: any("more than 36 ahead is not believed" in server.get("trouble", "")
                           for server in status(realm)), SOON_S, "the refusal")
    stop_servers(realm)
    assert epochs(realm, 2, "raise", "--to", "900", "--now").returncode == 0
    start_servers(realm)
    wait_until(lambda: in_session(realm), SOON_S, "a session")
    assert [server["epoch"] for server in status(realm)] == [901, 901, 901]
    assert [server["epochs_spent"] <= 3 for server in status(realm)] == [True] * 3
