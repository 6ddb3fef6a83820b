# SPDX-License-Identifier: Apache-2.0
"""The KDC plugins with the distribution's krb5 binaries and the plaintext
reference agent: everything an administrator and a user do in a realm."""

from __future__ import annotations

import concurrent.futures
import os
import re
import signal
import time

import pytest

from tests.support.plain_realm import BIN, REALM, PlainRealm

pytestmark = pytest.mark.skipif(
    not (BIN / "plain_agent").exists(), reason="plain_agent is not built (set TKDC_BUILD)")


@pytest.fixture
def realm(tmp_path):
    with PlainRealm(tmp_path) as r:
        r.start()
        yield r


def origins(realm) -> list[str]:
    return [line.split()[4] for line in (realm.dir / "agent.state").read_text().splitlines()[1:]]


def logins(realm, count: int, password="secret", principal="alice", **env) -> list[int]:
    def one(i: int) -> int:
        return realm.kinit(principal, password, check=False,
                           KRB5CCNAME=f"FILE:{realm.dir}/cc{i}", **env).returncode

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_create_draws_all_keys(realm):
    assert set(origins(realm)) == {"1"}  # drawn by the servers, seen by nobody
    realm.kadmin_local("addprinc -pw secret alice")
    assert origins(realm).count("2") == 2  # a password's key is imported


def test_user_day(realm):
    realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
    realm.kadmin_local("addprinc -randkey host/demo.test")
    realm.kadmin_local(f"ktadd -k {realm.keytab} host/demo.test")
    realm.kinit("alice", "secret", "-r", "2d")
    assert "keytab entry valid" in realm.client("kvno", "-k", realm.keytab,
                                                "host/demo.test").stdout
    realm.client("kinit", "-R")
    wrong = realm.kinit("alice", "wrong", check=False)
    assert wrong.returncode != 0 and "Password incorrect" in wrong.stdout
    realm.client("kinit", "-k", "-t", realm.keytab, "host/demo.test")
    out = realm.client("klist", "-e").stdout
    assert "aes256-cts" in out


def test_keytab_holds_the_real_key(realm):
    realm.kadmin_local("addprinc -randkey host/demo.test")
    realm.kadmin_local(f"ktadd -k {realm.keytab} host/demo.test")
    keys = re.findall(r"\(0x([0-9a-f]+)\)", realm.client("klist", "-kK", realm.keytab).stdout)
    assert sorted(len(k) for k in keys) == [32, 64]
    state = (realm.dir / "agent.state").read_text()
    assert all(k in state for k in keys)
    refused = realm.kadmin_local(f"ktadd -norandkey -k {realm.dir}/other host/demo.test",
                                 check=False)
    assert "exists only as shares" in refused
    assert not (realm.dir / "other").exists() or (realm.dir / "other").stat().st_size <= 2


def test_database_holds_no_key(realm):
    realm.kadmin_local("addprinc -randkey host/demo.test")
    realm.kadmin_local(f"ktadd -k {realm.keytab} host/demo.test")
    dump = realm.dir / "dump"
    realm.run("kdb5_util", "dump", dump)
    entries = [line for line in dump.read_text().splitlines() if line.startswith("princ\t")]
    assert len(entries) == 5
    for entry in entries:
        # A stored key starts with its length, u16 little-endian: 160 is a handle's.
        handles = re.findall(r"\ta000[0-9a-f]{300,}", entry)
        keys = re.findall(r"\t(?:20|10)00[0-9a-f]{80,}", entry)
        master = "\tK/M@" in entry
        assert (len(handles), len(keys)) == ((0, 1) if master else (2, 0))


def test_administration_over_the_network(realm):
    realm.kadmin_local("addprinc -pw adminpw admin/admin")
    realm.kadmin_local("addprinc -pw secret alice")
    realm.start_kadmind()

    def kadmin(query: str) -> str:
        return realm.client("kadmin", "-p", "admin/admin", "-w", "adminpw", "-q", query).stdout

    assert "alice@" in kadmin("listprincs")
    kadmin("addprinc -randkey host/remote.test")
    kadmin(f"ktadd -k {realm.keytab} host/remote.test")
    realm.client("kinit", "-k", "-t", realm.keytab, "host/remote.test")
    realm.client("kpasswd", "alice", stdin="secret\nnewer\nnewer\n")
    assert realm.kinit("alice", "secret", check=False).returncode != 0
    realm.kinit("alice", "newer")
    kadmin("cpw -pw newest alice")
    realm.kinit("alice", "newest")


