# SPDX-License-Identifier: Apache-2.0
"""A refresh in which a server ends at a step, each of the three at each of them: the two others and
the one that starts anew come to new shares at all three, by themselves, and users log in. The steps
are the store's own (mpc-engine/service/store/refresh_table.h); real processes end there as by
kill -9 (tests/support/stop_at.py)."""

import os
import signal
import time

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_refresh import refresh_epochs, settled, tkdc
from tests.integration.test_shares import (
    GOOD,
    PASSWORD,
    SETTLED_S,
    count,
    log_in,
    restart,
    shares,
    turn_on,
    wait_for_session,
)
from tests.support.process import wait_until
from tests.support.rebuild_key import rebuild
from tests.support.stop_at import Step, end_at

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
USERS = 6
# When a session has begun, what is left of the refresh before it is tidied away.
TIDIED_S = 1.0
STEPS = (
    Step("RecordStore::begin"),
    Step("RecordStore::write_epoch_keys"),  # of the new epoch
    Step("RecordStore::write_epoch_keys", after=True),
    Step("RecordStore::begin", after=True),
    Step("ShareMacs::make_next_key"),
    Step("ShareMacs::make_next_key", after=True),
    Step("common_seed"),
    Step("RecordStore::add"),
    Step("RecordStore::add", after=True),
    Step("RecordStore::prepare_refresh"),
    Step("RecordStore::prepare_refresh", after=True),
    Step("RecordStore::commit_to"),
    Step("RecordStore::commit_to", after=True),
    Step("RecordStore::switch_over"),
    Step("RecordStore::switch_over", after=True),  # in memory, too
    Step("RecordStore::begun_with"),  # the next session
    Step("RecordStore::begun_with", after=True),
    Step("RecordStore::drop_epoch_keys"),  # shares of before are gone, their key is not
    Step("RecordStore::drop_epoch_keys", after=True),
)
# Each server at each step takes minutes: TKDC_TEST_KILLS=8. Otherwise each step has one of them.
EACH = int(os.environ.get("TKDC_TEST_KILLS", "2")) > 2
PLAYED = [(party, step) for number, step in enumerate(STEPS) for party in range(3)
          if EACH or party == number % 3]


@pytest.fixture(scope="module")
def realm():
    made = new_realm("STEPS.REALM")
    with made:
        for party in range(3):
            turn_on(made, party)
            restart(made, party)
        for number in range(USERS):
            made.kadmin_local(f'addprinc -pw "{PASSWORD}" u{number}')
        yield made
    remove(made)


def keys(realm, parties: tuple[int, int]) -> dict[str, bytes]:
    """As two of the stores have them."""
    return {f"u{number}, {one.enctype}": one.fields["key"] for number in range(USERS)
            for one in rebuild(realm, f"u{number}@{realm.name}", parties)}


@pytest.mark.parametrize(("party", "step"), PLAYED, ids=lambda one: str(one))
def test_all_three_or_none(realm, party, step):
    wait_until(lambda: settled(realm), SETTLED_S, "a session at rest")
    time.sleep(TIDIED_S)
    before, made = refresh_epochs(realm), keys(realm, (0, 1))
    assert len(set(before)) == 1 and len(made) == 2 * USERS
    server, asked = realm.daemons[f"server{party}"], (party + 1) % 3
    end_at(server.pid, step)
    assert tkdc(realm, asked, "refresh", "--background").returncode == GOOD
    wait_until(lambda: not server.running(), SETTLED_S, f"the end {step}")
    assert server.process.returncode == -signal.SIGTRAP
    realm.start_server(party)
    wait_for_session(realm)
    log_in(realm, "u1")
    request = realm.server_directory(asked) / "store" / "shares.request"
    wait_until(lambda: not request.exists(), SETTLED_S, "a request that was done")
    wait_until(lambda: settled(realm), SETTLED_S, "the refresh's end")
    after = refresh_epochs(realm)
    assert len(set(after)) == 1 and after[0] > before[0]
    log_in(realm, "u2")
    audited = shares(realm, party, "audit")
    assert audited.returncode == GOOD, audited.stdout
    assert count(audited, "audited") >= 2 * USERS, audited.stdout
    for parties in ((0, 1), (1, 2), (2, 0)):
        assert keys(realm, parties) == made, "a record that is half refreshed"


def test_a_step_that_is_not_reached_ends_nobody(realm):
    """The control: it is the step that ends a server, not the writing of it."""
    wait_until(lambda: settled(realm), SETTLED_S, "a session at rest")
    time.sleep(TIDIED_S)
    end_at(realm.daemons["server0"].pid, Step("RecordStore::undo_refresh"))
    log_in(realm, "u0")
    assert realm.daemons["server0"].running()
    realm.daemons["server0"].stop()
    realm.start_server(0)
    wait_for_session(realm)
