# SPDX-License-Identifier: Apache-2.0
"""A stock realm moves onto two servers while it is in use; a server is killed amid it. `make
migration SERVERS=2` is the same with 1,000 principals."""

import os
import signal
import subprocess
import threading
from functools import partial

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.integration.test_import import dump, is_handle, keys_and_rest, tkdc_import
from tests.support.keymaterial import string_to_key
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.rebuild_key import rebuild, stored
from tests.support.two_servers import servers_of

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="about moving from stock")]
PRINCIPALS = int(os.environ.get("TKDC_TEST_PRINCIPALS", "12"))
USERS = [f"user{number}" for number in range(PRINCIPALS)]
WAIT_S = 60.0


@pytest.fixture(scope="module")
def moved():
    """On two servers with its stock database as it was, and a ticket of before."""
    with new_realm(stock=True, kind=partial(Realm, servers=2)) as realm:
        for user in USERS:
            realm.kadmin_local(f'addprinc -pw "{password(user)}" {user}')
        realm.kadmin_local(f"addprinc -randkey {SERVICE}")
        realm.kadmin_local(f"ktadd -k {realm.keytab('service')} {SERVICE}")
        assert realm.client("before").kinit(USERS[0], password(USERS[0])).ok
        realm.stop()
        realm.put_tkdc_before_database()
        realm.start()
        yield realm
    remove(realm)


def password(user: str) -> str:
    return f"the password of {user}"


def plain_keys(realm: Realm) -> int:
    """That the database itself still holds, but for K/M's."""
    return sum(not is_handle(key) for name, fields in dump(realm, "look").items()
               if name.startswith("princ ") and "K/M@" not in name
               for key in keys_and_rest(fields)[0])


def keys_at(realm: Realm) -> list[int]:
    return [one.get("keys", -1) for one in servers_of(realm)]


class Logins(threading.Thread):
    """Of one user, over and over, until it is told to end."""

    def __init__(self, realm: Realm, user: str):
        super().__init__(daemon=True)
        self.realm, self.user = realm, user
        self.over, self.good, self.bad = threading.Event(), 0, []

    def run(self) -> None:
        client = self.realm.client("meanwhile")
        while not self.over.is_set():
            tried = client.kinit(self.user, password(self.user), timeout_s=60)
            self.good += tried.ok
            if not tried.ok:
                self.bad.append(tried.errors)


def test_a_killed_server_ends_the_import_and_another_run_goes_on(moved):
    done: list = []
    running = threading.Thread(target=lambda: done.append(tkdc_import(moved, "--parallel", "4")))
    running.start()
    wait_until(lambda: max(keys_at(moved)) >= PRINCIPALS // 2, WAIT_S, "some keys", pause_s=0.1)
    moved.signal("server1", signal.SIGKILL)
    running.join()
    assert done[0].code == 1, done[0].output
    moved.daemons["server1"].stop()
    moved.start_server(1)
    wait_until(lambda: keys_at(moved)[0] == keys_at(moved)[1], WAIT_S, "a session")
    assert 0 < keys_at(moved)[0] < 2 * len(USERS), "the control: it was amid it"
    assert plain_keys(moved) > 0
    client = moved.client("back")
    for user in (USERS[0], USERS[-1]):
        wait_until(lambda who=user: client.kinit(who, password(who), timeout_s=60).ok, WAIT_S,
                   f"a login of {user}")
    logins = Logins(moved, USERS[-1])
    logins.start()
    again = tkdc_import(moved, "--parallel", "4")
    if "run this again" in again.errors:  # server 0 alone had a key staged, and has given it up
        again = tkdc_import(moved)
    logins.over.set()
    logins.join()
    assert again.code == 0, again.output + again.errors
    assert logins.good > 0 and not logins.bad, logins.bad
    assert plain_keys(moved) == 0
    assert keys_at(moved)[0] == keys_at(moved)[1]


def test_the_same_passwords_and_no_others(moved):
    client = moved.client("all")
    for user in USERS:
        assert client.kinit(user, password(user), timeout_s=60).ok, user
    refused = moved.client("wrong").kinit(USERS[0], "another password")
    assert not refused.ok and "Password incorrect" in refused.errors, refused.errors


def test_what_the_servers_hold_is_what_the_database_had(moved):
    """From both stores together; and neither has a key by itself."""
    for user in (USERS[0], USERS[-1]):
        keys = {key.fields["key"] for key in rebuild(moved, f"{user}@{NAME}")}
        assert keys == {string_to_key(password(user), f"{NAME}{user}", octets)
                        for octets in (16, 32)}
    names = [set(stored(moved, party).values()) for party in range(2)]
    assert names[0] == names[1] and f"krbtgt/{NAME}@{NAME}" in names[0]


def test_tickets_and_keytabs_of_before(moved):
    before = moved.client("before")
    before.kvno_opened(moved.keytab("service"), SERVICE)
    assert moved.client("service").kinit_keytab(SERVICE, moved.keytab("service")).ok
    env = {name: value for name, value in moved.kdc_env().items() if name != "LD_PRELOAD"}
    done = subprocess.run([str(moved.bin / "tkdc"), "rotate", "krbtgt", "--now", "--purge"],
                          env=env, text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not before.kvno(f"kadmin/changepw@{NAME}").ok, "krbtgt's imported keys have gone"
    assert moved.client("all").kinit(USERS[0], password(USERS[0]), timeout_s=60).ok