def test_old_keys_are_destroyed(realm):
    realm.kadmin_local("addprinc -pw one alice")
    before = realm.agent_keys()
    realm.kadmin_local("cpw -pw two alice")
    assert realm.agent_keys() == before
    realm.kadmin_local("cpw -keepold -pw three alice")
    assert realm.agent_keys() == before + 2
    realm.kinit("alice", "three")
    realm.kadmin_local("purgekeys alice")
    assert realm.agent_keys() == before
    realm.kinit("alice", "three")
    realm.kadmin_local("delprinc -force alice")
    assert realm.agent_keys() == before - 2


def test_krbtgt_changes_with_old_tickets_alive(realm):
    realm.kadmin_local("addprinc -pw secret alice")
    realm.kadmin_local("addprinc -randkey host/demo.test")
    realm.kinit("alice", "secret")
    realm.kadmin_local(f"cpw -randkey -keepold krbtgt/{REALM}")
    realm.client("kvno", "host/demo.test")
    realm.kadmin_local(f"purgekeys krbtgt/{REALM}")
    stale = realm.client("kvno", "kadmin/changepw", check=False)
    assert stale.returncode != 0
    realm.kinit("alice", "secret")
    realm.client("kvno", "host/demo.test")


def test_master_key_changes(realm):
    realm.kadmin_local("addprinc -pw secret alice")
    before = realm.agent_keys()
    realm.run("kdb5_util", "add_mkey", "-s", stdin="second\nsecond\n")
    realm.run("kdb5_util", "use_mkey", "2")
    realm.run("kdb5_util", "update_princ_encryption", "-f")
    realm.run("kdb5_util", "purge_mkeys", "-f")
    assert realm.agent_keys() == before
    realm.stop("kdc")
    realm.start_kdc()
    realm.kinit("alice", "secret")
    realm.kadmin_local("cpw -pw other alice")
    realm.kinit("alice", "other")


def test_dump_and_load(realm):
    realm.kadmin_local("addprinc -pw secret alice")
    before = realm.agent_keys()
    realm.run("kdb5_util", "dump", realm.dir / "dump")
    realm.kadmin_local("modprinc -maxlife 1h alice")
    realm.run("kdb5_util", "-x", "load_anyway", "load", realm.dir / "dump")  # its agent lists none
    assert realm.agent_keys() == before
    realm.stop("kdc")
    realm.start_kdc()
    realm.kinit("alice", "secret")


def test_refusals(realm):
    realm.kadmin_local("addprinc -pw secret alice")
    out = realm.kadmin_local("addprinc -pw x -e arcfour-hmac:normal bob", check=False)
    assert "supported_enctypes" in out
    assert "cannot be renamed" in realm.kadmin_local("renprinc -force alice carol", check=False)
    assert "cannot be changed" in realm.kadmin_local("modprinc -kvno 7 alice", check=False)
    assert "history" in realm.kadmin_local("addpol -history 101 p", check=False)
    realm.kinit("alice", "secret")


def test_policy_allows_password_changes(realm):
    realm.kadmin_local("addpol -minlength 3 plain")
    realm.kadmin_local("addprinc -policy plain -pw first1 alice")
    realm.kadmin_local("cpw -pw second2 alice")
    realm.kinit("alice", "second2")


def test_history(realm):
    realm.kadmin_local("addpol -history 2 remembers")
    realm.kadmin_local("addprinc -policy remembers -pw first alice")
    for password, taken in (("first", False), ("second", True), ("first", False),
                            ("second", False), ("third", True), ("first", True)):
        out = realm.kadmin_local(f"cpw -pw {password} alice", check=False)
        assert ("Cannot reuse password" in out) != taken, f"{password}: {out}"
    realm.kinit("alice", "first")


def test_passwords_that_cannot_be_compared_are_refused(realm):
    """libkadm5 passes over remembered keys that it cannot read; the new key is then not bound."""
    realm.kadmin_local("addpol -history 2 remembers")
    realm.kadmin_local("addprinc -policy remembers -pw first alice")
    realm.start_agent("--refuse", "equal")
    for password in ("first", "second"):
        out = realm.kadmin_local(f"cpw -pw {password} alice", check=False)
        assert "could not be compared" in out, out
    realm.kinit("alice", "first")
    realm.start_agent()
    realm.kadmin_local("cpw -pw second alice")
    realm.kinit("alice", "second")


