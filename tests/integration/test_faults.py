# SPDX-License-Identifier: Apache-2.0
"""One server away: the client gets a Kerberos error in time, nothing hangs, and everything
comes back when the server does, with no restart of the others, of the agents or of the KDC."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable

import pytest

from tests.integration.conftest import SERVICE
from tests.support.kerberos import Client, Outcome, find_program
from tests.support.load import Load

pytestmark = pytest.mark.behind

CLIENT_DEADLINE_S = 60  # kinit's own tries, then it gives up
LOADED_S = 4.0


@pytest.fixture(params=[0, 1, 2], ids=["leader", "server 1", "server 2"])
def party(request) -> int:
    return request.param


def assert_refused_in_time(outcome, began: float) -> None:
    assert not outcome.ok, "a login succeeded with a server away"
    assert time.monotonic() - began < CLIENT_DEADLINE_S
    assert "Password incorrect" not in outcome.errors, "an outage must not look like a wrong key"
    assert "kinit:" in outcome.errors


def test_server_stopped_before_a_login(realm, client, shared_user, party, healthy):
    name = f"server{party}"
    realm.signal(name, signal.SIGSTOP)
    try:
        began = time.monotonic()
        done = client().kinit(shared_user.name, shared_user.password, timeout_s=CLIENT_DEADLINE_S)
    finally:
        realm.signal(name, signal.SIGCONT)
    assert_refused_in_time(done, began)
    healthy()


def test_server_killed_and_restarted(realm, client, shared_user, party, healthy):
    name = f"server{party}"
    realm.daemons[name].kill()
    began = time.monotonic()
    done = client().kinit(shared_user.name, shared_user.password, timeout_s=CLIENT_DEADLINE_S)
    assert_refused_in_time(done, began)
    realm.start_server(party)
    healthy(restarted=(name,))


def test_server_restarted_at_once(realm, party, healthy):
    """As an upgrade does: the servers' attempts at a new session must not chase each other."""
    for _ in range(2):
        realm.daemons[f"server{party}"].stop()
        realm.start_server(party)
        healthy(restarted=(f"server{party}",))


def test_client_waits_out_a_short_stop(realm, client, shared_user, party, healthy):
    """Stopped during the login and back after a second: the client's own retry succeeds."""
    name = f"server{party}"
    realm.signal(name, signal.SIGSTOP)
    timer = threading.Timer(1.0, lambda: realm.signal(name, signal.SIGCONT))
    timer.start()
    try:
        done = client().kinit(shared_user.name, shared_user.password, timeout_s=CLIENT_DEADLINE_S)
    finally:
        timer.join()
    assert done.ok, done.errors
    healthy()


@pytest.fixture
def logins(realm, client, user) -> Load:
    """Of six clients with a keytab."""
    keytab = realm.keytab(f"load-{user.name}")
    realm.kadmin_local(f"ktadd -k {keytab} {user.name}")

    def log_in(one: Client) -> Outcome:
        done = one.kinit_keytab(user.name, keytab, timeout_s=90)
        return one.kvno(SERVICE, timeout_s=90) if done.ok else done

    return Load([client() for _ in range(6)], log_in)


def killed_under_load(realm, logins: Load, name: str, start: Callable[[], object]) -> None:
    """This program is killed and started while clients log in: they can again."""
    with logins:
        time.sleep(1.0)
        realm.daemons[name].kill()
        start()
        time.sleep(LOADED_S)
        before = logins.ok
        time.sleep(LOADED_S)
        after = logins.ok
    logins.assert_no_wrong_answers()
    assert after > before, f"no login succeeded after {name} was back: {logins.errors[-3:]}"


def test_server_killed_under_load(realm, logins, party, healthy):
    def start() -> None:
        time.sleep(0.5)
        realm.start_server(party)

    killed_under_load(realm, logins, f"server{party}", start)
    healthy(restarted=(f"server{party}",))


@pytest.mark.parametrize("role", ["kdc", "admin"])
def test_agent_restarted_under_load(realm, logins, role, healthy):
    killed_under_load(realm, logins, f"agent-{role}", lambda: realm.start_agent(role))
    healthy(restarted=(f"agent-{role}",))


def test_agent_stopped_cleanly_leaves_a_kerberos_error(realm, client, shared_user, healthy):
    realm.daemons["agent-kdc"].stop()
    began = time.monotonic()
    done = client().kinit(shared_user.name, shared_user.password, timeout_s=CLIENT_DEADLINE_S)
    realm.start_agent("kdc")
    assert_refused_in_time(done, began)
    healthy(restarted=("agent-kdc",))


def test_outage_locks_nobody_out(realm, client, healthy):
    """Operations lost to an outage count as no wrong password."""
    realm.kadmin_local("addpol -maxfailure 2 -failurecountinterval 1h two-tries")
    realm.kadmin_local('addprinc -policy two-tries -pw "right password" innocent')
    realm.signal("server1", signal.SIGSTOP)
    try:
        for _ in range(2):
            client().kinit("innocent", "right password", timeout_s=CLIENT_DEADLINE_S)
    finally:
        realm.signal("server1", signal.SIGCONT)
    healthy()
    assert client().kinit("innocent", "right password").ok


def test_admin_tool_fails_in_time(realm, healthy):
    """kadmin.local blocks, with a deadline; the principal is not left half made."""
    realm.signal("server2", signal.SIGSTOP)
    began = time.monotonic()
    try:
        done = subprocess.run(
            [find_program("kadmin.local"), "-q", "addprinc -randkey host/outage.test"],
            env=realm.kdc_env(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=180, check=False)
    finally:
        realm.signal("server2", signal.SIGCONT)
    assert time.monotonic() - began < 150
    assert "created" not in done.stdout
    assert "add_principal" in done.stderr, done.stderr
    healthy()
    realm.kadmin_local("addprinc -randkey host/outage.test")
