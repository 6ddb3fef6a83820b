# SPDX-License-Identifier: Apache-2.0
"""Servers that make masks while they are idle (data.masked_blocks): logins and tickets as ever."""

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.process import wait_until

pytestmark = pytest.mark.skipif(STOCK, reason="looks behind the scenes")

BLOCKS = 64


@pytest.fixture(scope="module")
def masked():
    realm = new_realm(NAME)
    try:
        realm.create()
        for party in range(3):
            realm.set_data(party, "masked_blocks", str(BLOCKS))
        realm.start()
        realm.kadmin_local(f"addprinc -randkey {SERVICE}")
        realm.kadmin_local('addprinc -pw "a password of alice" alice')
        yield realm
    finally:
        realm.stop()
        remove(realm)


def test_logins_and_tickets_by_masks(masked):
    def full():
        # Two lanes; a state's masks for each of 14 rounds.
        return all(one["masks_held"] == 2 * 14 * BLOCKS for one in status(masked))
    wait_until(full, 60, "masks at all three servers")
    before = [one["masked_blocks"] for one in status(masked)]
    for number in range(3):
        alice = masked.client(f"alice{number}")
        done = alice.kinit("alice", "a password of alice")
        assert done.ok, done.errors
        assert alice.kvno(SERVICE).ok
    wait_until(lambda: all(one["masked_blocks"] > was
                           for one, was in zip(status(masked), before, strict=True)),
               60, "blocks by masks")
    assert not masked.client("bob").kinit("alice", "another password").ok
    assert all(one["jobs_failed"] == 0 for one in status(masked))
