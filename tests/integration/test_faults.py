# SPDX-License-Identifier: Apache-2.0
"""One server away: the client gets a Kerberos error in time, nothing hangs, and everything
comes back when the server does, with no restart of the others, of the agents or of the KDC."""

import signal
import subprocess
import threading
import time

import pytest

from tests.integration.conftest import SERVICE
from tests.support.kerberos import find_program

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


class Load:
    """Keeps logging in from several clients; counts what came of it."""

    def __init__(self, realm, client, user, clients: int = 6):
        keytab = realm.keytab(f"load-{user.name}")
        if not keytab.exists():
            realm.kadmin_local(f"ktadd -k {keytab} {user.name}")
        self._user, self._keytab = user, keytab
        self._stop = threading.Event()
        self.ok, self.errors = 0, []
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(client(),))
                         for _ in range(clients)]

    def _run(self, client) -> None:
        while not self._stop.is_set():
            done = client.kinit_keytab(self._user.name, self._keytab, timeout_s=90)
            if done.ok:
                done = client.kvno(SERVICE, timeout_s=90)
            with self._lock:
                if done.ok:
                    self.ok += 1
                else:
                    self.errors.append(done.errors.strip())

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_exc) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(120)
        assert not any(t.is_alive() for t in self._threads), "a client hangs"

    def assert_no_wrong_answers(self) -> None:
        """An outage may cost logins; it never answers that a key or a password is wrong."""
        for error in self.errors:
            assert "Password incorrect" not in error, error
            assert "integrity check failed" not in error, error
            assert "not found in Kerberos database" not in error, error


def test_server_killed_under_load(realm, client, user, party, healthy):
    name = f"server{party}"
    with Load(realm, client, user) as load:
        time.sleep(1.0)
        realm.daemons[name].kill()
        time.sleep(0.5)
        realm.start_server(party)
        time.sleep(LOADED_S)
        before = load.ok
        time.sleep(LOADED_S)
        after = load.ok
    load.assert_no_wrong_answers()
    assert after > before, f"no login succeeded after {name} was back: {load.errors[-3:]}"
    healthy(restarted=(name,))


@pytest.mark.parametrize("role", ["kdc", "admin"])
def test_agent_restarted_under_load(realm, client, user, role, healthy):
    name = f"agent-{role}"
    with Load(realm, client, user) as load:
        time.sleep(1.0)
        realm.daemons[name].kill()
        realm.start_agent(role)
        time.sleep(LOADED_S)
        before = load.ok
        time.sleep(LOADED_S)
        after = load.ok
    load.assert_no_wrong_answers()
    assert after > before, f"no login succeeded after {name} was back: {load.errors[-3:]}"
    healthy(restarted=(name,))


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