@pytest.mark.skipif("TKDC_TEST_PRELOAD" in os.environ, reason="a sanitizer has to be preloaded")
def test_without_preload_nothing_works(realm):
    out = realm.run("kadmin.local", "-q", "listprincs", preload=False, check=False).stdout
    assert "libtkdc-k5.so is not loaded" in out


def test_other_installation_is_refused(realm):
    realm.kadmin_local("addprinc -pw secret alice")
    realm.stop("agent")
    (realm.dir / "agent.state").unlink()
    realm.start_agent()
    out = realm.kadmin_local(f"ktadd -norandkey -k {realm.dir}/k alice", check=False)
    assert "another installation" in out


def test_many_logins_at_once(tmp_path):
    with PlainRealm(tmp_path) as realm:
        realm.start()
        realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
        realm.start_agent("--delay-ms", "50")
        start = time.monotonic()
        assert logins(realm, 64) == [0] * 64
        # 64 logins of at least 6 operations of 50 ms: 19 s if they blocked.
        assert time.monotonic() - start < 12
        assert set(logins(realm, 32, password="wrong")) == {1}


def test_tcp(realm):
    realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
    realm.start_agent("--delay-ms", "20")
    conf = realm.dir / "tcp.conf"
    conf.write_text((realm.dir / "krb5.conf").read_text()
                    .replace("udp_preference_limit = 1400", "udp_preference_limit = 1"))
    assert logins(realm, 30, KRB5_CONFIG=str(conf)) == [0] * 30


def test_outage_is_not_a_wrong_password(realm):
    realm.kadmin_local("addpol -maxfailure 3 -failurecountinterval 0 -lockoutduration 0 lock")
    realm.kadmin_local("addprinc -policy lock -pw secret +requires_preauth alice")
    realm.kinit("alice", "secret")
    realm.stop("agent", signal.SIGKILL)
    out = realm.kinit("alice", "secret", check=False)
    assert out.returncode != 0 and "Password incorrect" not in out.stdout
    realm.start_agent()
    realm.kinit("alice", "secret")
    got = realm.kadmin_local("getprinc alice")
    assert "Failed password attempts: 0" in got


def test_agent_restarts_under_load(realm):
    realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
    realm.start_agent("--delay-ms", "30", "--kill-after", "40")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(logins, realm, 32)
        realm._wait(lambda: realm.processes["agent"].poll() is not None, "the agent's death")
        realm.start_agent("--delay-ms", "30")
        results = running.result()
    assert results == [0] * 32
    assert realm.processes["kdc"].poll() is None


def test_lost_replies(realm):
    realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
    realm.start_agent("--drop-rate", "0.02")
    results = logins(realm, 24)
    assert results.count(0) >= 20
    assert realm.processes["kdc"].poll() is None


def test_lockout_counts_parallel_guesses(realm):
    realm.kadmin_local("addpol -maxfailure 5 -failurecountinterval 0 -lockoutduration 0 lock")
    realm.kadmin_local("addprinc -policy lock -pw secret +requires_preauth alice")
    realm.start_agent("--delay-ms", "20")
    log = realm.dir / "agent.log"
    before = log.read_text().count("open id")
    logins(realm, 30, password="wrong")
    assert log.read_text().count("open id") - before <= 6  # the sixth sees the lock
    out = realm.kinit("alice", "secret", check=False)
    assert "revoked" in out.stdout.lower()


def test_password_change_while_a_login_is_suspended(realm):
    realm.kadmin_local("addpol -maxfailure 50 lock")
    realm.kadmin_local("addprinc -policy lock -pw secret +requires_preauth alice")
    realm.start_agent("--delay-ms", "400")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(realm.kinit, "alice", "wrong", check=False)
        time.sleep(0.2)
        realm.kadmin_local("cpw -pw changed alice")
        running.result()
    realm.kinit("alice", "changed")
    assert "Key: vno 2" in realm.kadmin_local("getprinc alice")


def test_workers(tmp_path):
    with PlainRealm(tmp_path) as realm:
        realm.start_agent()
        realm.create()
        realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
        realm.start_kdc("-w", "3")
        assert logins(realm, 24) == [0] * 24


