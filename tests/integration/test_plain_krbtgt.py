# SPDX-License-Identifier: Apache-2.0
"""A realm whose database still has krbtgt's key itself: users log in, the servers have nothing to
do with it, and status and reconcile say so, with what mends it."""

import json
import subprocess

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_reconcile import reconcile, status, tools_env

pytestmark = pytest.mark.skipif(STOCK, reason="about moving from stock to tkdc")
PASSWORD = "a password of before"


@pytest.fixture(scope="module", name="realm")
def fixture_realm():
    """A stock one, before which the module was put."""
    with new_realm("PLAIN.REALM", stock=True) as made:
        made.kadmin_local(f'addprinc -pw "{PASSWORD}" pia')
        made.stop()
        made.put_tkdc_before_database()
        made.start()
        yield made
    remove(made)


def test_it_is_said_and_mended_as_it_says(realm):
    assert realm.client("before").kinit("pia", PASSWORD).ok
    alone = reconcile(realm, "--krbtgt")
    assert alone.code == 2 and alone.output.startswith("PLAIN: "), alone
    assert "No server holds it" in alone.output and "tkdc rotate krbtgt --now" in alone.output
    assert "the servers hold krbtgt" not in alone.output
    shown = status(realm)
    assert shown.code == 0 and "krbtgt's newest key is in the database itself" in shown.output
    told = json.loads(status(realm, "--json").output)
    assert told["krbtgt_held"] is False and "tkdc import" in told["database_warning"], told
    rotated = subprocess.run([str(realm.bin / "tkdc"), "rotate", "krbtgt", "--now"],
                             env=tools_env(realm), text=True, capture_output=True, timeout=60,
                             check=False)
    assert rotated.returncode == 0, rotated.stderr
    alone = reconcile(realm, "--krbtgt")
    assert alone.code == 0 and "the servers hold krbtgt's newest key" in alone.output, alone
    assert "database_warning" not in json.loads(status(realm, "--json").output)
    assert realm.client("after").kinit("pia", PASSWORD).ok
