# SPDX-License-Identifier: Apache-2.0
"""Two agents at once: logins through one while keys are made and removed through the other."""

import pytest

from tests.support.rebuild_key import stored

pytestmark = pytest.mark.behind

PRINCIPALS = 8


def test_logins_while_keys_are_made(realm, shared_logins, healthy):
    with shared_logins(4) as logins:
        for number in range(PRINCIPALS):
            name = f"host/busy{number}.test"
            realm.kadmin_local(f"addprinc -randkey {name}")
            realm.kadmin_local(f"ktadd -k {realm.keytab('busy')} {name}")
            realm.kadmin_local(f"delprinc -force {name}")
    assert logins.ok > 0
    assert not logins.errors, logins.errors[:3]
    assert not [p for p in stored(realm, 0).values() if p.startswith("host/busy")]
    healthy()


def test_both_agents_see_three_servers(realm):
    for role in ("kdc", "admin"):
        config = realm.installation / f"agent-{role}" / "agent.toml"
        shown = realm.tool("tkdc", "status", "--config", str(config))
        assert "healthy" in shown
        assert "security: malicious" in shown
