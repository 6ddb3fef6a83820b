# SPDX-License-Identifier: Apache-2.0
"""What makes zero-shares (data.zero_shares) is agreed: one server's wish, or no session."""

import pytest

from tests.integration.conftest import NAME, STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.process import wait_until

pytestmark = pytest.mark.skipif(STOCK, reason="looks behind the scenes")


def set_zero_shares(realm, party, value):
    config = realm.server_directory(party) / "tkdc.toml"
    lines = [line for line in config.read_text().splitlines()
             if not line.startswith("zero_shares")]
    assert lines.count("[data]") == 1
    lines.insert(lines.index("[data]") + 1, f'zero_shares = "{value}"')
    config.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def realm():
    made = new_realm(NAME)
    try:
        made.create()
        yield made
    finally:
        made.stop()
        remove(made)


def test_one_servers_wish_is_the_sessions_and_logins_go_on(realm):
    set_zero_shares(realm, 1, "chacha20")
    realm.start()
    assert {one["zero_shares"] for one in status(realm)} == {"chacha20"}
    realm.kadmin_local('addprinc -pw "a password of alice" alice')
    alice = realm.client("alice")
    done = alice.kinit("alice", "a password of alice")
    assert done.ok, done.errors
    assert not realm.client("bob").kinit("alice", "another password").ok
    assert all(one["jobs_failed"] == 0 for one in status(realm))


def test_a_wish_against_another_makes_no_session_and_is_named(realm):
    realm.daemons["server2"].stop()
    set_zero_shares(realm, 2, "aes-ctr")
    realm.start_server(2, wait=False)

    def named():
        log = "".join(realm.daemons[f"server{party}"].log.read_text(errors="replace")
                      for party in range(3))
        return ("has zero-shares by 'aes-ctr', this server 'chacha20'" in log or
                "has zero-shares by 'chacha20', this server 'aes-ctr'" in log)
    wait_until(named, 30, "both values in a server's log")
    assert not any(one["session_up"] for one in status(realm))

    realm.daemons["server1"].stop()
    set_zero_shares(realm, 1, "auto")
    realm.start_server(1)
    wait_until(lambda: all(one.get("session_up") for one in status(realm)), 60, "a session")
    assert {one["zero_shares"] for one in status(realm)} == {"aes-ctr"}
    done = realm.client("carol").kinit("alice", "a password of alice")
    assert done.ok, done.errors
