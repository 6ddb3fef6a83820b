# SPDX-License-Identifier: Apache-2.0
"""tkdc in front of MIT's other database modules: klmdb, on LMDB, and kldap, on an LDAP server.

Debian 12 has no package of klmdb: ./bootstrap --test builds it where its source can be had.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, free_base_port
from tests.support.databases import KLMDB, KldapRealm, KlmdbRealm
from tests.support.export import Approvers, restore, tkdc_export
from tests.support.process import RealmError
from tests.support.realm import Realm
from tests.support.rebuild_key import rebuild

SERVICE = "host/moved.test"

pytestmark = pytest.mark.behind
needs_klmdb = pytest.mark.skipif(
    not (KLMDB / "klmdb.so").exists(),
    reason="klmdb.so could not be built: see ./bootstrap --test")


@pytest.fixture
def make():
    """A realm of one of the kinds."""
    made = []

    def build(kind: type[Realm], stock: bool) -> Realm:
        directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
        made.append(directory)
        return kind(directory, NAME, free_base_port(), stock=stock)

    yield build
    for directory in made:
        shutil.rmtree(directory, ignore_errors=True)


def populate(realm: Realm) -> None:
    realm.kadmin_local("addpol -history 2 -maxfailure 3 remembers")
    realm.kadmin_local('addprinc -policy remembers -pw "password 0" alice')
    realm.kadmin_local('cpw -pw "password a" alice')
    realm.kadmin_local(f"addprinc -randkey {SERVICE}")
    realm.kadmin_local(f"ktadd -k {realm.keytab('service')} {SERVICE}")


def assert_in_use(realm: Realm, password: str) -> None:
    alice = realm.client("alice")
    assert alice.kinit("alice", password).ok
    alice.kvno_opened(realm.keytab("service"), SERVICE)
    assert not alice.kinit("alice", "a wrong password").ok
    assert realm.client("service").kinit_keytab(SERVICE, realm.keytab("service")).ok


def move(realm: Realm) -> Approvers:
    """As docs/operations.md says for a database without a lock: without kadmind."""
    realm.stop()
    realm.put_tkdc_before_database()
    approvers = Approvers(realm)
    realm.start()
    assert_in_use(realm, "password a")
    realm.daemons["kadmind"].stop()
    env = {name: value for name, value in realm.kdc_env().items() if name != "LD_PRELOAD"}
    done = subprocess.run([realm.bin / "tkdc", "import"], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    realm.start_kadmind()
    return approvers


def leave(realm: Realm, approvers: Approvers) -> None:
    """As docs/operations.md says, without kadmind again."""
    realm.daemons["kadmind"].stop()
    folder = realm.directory / "export"
    done = tkdc_export(realm, "request", "--folder", str(folder))
    assert done.ok, done.errors
    approvals = [approvers.approve(party, folder / "request") for party in (0, 2)]
    shares = [approvers.shares(party, folder / "request", approvals) for party in range(3)]
    done = restore(realm, folder, shares)
    assert done.ok, done.errors
    done = tkdc_export(realm, "finish", "--folder", str(folder))
    assert done.ok, done.errors
    realm.take_tkdc_away()


def assert_refused(realm: Realm, *passwords: str) -> None:
    for password in passwords:
        with pytest.raises(RealmError, match="Cannot reuse password"):
            realm.kadmin_local(f'cpw -pw "{password}" alice')


def assert_administered(realm: Realm) -> None:
    """From password a to password b; what was remembered before is."""
    assert_refused(realm, "password 0", "password a")
    realm.kadmin_local('cpw -pw "password b" alice')
    assert_refused(realm, "password a", "password b")
    assert_in_use(realm, "password b")


def assert_removal_reaches_the_servers(realm: Realm) -> None:
    for principal in ("alice", SERVICE):
        assert rebuild(realm, f"{principal}@{NAME}")
        realm.kadmin_local(f"delprinc -force {principal}")
        assert not rebuild(realm, f"{principal}@{NAME}")
    assert "not found" in realm.client("alice").kinit("alice", "password b").errors


@needs_klmdb
def test_a_realm_made_on_klmdb(make):
    with make(KlmdbRealm, stock=False) as realm:
        populate(realm)
        assert_in_use(realm, "password a")
        assert_administered(realm)
        dump = realm.directory / "dump"
        realm.admin_tool("kdb5_util", "dump", str(dump))
        realm.admin_tool("kdb5_util", "load", str(dump))
        realm.daemons["krb5kdc"].stop()  # it has the database of before open
        realm.start_kdc()
        assert_in_use(realm, "password b")
        assert_removal_reaches_the_servers(realm)


def assert_clients_are_sent_on(realm: KldapRealm) -> None:
    """While its directory is away, so that they ask the realm's next KDC; and by it afterwards."""
    fresh = realm.client("fresh")
    assert fresh.kinit("alice", "password a").ok
    realm.daemons["slapd"].stop()
    assert "service is not available" in fresh.kvno(SERVICE).errors
    assert "service is not available" in fresh.kinit("alice", "password a").errors
    assert "LDAP handle unavailable" in (realm.directory / "kdc.trace").read_text()
    realm.start_slapd()
    assert_in_use(realm, "password a")


@pytest.mark.parametrize("kind", [pytest.param(KlmdbRealm, marks=needs_klmdb), KldapRealm])
def test_there_and_back(make, kind):
    """Made without tkdc, imported, used, exported, used without it again."""
    with make(kind, stock=True) as realm:
        populate(realm)
        approvers = move(realm)
        assert_in_use(realm, "password a")
        if kind is KldapRealm:
            assert_clients_are_sent_on(realm)
        assert_administered(realm)
        dump = realm.directory / "dump"
        realm.admin_tool("kdb5_util", "dump", str(dump))
        done = realm.admin_tool("kdb5_util", "load", "-update", str(dump))
        assert not done.errors
        assert_in_use(realm, "password b")
        realm.kadmin_local('addprinc -pw "of a day" passing')
        assert realm.client("passing").kinit("passing", "of a day").ok
        assert rebuild(realm, f"passing@{NAME}")
        realm.kadmin_local("delprinc -force passing")
        assert not rebuild(realm, f"passing@{NAME}")
        leave(realm, approvers)
        assert_in_use(realm, "password b")
        assert_refused(realm, "password a", "password b")
        realm.kadmin_local('cpw -pw "password c" alice')
        assert_in_use(realm, "password c")
