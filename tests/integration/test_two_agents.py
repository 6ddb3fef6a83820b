# SPDX-License-Identifier: Apache-2.0
"""Two agents at once: logins through one while keys are made and removed through the other."""

import threading

import pytest

from tests.integration.conftest import SERVICE
from tests.support.rebuild_key import stored

pytestmark = pytest.mark.behind

PRINCIPALS = 8


def test_logins_while_keys_are_made(realm, client, shared_user, healthy):
    stop = threading.Event()
    logins, failures = [], []

    def log_in() -> None:
        alice = client()
        while not stop.is_set():
            done = alice.kinit(shared_user.name, shared_user.password)
            if done.ok:
                done = alice.kvno(SERVICE)
            (logins if done.ok else failures).append(done.errors)

    threads = [threading.Thread(target=log_in) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(PRINCIPALS):
            name = f"host/busy{number}.test"
            realm.kadmin_local(f"addprinc -randkey {name}")
            realm.kadmin_local(f"ktadd -k {realm.keytab('busy')} {name}")
            realm.kadmin_local(f"delprinc -force {name}")
    finally:
        stop.set()
        for thread in threads:
            thread.join(90)
    assert not any(thread.is_alive() for thread in threads)
    assert logins
    assert not failures, failures[:3]
    assert not [p for p in stored(realm, 0).values() if p.startswith("host/busy")]
    healthy()


def test_both_agents_see_three_servers(realm):
    for role in ("kdc", "admin"):
        config = realm.installation / f"agent-{role}" / "agent.toml"
        shown = realm.tool("tkdc", "status", "--config", str(config))
        assert "healthy" in shown
        assert "security: malicious" in shown