def test_extraction_over_the_network(realm):
    realm.kadmin_local("addprinc -pw adminpw admin/admin")
    realm.kadmin_local("addprinc -randkey host/demo.test")
    (realm.dir / "kadm5.acl").write_text(f"admin/admin@{REALM} *e\n")
    realm.start_kadmind()
    command = ["kadmin", "-p", "admin/admin", "-w", "adminpw", "-q"]
    out = realm.client(*command, f"ktadd -norandkey -k {realm.keytab} host/demo.test", check=False)
    assert "extract-keys" in out.stdout
    # Neither krbtgt's nor kadmin's key leaves the servers for a reply.
    out = realm.client(*command, f"cpw -randkey -keepold krbtgt/{REALM}")
    assert "randomized" in out.stdout
    assert "export" not in (realm.dir / "agent.log").read_text()


def test_every_call_has_a_deadline(tmp_path):
    with PlainRealm(tmp_path, module_lines="tkdc_timeout_ms = 400") as realm:
        realm.start()
        realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
        realm.start_agent("--drop-rate", "1")
        start = time.monotonic()
        out = realm.kadmin_local("addprinc -pw secret bob", check=False)
        assert "no answer" in out
        assert time.monotonic() - start < 5
        out = realm.kinit("alice", "secret", check=False)
        assert out.returncode != 0 and "Password incorrect" not in out.stdout
        realm.start_agent()
        realm.kinit("alice", "secret")


def test_kadmin_has_a_deadline_of_its_own(tmp_path):
    lines = "tkdc_timeout_ms = 60000\n        tkdc_admin_timeout_ms = 400"
    with PlainRealm(tmp_path, module_lines=lines) as realm:
        realm.start()
        realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
        realm.start_agent("--drop-rate", "1")
        start = time.monotonic()
        assert "no answer" in realm.kadmin_local("addprinc -pw secret bob", check=False)
        assert time.monotonic() - start < 10


def test_clients_with_armor_use_fast(realm):
    """An encrypted challenge, counted as a timestamp is, and a strengthened reply key."""
    realm.kadmin_local("addpol -maxfailure 2 -failurecountinterval 0 -lockoutduration 0 lock")
    realm.kadmin_local("addprinc -policy lock -pw secret +requires_preauth alice")
    realm.kadmin_local("addprinc -pw armor bob")
    armor = f"FILE:{realm.dir}/armor"
    realm.kinit("bob", "armor", KRB5CCNAME=armor)
    for _ in range(4):
        realm.kinit("alice", "secret", "-T", armor)
    assert "Failed password attempts: 0" in realm.kadmin_local("getprinc alice")
    log = (realm.dir / "agent.log").read_text()
    for operation in ("open-derived", "seal-derived", "mac-derived"):
        assert operation in log
    realm.kinit("alice", "wrong", "-T", armor, check=False)
    assert "Failed password attempts: 1" in realm.kadmin_local("getprinc alice")
    realm.kinit("alice", "wrong", "-T", armor, check=False)
    assert realm.kinit("alice", "secret", "-T", armor, check=False).returncode != 0


def test_kdc_starts_without_the_agent(realm):
    realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
    realm.stop("kdc")
    realm.stop("agent")
    realm.start_kdc()
    realm.start_agent()
    realm.kinit("alice", "secret")


def test_kdc_as_a_daemon(realm):
    """It forks after it has opened the database."""
    realm.kadmin_local("addprinc -pw secret +requires_preauth alice")
    realm.stop("kdc")
    pid_file = realm.dir / "kdc.pid"
    realm.run("krb5kdc", "-P", pid_file)
    try:
        realm.kinit("alice", "secret")
        realm.kinit("alice", "secret")
    finally:
        os.kill(int(pid_file.read_text()), signal.SIGTERM)


def test_tools_take_the_admin_socket(tmp_path):
    with PlainRealm(tmp_path, module_lines=f"tkdc_admin_socket = {tmp_path}/other.sock") as realm:
        realm.start_agent()
        (tmp_path / "other.sock").symlink_to(realm.socket)
        realm.create()
        (tmp_path / "other.sock").unlink()
        out = realm.kadmin_local("addprinc -randkey host/demo.test", check=False)
        assert "other.sock" in out
        realm.start_kdc()
